"""Words what a model is asked for when it designs a neuron."""

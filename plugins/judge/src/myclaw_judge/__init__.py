"""How sound a draft of a neuron is, by a model on this machine."""

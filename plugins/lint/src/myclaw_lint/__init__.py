"""What ruff and bandit find in the code of a neuron."""

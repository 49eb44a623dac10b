"""Skills as signed directories."""

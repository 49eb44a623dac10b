"""Neurons that can be read at a glance score higher."""

"""Native code, such as the engine of a model, in a process of its own that can be ended at any time."""

"""The checks of the doctor, each a small function in a file of its own."""

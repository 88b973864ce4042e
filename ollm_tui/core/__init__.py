"""The values, events and errors of the program: frozen, and without any input or output."""

"""What things are: frozen values, events and errors. No input or output."""

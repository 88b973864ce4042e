"""Several answers to one message, side by side."""

"""The terminal itself: what it can show, its input and output, clipboard and editor."""

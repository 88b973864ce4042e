"""What the model sees: the prompt, its count, and how the window is divided."""

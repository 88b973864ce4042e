"""Folding: messages become a checkpoint, and older checkpoints age and merge."""

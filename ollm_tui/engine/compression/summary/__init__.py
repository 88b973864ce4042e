"""The part of a checkpoint that a model writes."""

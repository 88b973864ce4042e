"""The part of a checkpoint that is made without a model."""

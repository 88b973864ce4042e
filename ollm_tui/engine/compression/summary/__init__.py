"""The summary of a checkpoint, which a model writes: request, answer, checks."""

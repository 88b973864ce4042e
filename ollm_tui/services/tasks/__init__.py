"""Tasks of the project: found, shown to the model, changed."""

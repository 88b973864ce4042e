"""Tools of the model, one a module, each with what the model is told about it."""

"""How many tokens something is: counted by the model's vocabulary, measured, or estimated."""

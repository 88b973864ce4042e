"""Token counts of texts and prompts: counted by a vocabulary, measured, or estimated."""

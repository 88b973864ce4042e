"""Extensions: found, loaded, called, and switched off when they fail."""

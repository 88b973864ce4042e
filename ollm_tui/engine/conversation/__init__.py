"""A conversation being held, and what belongs to it: model, mode, goals, notes, hooks."""

"""Mutants: the program broken on purpose, so that each property is seen to go red."""

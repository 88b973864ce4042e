"""Loops: how a model that repeats itself is detected, and what happens then."""

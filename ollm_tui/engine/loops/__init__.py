"""Loops: how a model that repeats itself is noticed, and what happens then."""

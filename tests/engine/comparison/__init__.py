"""Comparing models."""

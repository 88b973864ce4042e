"""Tests of the screens in a browser."""

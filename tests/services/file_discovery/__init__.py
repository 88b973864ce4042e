"""Tests of finding files."""

"""Conversations that other programs stored: each format in a module, only read."""

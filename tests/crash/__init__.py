"""Killing the store at every system call that changes the disk."""

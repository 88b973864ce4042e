"""Widgets and dialogs that several features use."""

"""The feature of tasks: choose what the session is about."""

"""The prompt: writing, completing, attaching files."""

"""Conversations as files to keep or to share: JSON, Markdown, HTML."""

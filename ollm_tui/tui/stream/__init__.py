"""The chat stream: entries, the transcript that draws them, and Markdown."""

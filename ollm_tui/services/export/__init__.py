"""Exports conversations as JSON, Markdown or HTML files, without secrets."""

"""ollm-tui: long conversations with language models, in a terminal."""

__version__ = "0.2.0"

"""The full screen: the only package that knows Textual."""

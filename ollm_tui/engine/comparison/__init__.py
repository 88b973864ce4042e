"""One question answered by several models."""

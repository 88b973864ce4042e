"""Secrets in text: found by known values, official formats and context; replaced by marks."""

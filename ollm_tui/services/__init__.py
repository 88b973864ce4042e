"""Abilities built on storage: recording, listing, exporting, retention."""

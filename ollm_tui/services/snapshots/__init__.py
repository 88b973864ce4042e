"""Snapshots: taking, listing, comparing and restoring them."""

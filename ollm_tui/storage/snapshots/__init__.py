"""Snapshots on disk: their files, their index, and the map from a snapshot to its session."""

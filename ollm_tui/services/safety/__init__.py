"""What may run and what it may see: commands judged, grants, trust, keys, environments."""

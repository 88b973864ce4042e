"""What syncing keeps on disk: a bare repository, its state, and the format of what travels."""

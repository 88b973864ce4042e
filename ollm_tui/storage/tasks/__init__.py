"""Task lists on disk: the database of Steroids, and our own file."""

"""Single files on disk: replaced atomically, locked, sealed, kept beneath one directory."""

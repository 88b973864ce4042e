"""Sessions on disk: the session file, its journal, the index of sessions, the trash."""

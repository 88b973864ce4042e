"""The search index on disk: messages as rows of SQLite."""

"""Full-text search of all sessions: queries, the index, results and snippets."""

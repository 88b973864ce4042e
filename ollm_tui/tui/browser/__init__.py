"""The browser of sessions, branches and snapshots, and the sidebar."""

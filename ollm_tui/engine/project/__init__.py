"""The project of the conversations: its sessions, the search in its history, its instructions."""

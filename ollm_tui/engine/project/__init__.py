"""The project around the conversations: its sessions, its history, its instructions."""

"""What a session is made of: messages, records, branches, goals, checkpoints. Values only."""

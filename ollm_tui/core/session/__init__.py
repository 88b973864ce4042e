"""The values a session is made of: messages, records, branches, goals and checkpoints."""

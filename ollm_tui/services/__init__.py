"""What the engine and the front ends build on: sessions, search, files, jobs, tokens, safety."""

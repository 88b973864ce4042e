"""What a command would do, judged before it runs: only reads, is ordinary, or is dangerous."""

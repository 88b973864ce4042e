"""Help, the command palette, and commands of the screen itself."""

"""The feature of extensions: their slash commands, and prompts of MCP servers."""

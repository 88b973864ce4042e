"""MCP servers: starting them, calling them, and what they offer."""

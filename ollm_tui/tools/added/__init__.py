"""Tools that others bring: MCP servers, task lists, extensions."""

"""What providers share when they talk to servers: HTTP, streams, JSON fields, tool calls."""

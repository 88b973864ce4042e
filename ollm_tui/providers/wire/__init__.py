"""What all model servers share on the wire: HTTP, streamed lines, JSON fields, tool calls."""

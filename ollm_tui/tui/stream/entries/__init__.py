"""What the stream shows for messages, tool calls, jobs and compressions."""

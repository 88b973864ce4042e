"""The feature of MCP servers: which run, what they offer, what of it the model gets."""

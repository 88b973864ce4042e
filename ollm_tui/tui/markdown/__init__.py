"""Growing Markdown text as terminal lines: only what changes at its end is read and drawn again."""

"""The words of the prompt: its list of completions and the picker of earlier prompts."""

COMPLETION_KEYS = "↑↓ choose   Tab complete   Esc close"
HISTORY_EMPTY = "No prompts yet. Every message you send is listed here; Tab searches all sessions."
HISTORY_KEYS = "Enter use   ↑↓ move   Tab search all sessions   Esc close"
ELSEWHERE = "Other projects"
"""The heading above the prompts of other projects."""

# Said in mentions

CHOOSE_ANOTHER_MODEL = "F7 chooses another model"
HOW_TO_FIND_A_FILE = "type @ and a few letters to find one"
MCP_LISTS_THE_SERVERS = "/mcp lists the servers"

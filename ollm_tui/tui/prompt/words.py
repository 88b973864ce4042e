"""The words of the prompt: its list of completions and the picker of earlier prompts."""

COMPLETION_KEYS = "↑↓ choose  ·  Tab complete  ·  Esc close"
HISTORY_EMPTY = (
    "No earlier prompts yet. What you send is kept here; Tab searches everything ever said."
)
HISTORY_KEYS = "Enter use   Up Down move   Tab everything ever said   Esc close"
ELSEWHERE = "In other projects"
"""The heading above the prompts of other projects."""

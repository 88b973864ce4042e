"""The words of comparing models."""

from __future__ import annotations

TITLE = "Compare"
ASKING = "asking …"
THINKING = "thinking"
STOPPED = "stopped"
NOT_ASKED = "not asked"
FAILED = "failed"
BETTER = "★ better"
BEFORE = "earlier answer"
SAME = "The answers are identical."
TWO_NEEDED = "Nothing to compare: there is only one answer."
NOTHING_YET = "No text yet."
VOTED = "Voted for {}. /activity counts the wins."
UNVOTED = "Vote removed."
NEXT = "Your next message goes to {}. /compare off cancels."
NEXT_PLACEHOLDER = "Next message: compared · /compare off"
OFF = "Compare is off."
LOOKING = "Looking for {} …"
GOES_ON = "Continuing from the answer of {}"
ANSWERS_NEXT = "; {} answers next"
KEPT = "All answers are kept: ← → show the others."
HOW = "/compare qwen3:8b openai/gpt-5"
KEYS = (
    ("compare.take", "continue from this"),
    ("compare.next", "next"),
    ("compare.diff", "diff"),
    ("compare.vote", "vote"),
    ("compare.stop", "stop"),
    ("compare.close", "close"),
)
RUNNING_KEYS = (*KEYS[:-1], ("compare.close", "stop all"))
DIFF_KEYS = (
    ("answer_diff.next", "next answer"),
    ("answer_diff.close", "close"),
)

# Said in commands

MODELS_NEEDED = "/compare needs at least one model"

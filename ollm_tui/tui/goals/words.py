"""The texts of goals and decisions."""

from __future__ import annotations

# Said in commands

DECISION_NOTED = "Decision noted, open · /decide locks it"
NOTHING_TO_RECORD = "Nothing to record"
DECIDE_EXAMPLE = "/decide use tabs because the linter wants them"
NO_DECISIONS = "No decisions"
DECIDE_USAGE = "/decide TEXT"
NO_STEPS = "The goal has no steps"
STEP_USAGE = "/goal step TEXT"
NO_BLOCKERS = "No blockers"
BLOCKER_USAGE = "/goal blocker TEXT"
NO_ACTIVE_GOAL = "No active goal"
GOAL_USAGE = "/goal TEXT sets one"

# Said in goal_lists

GOALS_EMPTY = "No goal yet. /goal TEXT sets one; it is included in every prompt."
DECISIONS_EMPTY = (
    "No decisions yet. /decide TEXT records one for every prompt; "
    "/decide --open TEXT only notes it."
)
GOAL_RESUMED = "Goal resumed"
MARK_AS_REACHED = "Mark as reached"
PAUSE = "Pause"
REMOVE = "Remove"
LOCK = "Lock: include it in every prompt"
UNLOCK = "Unlock: drop it from the prompt"


def keys(verb: str) -> str:
    """Return the keys of a list in which Enter does this with the chosen line."""
    return f"Enter {verb}   ↑↓ move   Esc close"

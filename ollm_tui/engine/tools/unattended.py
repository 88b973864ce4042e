"""The policy for tools where nobody can be asked: what would need an approval is refused."""

from __future__ import annotations

from ollm_tui.core.errors import JobError
from ollm_tui.core.tool import Action
from ollm_tui.engine.tools.policy import Policy


class UnattendedPolicy:
    """Checks actions of another program: whatever no rule and no setting wants to ask about is
    allowed."""

    def __init__(self, policy: Policy, otherwise: str = "") -> None:
        """`otherwise` is what the user can do, beside the settings, to have commands run."""
        self._policy = policy
        self._otherwise = f", or {otherwise}" if otherwise else ""

    def check(self, tool: str, action: Action) -> None:
        """Return if an action is allowed. JobError, with the setting that decides, if not."""
        verdict = self._policy.judge(tool, action, "auto")
        match verdict.ruling:
            case "allow":
                return
            case "deny":
                hint = "tools.allowed and tools.permissions decide"
            case "ask" if verdict.dangerous:
                hint = "nobody can be asked here, and no setting allows it unasked"
            case "ask":
                setting = f"tools.permissions.{tool}: auto"
                hint = f"nobody can be asked here; {setting} allows it{self._otherwise}"
        raise JobError(f"not allowed: {verdict.reason}", hint)

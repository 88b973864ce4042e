"""Redacting text as it comes, however it is cut into chunks."""

from __future__ import annotations

from ollm_tui.core.intake import IntakeFilter
from ollm_tui.services.redaction.redactor import Redactor

_PATIENT_ABOVE = 1024
"""As long as no more is held back, every chunk is looked at; what is longer, less often."""


class StreamRedactor:
    """Gives out what can no longer become a secret; holds back some 16,000 characters at most.

    However the text is cut, the whole is what `Redactor.redact` makes of it.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._intake = IntakeFilter()
        self._scan = redactor.scan()
        self._enough = 0

    def feed(self, chunk: str) -> str:
        """What of the text so far may be shown now."""
        self._scan.grow(self._intake.feed(chunk))
        if len(self._scan.text) < self._enough:
            return ""
        out = self._scan.redacted(final=False)
        self._scan.forget()
        held = len(self._scan.text) - self._scan.settled
        self._enough = len(self._scan.text) + held // 4 if held > _PATIENT_ABOVE else 0
        return out

    def end(self) -> str:
        """The rest. What comes after this is another text."""
        self._scan.grow(self._intake.finish())
        out = self._scan.redacted(final=True)
        self._scan = self._redactor.scan()
        self._enough = 0
        return out

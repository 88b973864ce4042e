"""Finds secrets in a text and puts marks in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Self

from ollm_tui.core.intake import clean
from ollm_tui.services.redaction.mark import Found

if TYPE_CHECKING:
    from ollm_tui.services.redaction.scan import Scan

_SECRET_NAME = r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)\Z"


class Redactor:
    """Hides secrets: the known values handed in, and whatever looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = tuple(known)
        self._forms: tuple[str, ...] | None = None

    @classmethod
    def knowing(cls, environ: Mapping[str, str]) -> Self:
        """A redactor that knows the values of variables whose names say that they are secret."""
        return cls(
            value for name, value in environ.items() if re.search(_SECRET_NAME, name.upper())
        )

    def find(self, text: str) -> list[Found]:
        """Every secret, in order and without overlaps; positions are those in clean(text)."""
        scan = self.scan()
        scan.grow(clean(text))
        return list(scan.settle(final=True))

    def redact(self, text: str) -> str:
        """The text without terminal control sequences, and with a mark in place of each secret."""
        scan = self.scan()
        scan.grow(clean(text))
        return scan.redacted(final=True)

    def scan(self) -> Scan:
        """A new scan of one text, which may come in pieces."""
        # Loaded here: the tables take 20 ms, and a start in which nothing is logged needs none.
        from ollm_tui.services.redaction.known_values import forms_of
        from ollm_tui.services.redaction.scan import Scan

        if self._forms is None:
            self._forms = forms_of(self._known)
        return Scan(self._forms)

"""Which fields of a request an Ollama does not take: found out by asking, once per version."""

from __future__ import annotations

OF_THE_SERVER = ("shift", "truncate")
OF_THE_MODEL = ("think",)
CAN_BE_LEFT_OUT = (*OF_THE_MODEL, *OF_THE_SERVER)
"""What a request also works without."""


class RefusedFields:
    """Remembers refusals. What one version of the server refuses another may know, so nothing is
    left out for a server that was replaced; what a model cannot do says nothing of others.
    """

    def __init__(self) -> None:
        self._refused: set[tuple[str, str | None, str]] = set()

    def __bool__(self) -> bool:
        """Whether anything was refused so far: only then the version matters."""
        return bool(self._refused)

    def add(self, version: str, model: str, field: str) -> None:
        """A server refused a field in a request for a model."""
        self._refused.add((version, None if field in OF_THE_SERVER else model, field))

    def of(self, version: str, model: str) -> frozenset[str]:
        """What to leave out of a request."""
        return frozenset(
            field for at, whose, field in self._refused if at == version and whose in (None, model)
        )

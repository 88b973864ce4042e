"""The vocabulary of a model, as its file or its server lists it: enough to count like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

BYTE_LEVEL = "gpt2"
"""What model files call vocabularies that are built from bytes."""
_CONTROL, _USER_DEFINED = 3, 4


class Vocabulary(msgspec.Struct, frozen=True):
    """The tokens of a byte-level vocabulary; their place in the list is their rank."""

    splitting: str
    """By which rules text is cut into words first, named as model files do."""
    tokens: Sequence[str]
    """Each byte of a token is written as one printable character."""
    kinds: Sequence[int]

    def specials(self) -> dict[str, int]:
        """The tokens that stand for themselves: marks of the chat template and the like."""
        kinds = zip(self.tokens, self.kinds, strict=True)
        return {
            token: rank
            for rank, (token, kind) in enumerate(kinds)
            if kind in (_CONTROL, _USER_DEFINED)
        }


@runtime_checkable
class HasVocabulary(Protocol):
    """A provider that can say by which vocabulary a model reads."""

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """The vocabulary of a model; None if it is not here or of a kind not understood."""
        ...

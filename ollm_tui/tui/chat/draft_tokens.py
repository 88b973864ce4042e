"""About how many tokens the text in the prompt is, while it is typed: nothing is loaded for it."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.core.session.message import Attachment
from ollm_tui.services.tokens.careful_estimate import careful_estimate

IMAGE_TOKENS = 1600
"""About the most that common models take for one picture."""
LOOKED_AT = 500
"""Characters that are few enough to be looked at with every key."""
GROWN_BY = 0.1
"""By this share a longer text may change before it is looked at again."""


class DraftTokens:
    """Estimates one prompt. A long text is looked at now and then; in between, its length tells."""

    def __init__(self) -> None:
        self._length = 0
        self._tokens = 0.0
        self._pastes: dict[Attachment, float] = {}

    def of(self, text: str, pastes: Sequence[Attachment] = ()) -> int:
        """The tokens of a text and of what is pasted into it; a command is not sent."""
        if text.startswith(("/", "!")) and not text.startswith("//"):
            return 0
        self._pastes = {paste: self._pasted(paste) for paste in pastes}
        return round(self._typed(text) + sum(self._pastes.values()))

    def _typed(self, text: str) -> float:
        length = len(text)
        is_near = abs(length - self._length) <= self._length * GROWN_BY
        if length > LOOKED_AT and is_near:
            return self._tokens * length / self._length
        self._length, self._tokens = length, careful_estimate(text)
        return self._tokens

    def _pasted(self, paste: Attachment) -> float:
        if paste.media_type.startswith("image/"):
            return IMAGE_TOKENS
        known = self._pastes.get(paste)
        return careful_estimate(paste.content) if known is None else known

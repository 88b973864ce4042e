"""The answer of a tool, reduced to what shows whether anything is new in it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from ollm_tui.engine.loops.canonical import text_digest
from ollm_tui.engine.loops.evidence import shown_result
from ollm_tui.engine.loops.normalising import steady

Weight = Literal["slight", "failure", "full"]
"""How much an answer says.

`slight`: so little ("ok", "3 passed") that different calls may well get the same one.
`failure`: a short message that something did not work. `full`: so much that the same answer
to different calls is no coincidence.
"""

SHORT_LENGTH, SHORT_LINES = 80, 2
"""Characters and lines up to which an answer is not full."""
SEARCHED = 2000
"""Characters of an answer that are searched for a failure."""
SHORT_ERROR = 200
"""Characters up to which an answer may be the mere report of a miss."""
FRIENDLY_LENGTH = 400
"""Characters up to which an answer that reports success is slight."""

_FAILURE = re.compile(
    r"\bno (?:match|result|such|file|occurrence|hit)|not found|nothing found|\b0 (?:match|result)|"
    r"error|fail|denied|refused|invalid|unable|cannot|can't|could not|timed? ?out|unknown|"
    r"missing|end of file|beyond|out of range|exceeds|does not exist|unexpected|required|forbidden|"
    r"not (?:allowed|permitted|supported|authori[sz]ed|available)|unauthori[sz]ed|rejected|aborted|"
    r"locked|unreachable|expired|unsupported|illegal|exception|traceback|fatal|panic|has only",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"\b(?:ok|okay|success\w*|succeeded|passed|passes|done|unchanged|created|updated|written|wrote|"
    r"saved|deleted|removed|moved|renamed|copied|added|applied|edited|replaced|formatted|installed|"
    r"up[ -]to[ -]date|no (?:issues|errors|problems|warnings|changes)|0 (?:issues|errors|problems|"
    r"warnings|failed|failures)|clean|valid|fixed|sent|complete|completed|finished)\b",
    re.IGNORECASE,
)


_OUT_OF_REACH = re.compile(
    r"not found|no (?:such|match|result|file|hit|occurrence|module)|does not exist|doesn't exist|"
    r"unknown|(?:cannot|could not) find|denied|forbidden|not (?:allowed|permitted)|unauthori[sz]ed",
    re.IGNORECASE,
)
_ORNAMENTS = ".:!?[]"


class Answer(NamedTuple):
    """What a tool answered, with all that is compared of it."""

    text: str
    digest: str
    """A digest that is equal for answers to the same call that say the same."""
    plain_digest: str
    """The same for answers to different calls, in which ids and times are content."""
    weight: Weight
    is_error: bool

    @classmethod
    def of(cls, result: str, *, is_error: bool, asked: Collection[str] = ()) -> Answer:
        """Read a result once; `asked` are the words of the call."""
        mark = "!" if is_error else "."
        steadied = steady(result)
        undated = steadied.undated
        if len(result) <= SHORT_ERROR and _OUT_OF_REACH.search(result):
            # Misses of one guess after the other differ only in what was asked for.
            undated = " ".join(w for w in undated.split() if w.strip(_ORNAMENTS) not in asked)
        return cls(
            text=result,
            digest=text_digest(mark + steadied.text),
            plain_digest=text_digest(mark + undated),
            weight=_weight(result, is_error=is_error),
            is_error=is_error,
        )

    @property
    def fails(self) -> bool:
        """Whether the answer says that something did not work."""
        rest = _SUCCESS.sub("", self.text[:SEARCHED])
        return self.is_error or bool(_FAILURE.search(rest))

    @property
    def shown(self) -> str:
        """The answer in a few words, for the evidence of a loop."""
        return shown_result(self.text, is_error=self.is_error)


def _weight(result: str, *, is_error: bool) -> Weight:
    text = result.strip()
    if not text:
        return "slight"
    if not is_error and len(text) <= FRIENDLY_LENGTH and _succeeded(text):
        return "slight"
    if len(text) > SHORT_LENGTH or text.count("\n") >= SHORT_LINES:
        return "full"
    return "failure" if is_error or _FAILURE.search(text) else "slight"


def _succeeded(text: str) -> bool:
    """Whether a text reports success and no failure."""
    # Success first: "0 errors" and "no problems found" name what did not happen.
    rest = _SUCCESS.sub("", text)
    return len(rest) < len(text) and not _FAILURE.search(rest)

"""Looking for secrets in a text that may still grow, and settling what can no longer change."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import starmap

from ollm_tui.services.redaction.anchors import Anchors, Probe
from ollm_tui.services.redaction.assignments import ASSIGNMENTS
from ollm_tui.services.redaction.command_arguments import COMMAND_ARGUMENTS
from ollm_tui.services.redaction.found import Found
from ollm_tui.services.redaction.headers import HEADERS
from ollm_tui.services.redaction.hosting_tokens import HOSTING_TOKENS
from ollm_tui.services.redaction.known_values import begins_at
from ollm_tui.services.redaction.logins import LOGINS
from ollm_tui.services.redaction.mark import mark_for
from ollm_tui.services.redaction.password_hashes import PASSWORD_HASHES
from ollm_tui.services.redaction.private_keys import PRIVATE_KEYS
from ollm_tui.services.redaction.rule import REACH, REACH_BACK, Rule, compiled
from ollm_tui.services.redaction.service_tokens import SERVICE_TOKENS

# Of two rules that see the same secret, the earlier one names it.
RULES: tuple[Rule, ...] = (
    *PRIVATE_KEYS,
    *PASSWORD_HASHES,
    *SERVICE_TOKENS,
    *HOSTING_TOKENS,
    *HEADERS,
    *LOGINS,
    *COMMAND_ARGUMENTS,
    *ASSIGNMENTS,
)
KNOWN = "known"

_ANCHORS = Anchors(RULES)
_LAST = sum(len(rule.anchors) for rule in RULES)
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))


_Candidate = tuple[int, int, int, str]
"""Start, minus end, probe, kind of a find that may lie inside another one; they are sorted, and
the first one counts. No named tuple: a flood has 100,000 of them."""


class Scan:
    """One text and what was found in it. Positions are in `text`, whose beginning is dropped
    once it is settled, but for what rules may look back to."""

    def __init__(self, known: Sequence[str]) -> None:
        self.text = ""
        self.settled: int = 0
        """What lies before this was given out."""
        self._known = known
        self._looked: int = 0
        """Every anchor before this was tried."""
        self._waiting: list[_Candidate] = []
        self._blocked: dict[int, int] = {}
        """Where the last find of a probe ended: it does not look inside its own finds."""

    def grow(self, more: str) -> None:
        """Add text at the end."""
        self.text += more

    def settle(self, *, final: bool) -> Iterator[Found]:
        """The next secrets nothing that follows can change; moves `settled` behind them."""
        return starmap(Found, self._settle(final=final))

    def redacted(self, *, final: bool) -> str:
        """What can be given out now, with marks in place of secrets."""
        text, at = self.text, self.settled
        pieces: list[str] = []
        for start, end, kind in self._settle(final=final):
            pieces += (text[at:start], mark_for(text[start:end], kind))
            at = end
        return "".join((*pieces, text[at : self.settled]))

    def _settle(self, *, final: bool) -> list[tuple[int, int, str]]:
        until = len(self.text) if final else self._open_from()
        if until > self._looked:
            self._look(self._looked, until)
            self._looked = until
        limit = until
        if not final and until and self.text[until - 1] in _VISIBLE:
            limit -= REACH_BACK  # a rule may still look back from behind this place
        self._waiting.sort()
        settled = self.settled
        found: list[tuple[int, int, str]] = []
        count = bisect_left(self._waiting, (limit,))
        for start, minus_end, _, kind in self._waiting[:count]:
            if -minus_end > settled:
                found.append((max(start, settled), -minus_end, kind))
                settled = -minus_end
        del self._waiting[:count]
        self.settled = max(settled, limit)
        return found

    def forget(self) -> None:
        """Drop what was settled."""
        gone = min(self.settled, self._looked) - REACH_BACK
        if gone > 0:
            self.text = self.text[gone:]
            self.settled -= gone
            self._looked -= gone
            self._waiting = [
                (at - gone, end + gone, probe, kind) for at, end, probe, kind in self._waiting
            ]
            self._blocked = {probe: end - gone for probe, end in self._blocked.items()}

    def _look(self, start: int, stop: int) -> None:
        """Try every rule where one of its anchors begins in this part of the text."""
        text, blocked = self.text, self._blocked
        for at, probes in _ANCHORS.words(text, start, stop):
            for probe in probes:
                number, _, rule = probe
                if number not in blocked or at >= blocked[number]:
                    match = compiled(rule.pattern).match(text, at)
                    if match:
                        self._take(probe, match)
        folded = _folded(text)
        for probe in _ANCHORS.free:
            number, anchor, rule = probe
            find = folded.find if rule.any_case else text.find
            at = find(anchor, max(start, blocked.get(number, 0)))
            match_at = _match(rule) if -1 < at < stop else None
            while match_at and -1 < at < stop:
                match = match_at(text, at - rule.back) if at >= rule.back else None
                if match:
                    self._take(probe, match)
                at = find(anchor, max(at + 1, blocked.get(number, 0)) if match else at + 1)
        for form in self._known:
            at = text.find(form, start)
            while -1 < at < stop:
                self._waiting.append((at, -at - len(form), _LAST, KNOWN))
                at = text.find(form, at + 1)

    def _take(self, probe: Probe, match: re.Match[str]) -> None:
        number, _, rule = probe
        span = rule.judge(match)
        if span:
            self._waiting.append((span[0], -span[1], number, rule.kind))
            self._blocked[number] = span[1]
        elif not rule.unfinished:
            # A long run that is none is not looked through again from each of its parts.
            self._blocked[number] = match.end()

    def _open_from(self) -> int:
        """From where on what follows could still make or change a find."""
        text = self.text
        opened = len(text.rstrip(_VISIBLE))
        folded = _folded(text)
        for _, anchor, rule in _ANCHORS.growing:
            hay = folded if rule.any_case else text
            beyond = len(anchor) - 1  # it may begin before that place and end after it
            at = hay.find(anchor, self._looked, opened + beyond)
            while at != -1:
                if compiled(rule.unfinished).match(text, at):
                    opened = at
                    break
                at = hay.find(anchor, at + 1, opened + beyond)
        opened = min(opened, begins_at(text, self._looked, self._known))
        opened = min(opened, begins_at(folded, self._looked, _ANCHORS.foreign))
        return max(opened, self._looked, len(text) - REACH)


def _match(rule: Rule) -> Callable[[str, int], re.Match[str] | None]:
    return compiled(rule.pattern).match


def _folded(text: str) -> str:
    """In lower case, every character at its place: only İ would become two."""
    return text.replace("İ", "i").lower()

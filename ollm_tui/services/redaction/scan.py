"""Searches a text that may still grow for secrets, and settles what can no longer change."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import NamedTuple

from ollm_tui.services.redaction.assignments import ASSIGNMENTS, HASTY_REACH, assigned
from ollm_tui.services.redaction.columns import COLUMNS
from ollm_tui.services.redaction.command_arguments import COMMAND_ARGUMENTS
from ollm_tui.services.redaction.headers import HEADERS
from ollm_tui.services.redaction.hosting_tokens import HOSTING_TOKENS
from ollm_tui.services.redaction.known_values import begins_at
from ollm_tui.services.redaction.logins import LOGINS, PASSWORD_HASHES
from ollm_tui.services.redaction.mark import Found, mark_for
from ollm_tui.services.redaction.private_keys import PRIVATE_KEYS
from ollm_tui.services.redaction.rule import REACH, REACH_BACK, Rule, Span, compiled
from ollm_tui.services.redaction.service_tokens import SERVICE_TOKENS

_LONG_ENOUGH = "(?=[!-~]{14})"
"""No token that is known by its beginning is shorter."""


class Probe(NamedTuple):
    """One anchor of one rule; the number is its position among all anchors."""

    number: int
    anchor: str
    rule: Rule


class Allowance:
    """What reading may still cost: so much at once, and so much for every character of the text."""

    AT_ONCE = 20_000
    A_CHARACTER = 0.2

    def __init__(self) -> None:
        self._left: float = self.AT_ONCE
        self._at: int = 0

    def lasts(self, at: int) -> bool:
        """Whether something is left at a position, none of which is before an earlier one."""
        if at > self._at:
            self._left = min(self.AT_ONCE, self._left + (at - self._at) * self.A_CHARACTER)
            self._at = at
        return self._left > 0

    def spend(self, effort: int) -> None:
        """Take off what reading has cost."""
        self._left -= effort

    def shift(self, gone: int) -> None:
        """Count positions from a later beginning on."""
        self._at -= gone


class Anchors:
    """The anchors of all rules, prepared for searching."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        probes = [(anchor, rule) for rule in rules for anchor in rule.anchors]
        table = [Probe(number, *probe) for number, probe in enumerate(probes)]
        anywhere = tuple(probe for probe in table if not probe.rule.begins_word)
        self.free = tuple(probe for probe in anywhere if not probe.rule.reads)
        """Anchors that may be anywhere in a word: few, each is searched for by itself."""
        self._names = tuple(probe for probe in anywhere if probe.rule.reads)
        self.growing = tuple(
            probe for probe in anywhere if probe.rule.unfinished or probe.rule.reads
        )
        """Those whose rule tells what is unfinished at the end of a text."""
        self.foreign = tuple(
            probe.anchor.lower()
            for probe in anywhere
            if " " in probe.anchor[:-1] or not probe.anchor.isascii()
        )
        """Anchors that a stream may cut apart: any other is held back as a run of visible ASCII."""
        self._words = _by_longest([probe for probe in table if probe.rule.begins_word])
        beginnings = _alternatives(self._words)
        self._at_words = f"(?<![A-Za-z0-9])(?=({beginnings})){_LONG_ENOUGH}"
        self._after_escapes = rf"(?:\\[nrt]|%[0-9A-Fa-f]{{2}})(?=({beginnings})){_LONG_ENOUGH}"

    def words(self, text: str, start: int, stop: int) -> Iterator[tuple[int, Sequence[Probe]]]:
        """Every position from `start` to `stop` where a token may begin, with the probes to try."""
        for match in compiled(self._at_words).finditer(text, start):
            if match.start() >= stop:
                break
            yield match.start(), self._words[match[1]]
        for match in compiled(self._after_escapes).finditer(text, max(0, start - 3)):
            if start <= match.end() < stop:
                yield match.end(), self._words[match[1]]

    def names(self, folded: str, start: int, stop: int) -> list[tuple[int, Probe]]:
        """The names from `start` to `stop` beside which there may be a secret, in order."""
        found: list[tuple[int, Probe]] = []
        for probe in self._names:
            anchor = probe.anchor
            end = stop + len(anchor) - 1
            at = folded.find(anchor, start, end)
            while at != -1:
                found.append((at, probe))
                at = folded.find(anchor, at + 1, end)
        found.sort()
        return found


def _by_longest(probes: Sequence[Probe]) -> Mapping[str, Sequence[Probe]]:
    """By anchor: the probes to try where it is the longest that fits, those with openings last."""
    anchors = sorted({probe.anchor for probe in probes}, key=len, reverse=True)
    groups = {
        anchor: [one for one in probes if not one.rule.opening and anchor.startswith(one.anchor)]
        for anchor in anchors
    }
    said = {anchor: fitting for anchor, fitting in groups.items() if fitting}
    for probe in probes:
        if probe.rule.opening:
            said[probe.anchor] = [*said.get(probe.anchor, ()), probe]
    return said


def _alternatives(words: Mapping[str, Sequence[Probe]]) -> str:
    """A pattern for any of the words, which decides by the first character for speed."""
    rests: dict[str, list[str]] = {}
    for word, probes in words.items():
        openings = [probe.rule.opening for probe in probes]
        follows = f"(?={'|'.join(openings)})" if all(openings) else ""
        rests.setdefault(word[0], []).append(re.escape(word[1:]) + follows)
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items())


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
    *COLUMNS,
)
KNOWN = "known"

_ANCHORS = Anchors(RULES)
_LAST = sum(len(rule.anchors) for rule in RULES)
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
_STRETCH = 1_000
"""Characters in which names are looked for at once."""
_PROGRESS = re.compile(r"\[?(?:[.=#>]+[A-Za-z]?)+")
"""Marks by which a program tells how far it is, such as `....F..`: they do not wait for the end of
their line."""
_LAST_LETTERS = re.compile(r"(?:[A-Za-z][.=#>]?)+\Z")
"""What waits even there: a token may begin with a letter, or with a letter and a dot (`s.`)."""


_Candidate = tuple[int, int, int, str]
"""Start, minus end, number of the probe and kind of a find that may overlap others. Sorted so, the
earliest and longest comes first and counts. No named tuple, for speed: a flood has 100,000."""


class Scan:
    """A text and the secrets found in it. Positions are those in `text`, whose settled beginning
    `forget` drops, except for what rules may look back to."""

    def __init__(self, known: Sequence[str]) -> None:
        self.text = ""
        self.settled: int = 0
        """The text before this position was given out."""
        self._known = known
        self._searched: int = 0
        """Every anchor before this position was tried."""
        self._waiting: list[_Candidate] = []
        self._blocked: dict[int, int] = {}
        """Where the last find of each probe ended: it is not tried again inside of it."""
        self._allowed = Allowance()
        self._hasty: Span = (0, 0)
        """The part of the text that is read in haste, because the one before it cost too much."""
        self._holding = Allowance()
        """The same for telling what is unfinished, which happens again and again."""
        self._held: dict[int, int] = {}
        """The last anchor of each probe for which that was counted."""

    def grow(self, more: str) -> None:
        """Append to the text."""
        self.text += more

    def settle(self, *, final: bool) -> Iterator[Found]:
        """The next secrets that no further text can change; moves `settled` behind them.

        With `final` there is no further text.
        """
        return starmap(Found, self._settle(final=final))

    def redacted(self, *, final: bool) -> str:
        """The next text that can be given out, with marks in place of secrets."""
        text, at = self.text, self.settled
        pieces: list[str] = []
        for start, end, kind in self._settle(final=final):
            pieces += (text[at:start], mark_for(text[start:end], kind))
            at = end
        return "".join((*pieces, text[at : self.settled]))

    def _settle(self, *, final: bool) -> list[tuple[int, int, str]]:
        until = len(self.text) if final else self._open_from()
        if until > self._searched:
            self._look(self._searched, until)
            self._searched = until
        limit = until
        if not final and until > _open_word(self.text, until):
            limit -= REACH_BACK  # a rule whose anchor follows may still look back
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
        """Drop the settled text, except for what rules may look back to."""
        gone = min(self.settled, self._searched) - REACH_BACK
        if gone > 0:
            self.text = self.text[gone:]
            self.settled -= gone
            self._searched -= gone
            self._waiting = [
                (at - gone, end + gone, probe, kind) for at, end, probe, kind in self._waiting
            ]
            self._blocked = {probe: end - gone for probe, end in self._blocked.items()}
            self._held = {probe: at - gone for probe, at in self._held.items()}
            self._hasty = (self._hasty[0] - gone, self._hasty[1] - gone)
            self._allowed.shift(gone)
            self._holding.shift(gone)

    def _look(self, start: int, stop: int) -> None:
        """Try every rule where one of its anchors begins from `start` to `stop`."""
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
            wanted, reach = rule.needs or ("", 0)
            needed = -1
            while match_at and -1 < at < stop:
                if wanted and needed < at:
                    needed = folded.find(wanted, at)
                    if needed == -1:
                        break
                if wanted and needed - at > reach:
                    at = find(anchor, needed - reach)
                    continue
                match = match_at(text, at - rule.back) if at >= rule.back else None
                if match:
                    self._take(probe, match)
                at = find(anchor, max(at + 1, blocked.get(number, 0)) if match else at + 1)
        at = start
        while at < stop:
            hasty_until = self._hasty[1]
            if at < hasty_until:
                at = self._read_hastily(min(stop, hasty_until))
            else:
                at = self._read_names(folded, at, min(stop, at + _STRETCH))
        for form in self._known:
            at = text.find(form, start)
            while -1 < at < stop:
                self._waiting.append((at, -at - len(form), _LAST, KNOWN))
                at = text.find(form, at + 1)

    def _read_names(self, folded: str, start: int, stop: int) -> int:
        """Read what is beside each name; returns how far, which is less if it costs too much."""
        blocked, allowed = self._blocked, self._allowed
        for at, (number, _, rule) in _ANCHORS.names(folded, start, stop):
            if at < blocked.get(number, 0):
                continue
            if not allowed.lasts(at):
                self._hasty = (at, at + _STRETCH)
                return at
            match = compiled(rule.pattern).match(self.text, at)
            reading = rule.reads(match, True) if match and rule.reads else None
            allowed.spend(1 + (reading.effort if reading else 0))
            if reading and reading.secret:
                begin, end = reading.secret
                self._waiting.append((begin, -end, number, rule.kind))
                blocked[number] = end
        return stop

    def _read_hastily(self, stop: int) -> int:
        """Take only what is surely secret beside a name; what comes after it is read again."""
        start, until = self._hasty
        for begin, end in assigned(self.text, start, stop):
            self._waiting.append((begin, -end, _LAST, "secret"))
            start = end
        self._hasty = (max(start, stop), until)
        return stop

    def _take(self, probe: Probe, match: re.Match[str]) -> None:
        number, _, rule = probe
        judged = rule.judge(match)
        spans = judged if isinstance(judged, list) else [judged] if judged else []
        for start, end in spans:
            if end > start:
                self._waiting.append((start, -end, number, rule.kind))
            self._blocked[number] = end
        if spans:
            return
        if not rule.unfinished:
            # A long match that is no secret is not searched again from each position inside.
            self._blocked[number] = match.end()

    def _open_from(self) -> int:
        """The position from which on further text could still make or change a find."""
        text = self.text
        opened = _open_word(text, len(text))
        folded = _folded(text)
        for probe in _ANCHORS.growing:
            _, anchor, rule = probe
            hay = folded if rule.any_case else text
            beyond = len(anchor) - 1  # an anchor may begin before that position and end after it
            at = hay.find(anchor, self._searched, opened + beyond)
            while at != -1:
                if self._is_open(probe, at):
                    opened = at
                    break
                at = hay.find(anchor, at + 1, opened + beyond)
        opened = min(opened, begins_at(text, self._searched, self._known))
        opened = min(opened, begins_at(folded, self._searched, _ANCHORS.foreign))
        return max(opened, self._searched, len(text) - REACH)

    def _is_open(self, probe: Probe, at: int) -> bool:
        """Whether further text could change what a rule finds at an anchor."""
        number, _, rule = probe
        if rule.reads is None:
            return compiled(rule.unfinished).match(self.text, at) is not None
        is_new = at > self._held.get(number, -1)
        if is_new and not self._holding.lasts(at):
            return at > len(self.text) - HASTY_REACH
        match = compiled(rule.pattern).match(self.text, at)
        reading = rule.reads(match, False) if match else None
        if is_new:
            self._held[number] = at
            self._holding.spend(1 + (reading.effort if reading else 0))
        return reading is not None and reading.is_open


def _open_word(text: str, end: int) -> int:
    """Where a word begins that further text may continue; the end if there is none."""
    start = len(text[:end].rstrip(_VISIBLE))
    if not _PROGRESS.fullmatch(text, start, end):
        return start
    letter = _LAST_LETTERS.search(text, start, end)
    return letter.start() if letter else end


def _match(rule: Rule) -> Callable[[str, int], re.Match[str] | None]:
    return compiled(rule.pattern).match


def _folded(text: str) -> str:
    """A text in lower case with unchanged positions: only İ would become two characters."""
    return text.replace("İ", "i").lower()

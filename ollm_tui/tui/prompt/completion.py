"""Completion of the command being typed: names after the slash, values after the name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ollm_tui.core.intake import UNSAFE
from ollm_tui.tui.kit.ranking import Query, ranked


class Completion(NamedTuple):
    """A command that can be completed; `name` is without its slash."""

    name: str
    argument: str = ""
    description: str = ""
    values: Callable[[], Sequence[str]] | None = None
    """Returns what may follow the name; called when that is needed."""
    is_free: bool = False
    """Whether other words may follow as well: then Enter means what was typed."""
    is_list: bool = False
    """Whether several values may follow, separated by blanks."""


class Option(NamedTuple):
    """One line of the list of completions."""

    label: str
    argument: str = ""
    description: str = ""
    line: str = ""
    """The first line of the prompt if this option is taken."""
    column: int = 0
    """The column of the cursor then."""
    value: str = ""
    """The name of a file, where it is one: its label may be shortened."""


class Completer:
    """Holds the options for what is being typed, and which of them is chosen."""

    def __init__(
        self,
        completions: Iterable[Completion] = (),
        further: Callable[[], Iterable[Completion]] = tuple,
    ) -> None:
        self._fixed = {completion.name: completion for completion in completions}
        self._further = further
        """Returns the commands that others bring, which come and go."""
        self._values: dict[str, list[str]] = {}
        self._closed = False
        """Whether the user closed the list."""
        self._moved = False
        """Whether the user chose an option with the arrow keys."""
        self.options: tuple[Option, ...] = ()
        self.chosen = 0

    @property
    def _completions(self) -> dict[str, Completion]:
        return {**{each.name: each for each in self._further()}, **self._fixed}

    @property
    def names(self) -> Iterable[str]:
        """The names of all commands."""
        return self._completions.keys()

    @property
    def is_open(self) -> bool:
        """Whether there is anything to choose."""
        return bool(self.options)

    def update(self, line: str, column: int) -> None:
        """Find the options for another text, or for the cursor elsewhere in it."""
        if not line.startswith("/"):
            self.reset()
        options = () if self._closed else tuple(self._matches(line, column))
        if options != self.options:
            self.options, self.chosen, self._moved = options, 0, False

    def offer(self, options: Sequence[Option]) -> None:
        """Show options that were found elsewhere."""
        if tuple(options) != self.options:
            self.options, self.chosen, self._moved = tuple(options), 0, False

    def reset(self) -> None:
        """Forget everything: no command is being typed."""
        self._closed = False
        self._values.clear()
        self.options = ()

    def close(self) -> None:
        """Offer nothing until another command is begun, or until `reopen`."""
        self._closed = True
        self.options = ()

    def reopen(self, line: str, column: int) -> None:
        """Offer the options after all."""
        self._closed = False
        self.update(line, column)

    def move(self, step: int) -> None:
        """Choose another option; after the last comes the first."""
        self.chosen = (self.chosen + step) % len(self.options)
        self._moved = True

    def meant(self, line: str) -> Option | None:
        """Return the chosen option if Enter means that; None if Enter means what was typed."""
        if not self.is_open:
            return None
        name, space, argument = line[1:].partition(" ")
        if self._moved:
            is_meant = True
        elif space:
            known = self._completions.get(name)
            is_free = known is not None and known.is_free
            is_typed = is_free or argument in self._values.get(name, ())
            is_meant = bool(argument) and not is_typed
        else:
            # Only what is written in it: letters here and there may mean something else.
            is_meant = name.lower() not in self._completions and name.lower() in self._chosen_name
        return self.options[self.chosen] if is_meant else None

    @property
    def _chosen_name(self) -> str:
        return self.options[self.chosen].label.lower()

    def _matches(self, line: str, column: int) -> Iterable[Option]:
        if not line.startswith("/"):
            return ()
        name, space, argument = line[1:].partition(" ")
        if column == 0:
            return ()
        if column <= len(name) + 1:
            return self._names(name, space + argument)
        return self._arguments(name, argument)

    def _names(self, word: str, rest: str) -> Iterable[Option]:
        found = list(self._completions.values())
        lines = ((one.name, one.description) for one in found)
        for known in (found[at] for at in ranked(Query(word), lines)):
            name = known.name
            after = rest or " " * bool(known.argument or known.values)
            column = len(name) + 1 + bool(after)
            yield Option(f"/{name}", known.argument, known.description, f"/{name}{after}", column)

    def _arguments(self, name: str, argument: str) -> Iterable[Option]:
        known = self._completions.get(name)
        if not known or not known.values:
            return
        # Some values are names from elsewhere, as those of models: none may steer the terminal.
        if name not in self._values:
            self._values[name] = [
                value for value in known.values() if not UNSAFE.search(value) and "\n" not in value
            ]
        values = self._values[name]
        before, blank, word = argument.rpartition(" ") if known.is_list else ("", "", argument)
        if known.is_list:
            values = [value for value in values if value not in before.split()]
        if known.is_free:
            values = [value for value in values if value.lower().startswith(word.lower())]
        best = ranked(Query(word), ((value, "") for value in values))
        for value in (values[at] for at in best):
            line = f"/{name} {before}{blank}{value}"
            yield Option(value, line=line, column=len(line))

"""The picker of models: those of every provider, and what the highlighted one would mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing

from textual import on, work
from textual.binding import Binding
from textual.widgets import Input

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import ModelInfo
from ollm_tui.engine.conversation.model_choice import ProviderOffer
from ollm_tui.services.sessions.saved_lines import SavedLines
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.picker import PickerOf
from ollm_tui.tui.models.downloads import ModelName
from ollm_tui.tui.models.words import (
    CANNOT_ANSWER,
    FAVOURITES,
    MARKED,
    NOBODY,
    NOT_FETCHED,
    PICKER_KEYS,
    RECENT,
    place_words,
    short_price,
    short_window,
    size_words,
)

AskOffers = Callable[[], AsyncGenerator[ProviderOffer, None]]
Describe = Callable[[str, str], Awaitable[str]]
"""Returns what the user should know of a model of a provider before it is chosen."""

REST_SECONDS = 0.15
"""How long a line is highlighted before its server is asked about the model."""
WIDE, NARROW = 110, 80
"""Columns from which on a line also says what a model is and can, and below which only where it
runs."""


class ModelFilter(LineInput):
    """Leaves Space to the picker, which marks models with it: names of models have no blanks."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Take every character but a blank."""
        return key != "space" and super().check_consume_key(key, character)


class ModelPicker(PickerOf[ModelName]):
    """Closes with (provider, model), or with None.

    Opens at once with the model that answers now and the names of all providers; what they have
    is filled in as they answer. Favourites and models used last come first.
    """

    FILTER = ModelFilter
    BINDINGS = [
        Binding(
            "ctrl+s",
            "favour",
            "Favourite",
            id="models.favourite",
            tooltip="Add or remove favourite",
            priority=True,
        ),
        Binding(
            "space",
            "mark",
            "Compare",
            id="models.mark",
            tooltip="Mark for comparison; Enter compares",
            priority=True,
        ),
        Binding(
            "alt+w",
            "resize",
            "Window",
            id="picker.window",
            priority=True,  # terminals send a letter along, which the filter would take
            tooltip="Change the context window",
        ),
        Binding("f7", "manage", "Manage", id="models.manage", tooltip="Manage models"),
    ]

    def __init__(
        self,
        providers: Sequence[str],
        offers: AskOffers,
        describe: Describe,
        current: ModelName | None = None,
        *,
        favourites: SavedLines | None = None,
        recent: SavedLines | None = None,
        manage: Callable[[], None] | None = None,
        resize: Callable[[], None] | None = None,
        compare: Callable[[Sequence[ModelName]], None] | None = None,
    ) -> None:
        """`resize` asks for another window; None where that cannot be changed. `compare` gets the
        models that were marked, if there are any."""
        super().__init__("Model", empty=NOBODY, keys=PICKER_KEYS)
        self._favourites = favourites or SavedLines(None)
        self._recent = recent or SavedLines(None)
        self._manage = manage
        self._resize = resize
        self._compare = compare
        self._marked: dict[str, ModelName] = {}
        """The models to compare, by the key of their line."""
        self._offers: dict[str, ProviderOffer | None] = dict.fromkeys(providers)
        self._ask_offers = offers
        self._describe = describe
        self._current = current
        self._models: dict[str, ModelName] = {}
        """The models that can be chosen, by the key of their line."""
        self._problems: dict[str, str] = {}
        """Why there is nothing to choose, by the key of the line."""
        self._notes: dict[str, str] = {}
        """What a server says of its models, by the key of the line."""
        self._known: dict[str, str] = {}
        """What was found out about models, by the key of their line."""
        self._width = NARROW
        self._choices = list(self._all_lines(NARROW))
        self._first = next(iter(self._models), None)

    def on_mount(self) -> None:
        """Ask the providers while the window is already there."""
        self.ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys for the window and for comparing out where that cannot be done."""
        if action == "mark":
            return self._compare is not None
        return action != "resize" or self._resize is not None

    def action_resize(self) -> None:
        """Close, and ask for another window."""
        self.dismiss(None)
        if self._resize:
            self._resize()

    def result(self, choice: Choice) -> ModelName | None:
        """Return the model of a line; None for a line that tells of a problem."""
        return self._models.get(choice.key)

    @on(ChoiceList.Chosen)
    def compare_marked(self, event: ChoiceList.Chosen) -> None:
        """Close and compare what is marked; with no mark, the line itself is chosen."""
        if self._marked and self._compare:
            event.prevent_default()
            self.dismiss(None)
            self._compare(list(self._marked.values()))

    def action_mark(self) -> None:
        """Mark the highlighted model to be compared with others, or no longer."""
        key = self.choice_list.highlighted_key
        if key in self._models:
            if self._marked.pop(key, None) is None:
                self._marked[key] = self._models[key]
            # The next one is looked for from the beginning.
            self.query_one(Input).value = ""
            self.show(self._lines_now(), key)
            marked = ", ".join(model for _, model in self._marked.values())
            self.say(MARKED.format(marked) if marked else "")

    @work(group="offers", exclusive=True)
    async def ask(self) -> None:
        """Ask every provider; each is shown when it answers, and the highlight stays."""
        async with aclosing(self._ask_offers()) as offers:
            async for offer in offers:
                self._offers[offer.name] = offer
                if not self.is_current:
                    return  # closed meanwhile
                choices = self._lines_now()
                highlighted = self.choice_list.highlighted
                is_waiting = highlighted is None or highlighted.key in map(_waiting, self._offers)
                self.show(choices, next(iter(self._models), None) if is_waiting else None)

    def action_favour(self) -> None:
        """Make the highlighted model a favourite, or no longer."""
        name = self._models.get(self.choice_list.highlighted_key)
        if name is None:
            return
        line = "/".join(name)
        if line in self._favourites.all():
            self._favourites.forget(line)
        else:
            self._favourites.keep(line)
        self.show(self._lines_now())

    def action_manage(self) -> None:
        """Close, and open the screen of stored models."""
        self.dismiss(None)
        if self._manage:
            self._manage()

    @on(ChoiceList.Highlighted)
    def tell_about(self, event: ChoiceList.Highlighted) -> None:
        """Say what is known of a line, and find out the rest."""
        key = event.choice.key if event.choice else ""
        if key in self._models and key not in self._known:
            self.say("...")
            self.find_out(key)
        else:
            self.say(self._problems.get(key) or self._known.get(key, ""))

    @on(Input.Submitted)
    def tell_what_is_awaited(self) -> None:
        """Answer Enter in words where nothing can be chosen yet."""
        waiting = [name for name, offer in self._offers.items() if offer is None]
        if waiting and self.choice_list.highlighted is None:
            self.say(f"No matches yet; still asking {', '.join(waiting)}")

    @work(group="about", exclusive=True)
    async def find_out(self, key: str) -> None:
        """Ask about a model once it is looked at for a moment; the last one looked at counts."""
        await asyncio.sleep(REST_SECONDS)
        try:
            facts = await self._describe(*self._models[key])
            note = "" if self._width >= WIDE else self._notes.get(key, "")
            self._known[key] = "\n".join(filter(None, (facts, note)))
        except OllmError as error:
            self._known[key] = error.line
        if not self.is_current:
            return  # closed meanwhile: its parts are taken away one by one
        highlighted = self.choice_list.highlighted
        if highlighted and highlighted.key == key:
            self.say(self._known[key])

    def _lines_now(self) -> list[Choice]:
        self._models.clear()
        return list(self._all_lines(self.size.width))

    def _all_lines(self, width: int) -> Iterator[Choice]:
        """Yield favourites, models used last, and the rest by provider; each model once."""
        self._width = width
        shown: set[str] = set()
        favourites = self._favourites.all()
        for heading, names in ((FAVOURITES, favourites), (RECENT, self._recent.all())):
            lines = [line for name in names for line in self._kept_line(name, shown)]
            if lines:
                yield Choice(heading, heading, heading=True)
            yield from lines
        for name, offer in self._offers.items():
            yield from (line for line in self._group(name, offer) if line.key not in shown)

    def _kept_line(self, kept: str, shown: set[str]) -> Iterator[Choice]:
        """Yield the line of a favourite, unless it is shown already or is no longer there."""
        provider, _, model = kept.partition("/")
        key = f"{provider} {model}"
        if key in shown or provider not in self._offers:
            return
        offer = self._offers[provider]
        known = [info for info in offer.models if info.name == model] if offer else []
        if offer and not known:
            return
        shown.add(key)
        line = self._line(provider, known[0] if known else ModelInfo(name=model))
        yield line._replace(note=", ".join(filter(None, (clean(provider), line.note))))

    def _group(self, name: str, offer: ProviderOffer | None) -> Iterator[Choice]:
        """Yield a provider and its models; until it answers, only the model that is used now."""
        yield Choice(f"provider {name}", clean(name), heading=True)
        if offer is not None:
            yield from self._lines(offer)
            return
        if self._current and self._current[0] == name:
            yield self._line(name, ModelInfo(name=self._current[1]))
        self._problems[_waiting(name)] = "No answer yet"
        yield Choice(_waiting(name), f"Asking {clean(name)} …", words=name)

    def _lines(self, offer: ProviderOffer) -> Iterator[Choice]:
        """Yield the models of one provider; one without models has a line that says why."""
        for info in offer.models:
            yield self._line(offer.name, info)
        if not offer.models:
            key = f"problem {offer.name}"
            problem = clean(offer.error or "No models")
            self._problems[key] = OllmError(problem, clean(offer.hint)).line
            yield Choice(key, problem, words=offer.name)

    def _line(self, provider: str, info: ModelInfo) -> Choice:
        key = f"{provider} {info.name}"
        self._notes[key] = clean(info.note)
        first = " "
        if not info.chats:
            self._problems[key] = CANNOT_ANSWER
        elif not info.installed:
            self._problems[key] = "Not downloaded. F7 pulls it"
        else:
            self._models[key] = (provider, info.name)
            if self._is_current(provider, info):
                first = "●"
            elif f"{provider}/{info.name}" in self._favourites.all():
                first = "★"
            if key in self._marked:
                first = "✓"
        # Where it goes stands in the mark: there is not always room for the host.
        mark = f"{first}{'→' if info.remote_host else ''}".rstrip()
        words = " ".join((provider, *info.abilities, place_words("", info.remote_host)))
        return Choice(key, clean(info.name), self._facts(info), mark, words=words)

    def _facts(self, info: ModelInfo) -> str:
        if not info.installed:
            return NOT_FETCHED
        away = f"→ {clean(info.remote_host)}" if info.remote_host else ""
        if self._width < NARROW:
            vectors = "" if info.chats else clean(info.note)
            return away or vectors or size_words(info.size_bytes)
        facts = (
            away,
            *((clean(info.note), ", ".join(info.abilities)) if self._width >= WIDE else ()),
            clean(info.parameters or ""),
            size_words(info.size_bytes),
            short_window(info.max_window),
            short_price(info),
        )
        return ", ".join(fact for fact in facts if fact)

    def _is_current(self, provider: str, info: ModelInfo) -> bool:
        current = self._current
        return current is not None and current[0] == provider and info.is_called(current[1])


def _waiting(provider: str) -> str:
    """Return the key of the line for a provider that has not answered."""
    return f"waiting {provider}"

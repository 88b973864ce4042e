"""The screen of stored models: fetch, use, unload, copy and delete them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any, NamedTuple

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.provider import ModelInfo, RunningModel
from ollm_tui.engine.conversation.model_store import ModelStore, Shelf
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.question import Confirmation, Question
from ollm_tui.tui.models.downloads import Downloads, ModelName, progress_words
from ollm_tui.tui.models.words import (
    ASKING,
    BAD_NAME,
    CANNOT_ANSWER,
    NO_MODELS,
    NO_NAME,
    NOT_FETCHED,
    PULL,
    SCREEN_KEYS,
    STOPPED,
    TITLE,
    delete_question,
    heading_words,
    loaded_words,
    place_words,
    short_window,
    size_words,
)

LOADED, FETCHING, AWAY, ABSENT = "●", "…", "→", "○"


class Stored(NamedTuple):
    """A line of the list: a model, and what goes on with it."""

    provider: str
    info: ModelInfo
    running: RunningModel | None = None

    @property
    def name(self) -> ModelName:
        """Its provider and its name."""
        return self.provider, self.info.name

    @property
    def siblings(self) -> tuple[str, ...]:
        """Other models that run with the same weights."""
        if self.running is None:
            return ()
        names = (self.running.name, *self.running.siblings)
        return tuple(name for name in names if not self.info.is_called(name))


class ModelsScreen(Screen[ModelName | None]):
    """Lists the models of Ollama and the embedded ones; dismisses with one to use."""

    AUTO_FOCUS = "ChoiceList"
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,f7", "close", "Close", id="store.close", tooltip="Back to the chat"),
        Binding("p", "pull", "Pull", id="store.pull", tooltip="Pull this model, or one by name"),
        Binding("x", "cancel", "Stop", id="store.cancel", tooltip="Stop the download"),
        Binding("u", "unload", "Unload", id="store.unload", tooltip="Unload from memory"),
        Binding("c", "copy", "Copy", id="store.copy", tooltip="Copy under another name"),
        Binding("d,delete", "delete", "Delete", id="store.delete", tooltip="Delete permanently"),
        Binding("r", "again", "Refresh", id="store.again", tooltip="Refresh"),
    ]

    app: App[Any]

    def __init__(self, store: ModelStore, downloads: Downloads) -> None:
        super().__init__()
        self._store = store
        self._downloads = downloads
        self._shelves: dict[str, Shelf | None] = dict.fromkeys(store.names)
        self._stored: dict[str, Stored] = {}
        """The models by the keys of their lines."""
        self._hints: dict[str, str] = {}
        """What to do about a provider without models, by the key of its line."""
        self._notice = ""
        """What has just been done, shown in the place of the keys until the user moves."""
        self._at = ""
        """The line that was highlighted when the list was shown."""
        self._unsubscribe: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        """Lay out the heading, the list, what is known of the highlighted line, and the keys."""
        yield Static(id="heading")
        yield ChoiceList(empty=ASKING, unicode=not self.app.has_class("-ascii"))
        yield Static(id="about")
        yield LiveKeys()

    def on_mount(self) -> None:
        """Ask the providers, and follow the downloads."""
        self._unsubscribe = self._downloads.changed.subscribe(self._follow)
        self._show()
        self.look()

    def on_unmount(self) -> None:
        """Stop following the downloads."""
        self._unsubscribe()

    @work(group="look", exclusive=True)
    async def look(self) -> None:
        """Ask every provider what it stores; each is shown when it answers."""
        async with aclosing(self._store.shelves()) as shelves:
            async for shelf in shelves:
                self._shelves[shelf.provider] = shelf
                self._show()

    @on(ChoiceList.Highlighted)
    def explain(self) -> None:
        """Show what is known of the highlighted line, and what can be done."""
        if self.query_one(ChoiceList).highlighted_key != self._at:
            self._notice = ""  # the user has moved, it is not only another list
        self._explain()

    @on(ChoiceList.Chosen)
    def use(self) -> None:
        """Close with the chosen model, or fetch it first."""
        chosen = self._chosen
        if chosen is None:
            return
        if not chosen.info.installed:
            self._fetch(*chosen.name)
        elif not chosen.info.chats:
            self._say(CANNOT_ANSWER)
        else:
            self.dismiss(chosen.name)

    # What the user does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what fits the highlighted line."""
        if not self.is_mounted or action in ("close", "again", "pull"):
            return True
        chosen = self._chosen
        if action == "cancel":
            return chosen is not None and chosen.name in self._downloads.steps
        if action == "unload":
            return chosen is not None and chosen.running is not None
        if action in ("copy", "delete"):
            return chosen is not None and chosen.info.installed
        return True

    def action_close(self) -> None:
        """Close the screen; downloads go on."""
        self.dismiss(None)

    def action_again(self) -> None:
        """Ask the providers again."""
        self.look()

    def action_pull(self) -> None:
        """Fetch the highlighted model if it is not here, or one whose name is asked for."""
        chosen = self._chosen
        if chosen and not chosen.info.installed and chosen.name not in self._downloads.steps:
            self._fetch(*chosen.name)
            return

        async def fetch(name: str) -> None:
            self._fetch(await self._store.source_of(name), name)

        self._ask_name(PULL, "pull", fetch)

    def action_cancel(self) -> None:
        """Stop the download of the highlighted model."""
        if (chosen := self._chosen) and self._downloads.cancel(*chosen.name):
            self._say(STOPPED)

    def action_unload(self) -> None:
        """Take the highlighted model out of memory."""
        if chosen := self._chosen:
            name = chosen.name
            self._do(lambda: self._store.unload(*name), f"{name[1]} unloaded")

    def action_copy(self) -> None:
        """Give the highlighted model a second name."""
        if (chosen := self._chosen) is None:
            return
        provider, model = chosen.name

        async def copy(name: str) -> None:
            await self._store.copy(provider, model, name)

        self._ask_name(f"Copy {clean(model)} to", "copy", copy)

    def action_delete(self) -> None:
        """Delete the highlighted model after a yes."""
        if (chosen := self._chosen) is None:
            return
        provider, model = chosen.name

        def answered(is_meant: bool | None) -> None:
            if is_meant:
                self._do(lambda: self._store.delete(provider, model), f"{model} deleted")

        question = delete_question(model, chosen.info.size_bytes, chosen.siblings)
        self.app.push_screen(Confirmation(*question), answered)

    # Doing it

    @property
    def _chosen(self) -> Stored | None:
        return self._stored.get(self.query_one(ChoiceList).highlighted_key)

    def _ask_name(self, text: str, ok: str, use: Callable[[str], Awaitable[None]]) -> None:
        def answered(name: str | None) -> None:
            if name:
                self._do(lambda: use(name.strip()))

        self.app.push_screen(Question(text, ok=ok, check=_name_problem), answered)

    def _fetch(self, provider: str, model: str) -> None:
        try:
            self._downloads.start(provider, model)
        except OllmError as error:
            self._say(error.message)

    @work(group="do")
    async def _do(self, action: Callable[[], Awaitable[None]], done: str = "") -> None:
        try:
            await action()
        except OllmError as error:
            self._say(error.line)
            return
        if done:
            self._say(done)
        self.look()

    def _say(self, text: str) -> None:
        self._notice = text
        self._explain()

    # Showing it

    def _follow(self, has_ended: bool) -> None:
        if not self.is_mounted or self not in self.app.screen_stack:
            return
        self._show()
        if has_ended:
            self.look()

    def _show(self) -> None:
        self._stored.clear()
        choices = self.query_one(ChoiceList)
        choices.show(list(self._lines()))
        self._at = choices.highlighted_key
        here = [each.info for each in self._stored.values() if each.info.installed]
        running = [one for shelf in self._shelves.values() if shelf for one in shelf.running]
        facts = heading_words(len(here), sum(each.size_bytes or 0 for each in here), len(running))
        title = Content.styled(TITLE, "bold $primary")
        text = Content.assemble(title, (f"   {facts}", "$text-muted"))
        self.query_one("#heading", Static).update(text)
        self._explain()

    def _lines(self) -> Iterator[Choice]:
        for name, shelf in self._shelves.items():
            yield Choice(f"provider {name}", clean(name), heading=True)
            models = shelf.models if shelf else ()
            new = [model for at, model in self._downloads.steps if at == name]
            new = [model for model in new if not any(info.is_called(model) for info in models)]
            yield from (self._line(Stored(name, ModelInfo(name=m, installed=False))) for m in new)
            yield from (self._line(_stored(name, info, shelf)) for info in models if shelf)
            if not models and not new:
                yield self._empty(name, shelf)

    def _empty(self, name: str, shelf: Shelf | None) -> Choice:
        key = f"empty {name}"
        if shelf is None:
            self._hints[key] = ""
            return Choice(key, f"Asking {clean(name)} …")
        self._hints[key] = clean(shelf.hint)
        return Choice(key, clean(shelf.error) or NO_MODELS)

    def _line(self, stored: Stored) -> Choice:
        key = f"{stored.provider} {stored.info.name}"
        self._stored[key] = stored
        info, step = stored.info, self._downloads.steps.get(stored.name)
        if step:
            return Choice(key, clean(info.name), progress_words(step), FETCHING)
        if stored.running:
            return Choice(key, clean(info.name), loaded_words(stored.running), LOADED)
        failed = "failed" if stored.name in self._downloads.problems else ""
        facts = (failed, "" if info.installed else NOT_FETCHED, clean(info.parameters or ""))
        note = ", ".join(filter(None, (*facts, size_words(info.size_bytes))))
        mark = AWAY if info.remote_host else "" if info.installed else ABSENT
        return Choice(key, clean(info.name), note, mark)

    def _explain(self) -> None:
        about = self.query_one("#about", Static)
        key = self.query_one(ChoiceList).highlighted_key
        stored = self._stored.get(key)
        about.update(Content(self._about(stored) if stored else self._hints.get(key, "")))
        self.refresh_bindings()
        keys = self.query_one(LiveKeys)
        if self._notice:
            keys.say(self._notice)
        else:
            keys.show(*SCREEN_KEYS)

    def _about(self, stored: Stored) -> str:
        info = stored.info
        window = short_window(info.max_window)
        facts = (
            clean(info.parameters or ""),
            clean(info.quantization or ""),
            window and f"window up to {window}",
            ", ".join(info.abilities),
        )
        step = self._downloads.steps.get(stored.name)
        siblings = ", ".join(stored.siblings)
        lines = (
            place_words(stored.provider, info.remote_host),
            "   ".join(filter(None, facts)),
            info.note,
            f"weights shared with {siblings}" if siblings else "",
            step.what if step else self._downloads.problems.get(stored.name, ""),
        )
        return "\n".join(visible(line) for line in lines if line)


def _stored(provider: str, info: ModelInfo, shelf: Shelf) -> Stored:
    """Return a model with what runs of it, also under the name of a sibling."""
    for running in shelf.running:
        if any(info.is_called(name) for name in (running.name, *running.siblings)):
            return Stored(provider, info, running)
    return Stored(provider, info)


def _name_problem(name: str) -> str:
    if not name.strip():
        return NO_NAME
    return BAD_NAME if len(name.split()) > 1 else ""

"""Loads extensions and calls them, each call in a thread of its own and for five seconds.

One that fails is named and switched off until the program ends. This keeps the program going; it
is no boundary of security.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.extension_api import (
    Extension,
    ExtensionCommand,
    ExtensionContext,
    ExtensionExporter,
    ExtensionProvider,
    ExtensionTheme,
    ExtensionTool,
    OutputRefused,
)
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import ExtensionSettings

GROUP = "ollm.extensions"
LIMIT_SECONDS = 5.0
MOST_CHARACTERS = 1_000_000
LONGEST_REASON = 200
MOST_CONTEXT = 8_000
"""The most characters of one entry of the context."""

_CALLABLE = get_origin(Callable[..., object])
"""What a field that can be called has as the origin of its type."""

T = TypeVar("T")
K = TypeVar("K")
log = logging.getLogger(__name__)


class ExtensionFailed(Exception):
    """Raised when a call of an extension failed; the text says why. It is switched off by then."""


class InstalledExtension(NamedTuple):
    """An extension that is installed, loaded or not."""

    name: str
    package: str
    version: str
    enabled: bool


def installed(settings: Mapping[str, ExtensionSettings]) -> list[InstalledExtension]:
    """List what is installed, without loading any of it."""
    return [
        InstalledExtension(
            clean(point.name),
            clean(point.dist.name) if point.dist else "",
            clean(point.dist.version) if point.dist else "",
            _is_enabled(point.name, settings),
        )
        for point in sorted(entry_points(group=GROUP), key=lambda each: each.name)
    ]


class ExtensionHost:
    """The extensions of one run of the program."""

    def __init__(
        self,
        settings: Mapping[str, ExtensionSettings],
        *,
        points: Sequence[EntryPoint] | None = None,
        limit_seconds: float = LIMIT_SECONDS,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.limit_seconds = limit_seconds
        self._redact = redact
        self.told = Topic[str]()
        """What the user should know, one line each."""
        self._settings = settings
        self._points = points
        self._loaded: dict[str, Extension] = {}
        self._failed: dict[str, str] = {}
        self._loading: asyncio.Task[None] | None = None
        self._telling: set[asyncio.Future[None]] = set()
        """What is being told; kept here, or it could be collected before it ends."""

    def start(self) -> None:
        """Load what is installed in the background, once."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load_all(), name="extensions")

    @property
    def has_started(self) -> bool:
        """Whether waiting for the extensions takes no time."""
        return self._loading is not None and self._loading.done()

    async def until_started(self) -> None:
        """Wait until every extension is loaded or has failed."""
        self.start()
        assert self._loading is not None
        await asyncio.shield(self._loading)

    def tools(self) -> Iterator[tuple[str, ExtensionTool]]:
        """The tools of all extensions, with the name of each."""
        yield from self._offered("tools", ExtensionTool)

    def commands(self) -> Iterator[tuple[str, ExtensionCommand]]:
        """The slash commands of all extensions."""
        yield from self._offered("commands", ExtensionCommand)

    def themes(self) -> Iterator[tuple[str, ExtensionTheme]]:
        """The themes of all extensions."""
        yield from self._offered("themes", ExtensionTheme)

    def providers(self) -> Iterator[tuple[str, ExtensionProvider]]:
        """The model servers of all extensions."""
        yield from self._offered("providers", ExtensionProvider)

    async def context(self) -> list[ContextEntry]:
        """What extensions add to the next prompt; all of them are loaded then."""
        await self.until_started()
        entries: list[ContextEntry] = []
        for name, each in list(self._offered("context", ExtensionContext)):
            try:
                text = await self.text(name, each.read)
            except ExtensionFailed:
                continue
            entry = ContextEntry(
                key=f"{name}: {each.name}",
                content=self._redact(text)[:MOST_CONTEXT].strip(),
                added_at=clock.now(),
                priority=each.priority,
                source="extension",
            )
            if entry.content and entry.problem:
                self.switch_off(name, f"its context {each.name!r} cannot be used: {entry.problem}")
            elif entry.content:
                entries.append(entry)
        return entries

    async def export(self, suffix: str, session: dict[str, Any]) -> str | None:
        """The text of an export in a format of an extension; None if there is none for it."""
        for name, exporter in self._offered("exporters", ExtensionExporter):
            if exporter.suffix.removeprefix(".").lower() == suffix:
                return await self.text(name, exporter.export, session)
        return None

    async def text(
        self, name: str, call: Callable[..., object], *arguments: object, may_refuse: bool = False
    ) -> str:
        """Call something that returns a text. ExtensionFailed; OutputRefused, where that may be."""
        result = await self.call(name, call, *arguments, may_refuse=may_refuse)
        if not isinstance(result, str):
            raise self.switch_off(name, f"it returned {type(result).__name__}, not a text")
        return clean(result[:MOST_CHARACTERS])

    async def checked(self, tool: str, output: str) -> str:
        """What the model gets of a tool's output after every extension has looked at it."""
        for name in [name for name in self._loaded if self._hears(name, "check_output")]:
            check = getattr(self._loaded[name], "check_output", None)
            try:
                if check:
                    output = await self.text(name, check, tool, output, may_refuse=True)
            except OutputRefused as error:
                return f"[withheld by the extension {name}: {clean(str(error))[:LONGEST_REASON]}]"
            except ExtensionFailed:
                continue
        return output

    def hear(self, event: dict[str, Any]) -> None:
        """Tell extensions what happened; nobody waits for them."""
        for name in [name for name in self._loaded if self._hears(name, "on_event")]:
            telling = asyncio.ensure_future(self._tell(name, event))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _tell(self, name: str, event: dict[str, Any]) -> None:
        listen = getattr(self._loaded.get(name), "on_event", None)
        try:
            if listen:
                await self.call(name, listen, event)
        except ExtensionFailed:
            pass  # told by now, and switched off

    def _hears(self, name: str, method: str) -> bool:
        """Whether an extension has a method of its own; the one of the base does nothing."""
        own = getattr(type(self._loaded[name]), method, None)
        return own is not None and own is not getattr(Extension, method)

    def _offered(self, attribute: str, kind: type[K]) -> Iterator[tuple[str, K]]:
        for name, extension in tuple(self._loaded.items()):
            try:
                entries = cast(Sequence[object], tuple(getattr(extension, attribute, ())))
            except Exception as error:
                self.switch_off(name, f"{attribute}: {type(error).__name__}: {error}")
                continue
            for each in entries:
                if not isinstance(each, kind):
                    self.switch_off(name, f"{attribute} has a {type(each).__name__}")
                    break
                if wrong := _wrong_field(each):
                    self.switch_off(name, f"{attribute}: {wrong} is of the wrong kind")
                    break
                yield name, each

    async def _load_all(self) -> None:
        points = self._points
        if points is None:
            points = await asyncio.to_thread(lambda: tuple(entry_points(group=GROUP)))
        for point in points:
            if not _is_enabled(point.name, self._settings):
                continue
            try:
                self._loaded[point.name] = await self.call(point.name, _made, point)
            except ExtensionFailed:
                continue

    async def call(
        self,
        name: str,
        call: Callable[..., T],
        *arguments: object,
        seconds: float | None = None,
        may_refuse: bool = False,
    ) -> T:
        """Call something in a thread that is abandoned when it takes too long. ExtensionFailed; or
        OutputRefused, where that may be."""
        seconds = seconds or self.limit_seconds
        if name in self._failed:
            raise ExtensionFailed(self._failed[name])
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                result = call(*arguments)
            except BaseException as error:
                _tell_loop(loop, done.set_exception, done, _plain(error))
            else:
                _tell_loop(loop, done.set_result, done, result)

        threading.Thread(target=work, name=f"extension {name}", daemon=True).start()
        try:
            return await asyncio.wait_for(done, seconds)
        except TimeoutError:
            why = f"it took longer than {seconds:g} s"
            raise self.switch_off(name, why) from None
        except Exception as error:
            if isinstance(error, OutputRefused) and may_refuse:
                raise
            raise self.switch_off(name, f"{type(error).__name__}: {error}") from error

    def switch_off(self, name: str, why: str) -> ExtensionFailed:
        """Use nothing of an extension any more, and say why; returns the error to raise."""
        words = " ".join(clean(why).split())[:LONGEST_REASON]
        if name not in self._failed:
            self._failed[name] = words
            self._loaded.pop(name, None)
            log.warning("extension %s: %s", name, words)
            self.told.publish(f"extension {clean(name)} turned off: {words}")
        return ExtensionFailed(words)


def _wrong_field(entry: object) -> str:
    """The name of a field of an entry that holds something else than the API says; else empty."""
    for name, hint in get_type_hints(type(entry)).items():
        value = getattr(entry, name)
        origin = get_origin(hint) or hint
        if origin is Literal:
            is_right = value in get_args(hint)
        elif origin is _CALLABLE:
            is_right = callable(value)
        else:
            is_right = isinstance(value, origin)
        if not is_right:
            return name
    return ""


def _made(point: EntryPoint) -> Extension:
    """Load an extension; a class is called for the object."""
    loaded: Any = point.load()
    return loaded() if isinstance(loaded, type) else loaded


def _is_enabled(name: str, settings: Mapping[str, ExtensionSettings]) -> bool:
    return settings.get(name, ExtensionSettings()).enabled


def _plain(error: BaseException) -> Exception:
    """An error that may be passed to another thread: one that ends programs becomes a usual one."""
    return error if isinstance(error, Exception) else RuntimeError(repr(error))


def _tell_loop(
    loop: asyncio.AbstractEventLoop,
    tell: Callable[[Any], None],
    done: asyncio.Future[Any],
    value: object,
) -> None:
    """Give an answer to the loop, unless nobody waits any more."""

    def give() -> None:
        if not done.done():
            tell(value)

    try:
        loop.call_soon_threadsafe(give)
    except RuntimeError:
        pass  # the program has ended meanwhile

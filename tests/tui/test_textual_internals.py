"""Private parts of Textual that the program overrides or uses, all in one place: a release that
changes one of them has to be looked at before it is used."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from types import FunctionType

import pytest
import textual
from textual._compositor import Compositor
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widget import Widget
from textual.widgets import TextArea

import ollm_tui.tui
from tests.cases import every

METHODS: dict[tuple[type[object], str], str] = {
    # overridden or called in tui/kit/drawing.py
    (Compositor, "_render_chops"): "7963982a",
    (Compositor, "update_widgets"): "6c9b5c24",
    (Compositor, "render_partial_update"): "6ba5bc48",
    (Compositor, "_regions_to_spans"): "3b7acd72",
    (Screen, "_compositor_refresh"): "9c8bfdb9",
    (Screen, "_on_timer_update"): "d937d8a0",
    # used by tui/stream/transcript/viewport.py
    (Widget, "_scroll_update"): "dc7ffd20",
    (ScrollView, "_size_updated"): "d2a0d3e9",
    # in tui/app.py and tui/frame.py
    (App, "_check_bindings"): "e804b116",
    (App, "on_event"): "3cd920d8",
    (App, "_handle_exception"): "9c83528a",
    (App, "_print_error_renderables"): "44ae97f1",
    (App, "refresh_css"): "c3729f7d",
    # in tui/terminal/driver.py
    (LinuxDriver, "_sigcont_application"): "c4c494f7",
    (LinuxDriver, "_get_terminal_size"): "434410ad",
    (LinuxDriver, "run_input_thread"): "3633edfd",
    # in the prompt, the summary's text and questions
    (TextArea, "_on_key"): "50a180af",
    (TextArea, "_on_paste"): "13387d32",
    (Widget, "_on_focus"): "b8a4a4bd",
    (Widget, "_on_blur"): "ead86dcb",
}
"""What its code was when our part was written."""
FIELDS: dict[type[object], tuple[str, ...]] = {
    Screen: (
        *("_compositor", "_dirty_widgets"),
        *("_layout_required", "_scroll_required", "_repaint_required"),
    ),
    Compositor: ("cuts", "visible_widgets", "_dirty_regions"),
    App: ("_driver", "_exception", "_exit_renderables"),
    LinuxDriver: ("_app", "_debug", "_in_band_window_resize", "_must_signal_resume"),
}
"""What is read of them, or set."""


def code_of(part: object) -> str:
    """A few letters that are others when the code is; words and layout do not count."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body  # pyright: ignore[reportArgumentType] whatever has a source
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:8]


def classes() -> Iterator[type[object]]:
    """All classes of the screens that have one of Textual's among their bases."""
    for found in pkgutil.walk_packages(ollm_tui.tui.__path__, f"{ollm_tui.tui.__name__}."):
        for each in vars(importlib.import_module(found.name)).values():
            if inspect.isclass(each) and each.__module__ == found.name and of_textual(each):
                yield each


def of_textual(kind: type[object]) -> list[type[object]]:
    return [base for base in kind.__mro__ if base.__module__.split(".")[0] == textual.__name__]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


@every(("kind", "name"), METHODS)
def test_a_private_method_of_textual_is_as_it_was(kind: type[object], name: str) -> None:
    assert code_of(inspect.getattr_static(kind, name)) == METHODS[kind, name]


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
def test_textual_still_keeps_what_is_read_of_it(kind: type[object]) -> None:
    sources = "".join(inspect.getsource(base) for base in of_textual(kind))
    for name in FIELDS[kind]:
        assert f"self.{name}" in sources or f"def {name}(" in sources, name


def test_every_private_method_that_is_overridden_is_in_the_list() -> None:
    overridden = {
        (next(base for base in of_textual(kind) if name in vars(base)), name)
        for kind in classes()
        for name, part in vars(kind).items()
        if is_private(name) and isinstance(part, FunctionType)
        if any(isinstance(vars(base).get(name), FunctionType) for base in of_textual(kind))
    }
    assert overridden <= METHODS.keys()


def test_every_private_field_of_textual_that_is_used_is_in_the_list() -> None:
    listed = {name for names in FIELDS.values() for name in names} | {name for _, name in METHODS}
    used = {name for kind in classes() for name in used_privately(kind)}
    assert used <= listed


def used_privately(kind: type[object]) -> set[str]:
    """The private attributes of `self` that neither a class of ours nor its methods set."""
    own, used = set[str](), set[str]()
    for base in kind.__mro__:
        if base.__module__.startswith("ollm_tui."):
            own |= vars(base).keys()
            for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))):
                match node:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                        own.add(name)
                    case ast.Attribute(value=ast.Name(id="self"), attr=name) if is_private(name):
                        used.add(name)
                    case _:
                        pass
    return used - own

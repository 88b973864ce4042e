"""Private parts of Textual that the program overrides or calls, all in one place: a release that
changes one of them has to be looked at before it is used."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest
from textual import _compositor, app, screen, scroll_view, widget

PRIVATE = {
    # overridden in tui/kit/drawing.py
    (_compositor, "Compositor._render_chops"): "self crop is_rendered_line",
    (_compositor, "Compositor.update_widgets"): "self widgets",
    (_compositor, "Compositor.render_partial_update"): "self",
    (screen, "Screen._compositor_refresh"): "self",
    (screen, "Screen._on_timer_update"): "self",
    # used by tui/stream/transcript/viewport.py
    (widget, "Widget._scroll_update"): "self virtual_size",
    (scroll_view, "ScrollView._size_updated"): "self size virtual_size container_size layout",
    # overridden in tui/app.py and tui/frame.py
    (app, "App._check_bindings"): "self key priority",
    (app, "App.on_event"): "self event",
    (app, "App._handle_exception"): "self error",
}
"""By its name: the parameters it had when our part was written."""
FIELDS = {
    screen: ("_compositor", "_dirty_widgets", "_layout_required", "_scroll_required"),
    _compositor: ("cuts", "visible_widgets", "_dirty_regions"),
}
"""What is read of screens and their compositors."""


@pytest.mark.parametrize(("module", "name"), PRIVATE, ids=lambda value: str(value)[:40])
def test_a_private_method_of_textual_is_called_as_before(module: ModuleType, name: str) -> None:
    part: object = module
    for step in name.split("."):
        part = getattr(part, step)
    assert callable(part)
    assert " ".join(inspect.signature(part).parameters) == PRIVATE[module, name]


@pytest.mark.parametrize("module", FIELDS, ids=lambda value: value.__name__)
def test_textual_still_keeps_what_is_read_of_it(module: ModuleType) -> None:
    source = inspect.getsource(module)
    for name in FIELDS[module]:
        assert f"self.{name}" in source or f"def {name}(" in source, name

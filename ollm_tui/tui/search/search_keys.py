"""The keys of the search screen, and a word for each: those of the part that has the focus."""

from __future__ import annotations

from textual.binding import Binding

from ollm_tui.core.search import Order

BINDINGS = (
    Binding(
        "escape", "back", "Back", id="hits.back", tooltip="Back to the words, then to the chat"
    ),
    Binding("f4", "whole", "Whole", id="hits.whole", tooltip="The conversation on all the screen"),
    Binding("tab", "part(1)", "Facets", id="hits.next_part", tooltip="Facets, timeline, messages"),
    Binding("shift+tab", "part(-1)", "Before", id="hits.part_before", tooltip="The part before"),
    Binding("ctrl+o", "order", "Order", id="hits.order", tooltip="By relevance, or by time"),
    Binding("ctrl+s", "saved", "Saved", id="hits.saved", tooltip="Searches that you keep"),
)


def keys_for(order: Order, *, is_whole: bool, part: str) -> tuple[tuple[str, str], ...]:
    """Ids of bindings, each with what it does; those that are not live are left out.

    `part` is what Tab goes to.
    """
    other = "by time" if order == "relevance" else "by relevance"
    return (
        ("hits.open_found", "open there"),
        ("hits.open", "open there"),
        ("hits.open_here", "open there"),
        ("hits.fork", "fork"),
        ("hits.restore", "restore"),
        ("hits.quote", "quote into prompt"),
        ("hits.copy", "copy"),
        ("hits.export", "export"),
        ("hits.narrow", "narrow to this"),
        ("hits.widen", "all times"),
        ("hits.toggle", "use or not"),
        ("hits.earlier", "Right move"),
        ("hits.facet_left", "Right move"),
        ("hits.list", "list: fork, restore, quote, copy"),
        ("hits.next", "next hit"),
        ("hits.next_part", part),
        ("hits.order", other),
        ("hits.saved", "saved searches"),
        ("hits.whole", "back to the list" if is_whole else "whole screen"),
        ("hits.back", "back"),
    )

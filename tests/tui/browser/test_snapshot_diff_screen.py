"""Two points side by side: marks, forms, columns by width, and keys to move."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.session.message import Text
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.snapshot import ContextSnapshot, snapshot_of
from ollm_tui.engine.context.budget import Budget
from ollm_tui.engine.snapshots.points import parts_of
from ollm_tui.services.snapshots.snapshot_diff import diff
from ollm_tui.tui.browser.diff_screen import (
    DiffSide,
    SnapshotDiffPage,
    SnapshotDiffScreen,
    diff_lines,
    summary,
)
from tests.snapshot_samples import message, rich_session, rich_state
from tests.tui.dialog_host import Host, shown

HOSTILE = "[@click=app.bell()]x[/] \x1b]52;c;eA==\x07"


def earlier() -> ContextSnapshot:
    """Before anything was compressed, on the branch up to the second answer."""
    session = rich_session()
    plain = replace(session.metadata, compressed=type(session.metadata)().compressed, goals=())
    state = SessionState(replace(session, head="a2", metadata=plain))
    return snapshot_of(state, 300, reason="manual", name="earlier")


def later() -> ContextSnapshot:
    return snapshot_of(rich_state(), 1234, reason="manual")


def side(context: ContextSnapshot, name: str) -> DiffSide:
    budget = Budget.of(context.window, parts_of(context))
    return DiffSide.of(context, budget, is_snapshot=True)._replace(name=name)


def drawn(width: int) -> list[str]:
    compared = diff(earlier(), later())
    lines = diff_lines(compared, ("earlier", "now"), width)
    return ["".join(piece.text for piece in line).rstrip() for line in lines]


def test_what_is_on_one_side_only_and_what_is_folded_there_is_marked() -> None:
    text = "\n".join(drawn(80))
    assert " ≈ model  I look" in text and "whole → folded" in text
    assert " + user" not in text and " + you    and then?" in text
    assert "goal" in text and "ship it: active" in text
    assert "checkpoints" in text
    reverse = diff_lines(diff(later(), earlier()), ("now", "earlier"), 80)
    assert any(line and line[0].text.startswith(" − you    and then?") for line in reverse)


def test_wide_screens_have_two_columns_that_meet_at_one_line() -> None:
    lines = drawn(120)
    places = {line.index("│") for line in lines if "│" in line}
    assert len(places) == 1
    [added] = [line for line in lines if "and then?" in line]
    left, _, right = added.partition("│")
    assert not left.strip() and right.strip().startswith("+ you")


def test_no_line_is_wider_than_the_screen() -> None:
    for width in (60, 80, 99, 100, 120, 200):
        assert max(map(len, drawn(width))) <= width


def test_in_one_line_it_says_how_much_differs() -> None:
    assert summary(diff(earlier(), earlier())) == "4 the same"
    assert "6 only right" in summary(diff(earlier(), later()))


def test_two_points_without_words_say_so() -> None:
    nothing = replace(earlier(), order=(), user_messages=(), messages=())
    [*_, last] = diff_lines(diff(nothing, nothing), ("", ""), 80)
    assert "No messages on" in last[0].text


async def test_keys_move_and_close() -> None:
    said = [message(f"u{number}", "user") for number in range(200)]
    session = replace(rich_session(), messages=tuple(said), head="u199")
    chained = [
        replace(each, parent_id=f"u{number - 1}" if number else None)
        for number, each in enumerate(said)
    ]
    state = SessionState(replace(session, messages=tuple(chained)))
    whole = snapshot_of(state, 900, reason="manual")
    half = snapshot_of(
        SessionState(replace(state.session(), head="u99")), 500, reason="manual", name="half"
    )
    screen = SnapshotDiffScreen(side(half, "half"), side(whole, "whole"))
    app = Host(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        page = screen.query_one(SnapshotDiffPage)
        await pilot.press("j", "j", "k")
        assert page.scroll_offset.y == 1
        await pilot.press("pagedown")
        assert page.scroll_offset.y == page.size.height
        await pilot.press("G")
        assert "u199" in shown(app)
        await pilot.press("g", "n")
        assert "u100" in shown(app).splitlines()[2]
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is not screen


async def test_hostile_words_are_only_text() -> None:
    session = rich_session()
    said = replace(session.messages[0], parts=(Text(HOSTILE),))
    state = SessionState(replace(session, messages=(said, *session.messages[1:])))
    context = replace(snapshot_of(state, 10, reason="manual"), name=HOSTILE)
    app = Host(SnapshotDiffScreen(side(context, HOSTILE), side(context, HOSTILE)))
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        assert shown(app).count("[@click=app.bell()]x[/]") == 4
        assert "\x1b" not in shown(app)

"""The help screen: all of it, in one or two columns, found by words."""

from __future__ import annotations

from ollm_tui.tui.help.screen import NOTHING_FITS, HelpEntry, HelpScreen, help_columns
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import NOTHING_YET, Host, shown

ENTRIES = [
    HelpEntry(group, f"Ctrl+{number}", f"{group} {number}", f"/{group.lower()}{number}", "Does it.")
    for group in ("Writing", "Reading", "Sessions", "Screen")
    for number in range(6)
]
PLACES = [("settings", "~/.ollm/config.yaml"), ("log", "~/.ollm/logs\x1b[31m")]


def help_screen() -> Host:
    return Host(HelpScreen(ENTRIES, PLACES))


@some(1, "key", ("escape", "q", "question_mark"))
async def test_help_closes_on(key: str) -> None:
    app = help_screen()
    async with app.run_test() as pilot:
        await pilot.press(key)
        assert app.given is None


async def test_a_wide_screen_has_two_columns_and_a_narrow_one_has_one() -> None:
    app = help_screen()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        first = next(line for line in shown(app).splitlines() if "Writing" in line)
        assert "Sessions" in first
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        first = next(line for line in shown(app).splitlines() if "Writing" in line)
        assert "Sessions" not in first
        assert "Esc close" in shown(app)


async def test_keys_read_to_the_end_where_the_places_are_and_back() -> None:
    app = help_screen()
    async with app.run_test(size=(60, 20)) as pilot:
        for down, up in (("G", "g"), ("end", "home")):
            await pilot.press(down)
            await pilot.pause()
            assert "~/.ollm/config.yaml" in shown(app)
            assert "\x1b" not in shown(app)
            await pilot.press(up)
            await pilot.pause()
            assert "Writing 0" in shown(app)
        seen: list[str] = []
        for key in ("j", "down", "k", "up", "pagedown", "pageup"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(shown(app).splitlines()[2])
        assert seen[0] == seen[2] != seen[1]
        assert seen[3] == seen[5] != seen[4]


async def test_help_is_found_by_words_and_escape_shows_all_again() -> None:
    app = help_screen()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("slash", *"sessions3")
        await pilot.pause()
        assert "Sessions 3" in shown(app)
        assert "Writing" not in shown(app)
        await pilot.press("q")
        await pilot.pause()
        assert NOTHING_FITS in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Writing 0" in shown(app)
        assert app.given is NOTHING_YET


def test_a_command_without_a_key_has_its_name_in_the_column_of_keys() -> None:
    entries = [
        HelpEntry("Chat", "Esc", "Stop", "/stop"),
        HelpEntry("Chat", "", "Rewind", "/rewind [words]"),
    ]
    [column] = help_columns(entries, [60])
    _, stop, rewind, *_ = column.plain.splitlines()
    assert stop.split() == ["Esc", "Stop", "/stop"]
    assert rewind.split() == ["/rewind", "Rewind", "[words]"]


async def test_the_help_lists_all_keys_of_the_prompt_once(open_app: OpenApp) -> None:
    async with open_app(size=(120, 60)) as (app, pilot):
        await pilot.press("f1", "slash", *"last cut")
        await pilot.pause()
        assert "Ctrl+Y" in shown(app) and "Paste the last cut" in shown(app)


def test_no_line_is_wider_than_its_column() -> None:
    long = HelpEntry("Group", "Shift+Enter, Ctrl+J, Alt+Enter", "word " * 20, "/x", "more " * 30)
    for width in (40, 54, 90):
        for column in help_columns([long, *ENTRIES], [width, width]):
            assert max(len(line) for line in column.plain.splitlines()) <= width


async def test_the_help_explains_the_gauge(open_app: OpenApp) -> None:
    async with open_app(size=(120, 60)) as (app, pilot):
        await pilot.press("f1", "slash", *"compressed")
        await pilot.pause()
        assert "│" in shown(app) and "The context is compressed here" in shown(app)

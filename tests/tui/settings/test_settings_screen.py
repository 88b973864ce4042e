"""The settings screen: every key is shown with its meaning, and changed in the user's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.settings.keys import fixed_keys
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.settings.screen import SettingsScreen
from ollm_tui.tui.settings.setting_entries import setting_entries
from tests.cases import some
from tests.tui.dialog_host import NOTHING_YET, Host, shown


class Bench:
    """A settings screen on a home of its own, and what it told."""

    def __init__(self, home: Path, variables: Mapping[str, str] | None = None) -> None:
        self.environ = {"OLLM_HOME": str(home), **(variables or {})}
        self.file = home / "config.yaml"
        self.applied: list[str] = []
        self.app = Host(SettingsScreen(self.load, self.applied.append, self.environ))

    def load(self) -> Loaded:
        return load_settings(self.environ, Path.cwd(), {})

    async def find(self, pilot: Pilot[None], words: str) -> None:
        await pilot.press("slash", *words)
        await pilot.pause()

    async def go_to(self, pilot: Pilot[None], words: str) -> None:
        await self.find(pilot, words)
        await pilot.press("enter")


def test_every_key_has_an_entry_and_a_line_of_help(home: Path) -> None:
    entries = setting_entries(Bench(home).load())
    keys = {entry.path for entry in entries}
    assert set(fixed_keys()) < keys
    assert {("providers",), ("keymap",), ("tools", "permissions")} <= keys
    assert all(entry.help for entry in entries)


async def test_a_setting_says_what_it_is_for_and_where_it_comes_from(home: Path) -> None:
    home.mkdir()
    bench = Bench(home)
    bench.file.write_text("compression:\n  threshold: 0.7\n")
    bench.app = Host(SettingsScreen(bench.load, bench.applied.append, bench.environ))
    async with bench.app.run_test(size=(200, 40)) as pilot:
        await bench.find(pilot, "compression.threshold")
        text = shown(bench.app)
        assert "compression.threshold = 0.7" in text
        assert "Share of the available tokens at which compression starts." in text
        assert f"default 0.8, set in {bench.file}:2" in text


async def test_enter_in_the_find_line_goes_to_the_list_and_changes_nothing(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.find(pilot, "snapshots.autoCreate")
        await pilot.press("enter")
        assert isinstance(bench.app.focused, ChoiceList)
        assert "snapshots.autoCreate = true" in shown(bench.app)
        assert not bench.file.exists()


@pytest.mark.more
async def test_a_value_that_is_its_default_again_has_no_mark(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.go_to(pilot, "sessions.autoSave")
        await pilot.press("enter")
        assert "* autoSave" in shown(bench.app)
        await pilot.press("enter")
        assert "autoSave: true" in bench.file.read_text()
        assert "* autoSave" not in shown(bench.app)


async def test_enter_toggles_a_switch_and_writes_it(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.go_to(pilot, "sessions.autoSave")
        await pilot.press("enter")
        await pilot.pause()
        assert bench.file.read_text() == "sessions:\n  autoSave: false\n"
        assert "applies at the next start" in shown(bench.app)
        assert "sessions.autoSave = false" in shown(bench.app)
        assert bench.applied == []


async def test_a_live_setting_is_told_to_the_caller(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.go_to(pilot, "ui.timestamps")
        await pilot.press("enter")
        await pilot.pause()
        assert bench.applied == ["ui.timestamps"]
        assert bench.load().settings.ui.timestamps is False
        assert "Saved" in shown(bench.app)
        assert "next start" not in shown(bench.app)


async def test_values_to_choose_from_are_listed(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test() as pilot:
        await bench.go_to(pilot, "compression.strategy")
        await pilot.press("enter", *"trunc", "enter")
        await pilot.pause()
        assert bench.load().settings.compression.strategy == "truncate"


async def test_a_theme_is_chosen_by_looking_at_it(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test() as pilot:
        await bench.go_to(pilot, "ui.theme")
        await pilot.press("enter", *"dracula", "enter")
        await pilot.pause()
        assert bench.app.theme == "dracula"
        assert bench.load().settings.ui.theme == "dracula"
        assert bench.applied == ["ui.theme"]


async def test_a_number_that_does_not_fit_is_not_written(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.go_to(pilot, "compression.threshold")
        await pilot.press("enter", "7", "enter")
        await pilot.pause()
        assert "expected a number above 0 and at most 1" in shown(bench.app)
        assert not bench.file.exists()
        await pilot.press("backspace", *"0.5", "enter")
        await pilot.pause()
        assert bench.load().settings.compression.threshold == 0.5


async def test_delete_brings_the_default_back(home: Path) -> None:
    home.mkdir()
    bench = Bench(home)
    bench.file.write_text("# mine\nmodel: x\n")
    bench.app = Host(SettingsScreen(bench.load, bench.applied.append, bench.environ))
    async with bench.app.run_test() as pilot:
        await pilot.press("delete")
        await pilot.pause()
        assert bench.file.read_text() == "# mine\n"
        await pilot.press("delete")
        await pilot.pause()
        assert "model is already the default" in shown(bench.app)


@some(1, "key", ("enter", "delete"))
async def test_what_the_environment_decides_is_not_changed_here(home: Path, key: str) -> None:
    bench = Bench(home, {"OLLM_MODEL": "x"})
    async with bench.app.run_test() as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert "Set by OLLM_MODEL; change it there" in shown(bench.app)
        assert not bench.file.exists()


async def test_lists_and_tables_point_to_the_file(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.go_to(pilot, "keymap")
        await pilot.press("enter")
        await pilot.pause()
        assert "Lists and tables: edit" in shown(bench.app)


async def test_a_file_that_makes_no_sense_is_not_touched(home: Path) -> None:
    home.mkdir()
    bench = Bench(home)
    bench.file.write_text("ui: [")
    async with bench.app.run_test(size=(250, 40)) as pilot:
        await bench.go_to(pilot, "ui.plain")
        await pilot.press("enter")
        await pilot.pause()
        assert "nothing changed" in shown(bench.app)
        assert bench.file.read_text() == "ui: ["


@pytest.mark.more
async def test_escape_shows_all_and_then_closes(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(60, 20)) as pilot:
        await bench.find(pilot, "zzz")
        assert "No matches" in shown(bench.app)
        await pilot.press("escape")
        await pilot.pause()
        assert "general" in shown(bench.app)
        assert bench.app.given is NOTHING_YET
        await pilot.press("escape")
        assert bench.app.given is None


@pytest.mark.more
async def test_arrows_move_while_words_are_typed(home: Path) -> None:
    bench = Bench(home)
    async with bench.app.run_test(size=(120, 40)) as pilot:
        await bench.find(pilot, "enabled")
        await pilot.press("down")
        await pilot.pause()
        assert "compression.enabled = true" in shown(bench.app)
        await pilot.press("up")
        await pilot.pause()
        assert "snapshots.enabled = true" in shown(bench.app)

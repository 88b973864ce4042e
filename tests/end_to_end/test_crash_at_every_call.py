"""Killed at any system call that changes the disk, the store keeps what it acknowledged."""

from __future__ import annotations

import pytest

from ollm_tui.core.errors import SessionNotFound
from ollm_tui.services.sessions.session_library import SessionLibrary
from tests.cases import some
from tests.conftest import GATES
from tests.crash.crashes import Crash, crashes
from tests.crash.injection import Fault
from tests.crash.samples import LARGE, go_on, texts, user_message
from tests.crash.scenarios import (
    ALL,
    BYSTANDER,
    COPYING,
    OLD_SETTINGS,
    RECORDING,
    SUBJECT,
    settings_of,
)

OLD = {
    "recording a new session": [],
    "going on with a session": ["old-1", "old-2"],
    "going on with an older session": ["old"],
}
FAULTS: tuple[Fault, ...] = ("ENOSPC", "EIO", "EROFS", "short write")
SHORT = ("recording a new session",)
"""Enough for every day; `make gates` does all."""
OF_A_JOURNAL = ["old-1", "old-2", "old-3", "old-4"]


def listed(crash: Crash) -> set[str]:
    """The ids of all sessions, none of them damaged; the one nothing was done to is whole."""
    summaries = crash.library.catalogue.summaries()
    assert [each for each in summaries if each.damage] == [], crash.where
    assert texts(crash.library.load(BYSTANDER).state)["old-2"] == LARGE, crash.where
    return {each.session_id for each in summaries}


def is_whole(library: SessionLibrary) -> bool:
    loaded = library.load(SUBJECT)
    said = texts(loaded.state)
    return (
        loaded.problems == ()
        and list(said) == OF_A_JOURNAL
        and said["old-2"] == LARGE
        and loaded.state.tool_calls[0].result.llm_content == LARGE
    )


def leftovers(library: SessionLibrary) -> list[str]:
    names = [path.name for path in library.store.layout.root.rglob("*")]
    return [name for name in names if SUBJECT in name]


def check_recording(crash: Crash, scenario: str) -> None:
    """Everything that was told is there, and one can go on."""
    found = listed(crash)
    if SUBJECT not in found:
        assert crash.told == [], crash.where
        return
    state = crash.library.load(SUBJECT).state
    said = texts(state)
    old = OLD.get(scenario, OF_A_JOURNAL)
    assert list(said)[: len(old)] == old or list(said.values())[: len(old)] == old, crash.where
    assert "one two three".startswith(said.get("reply", "")), crash.where
    for words in crash.told:
        if words.startswith("text "):
            assert words.removeprefix("text ") in said["reply"], crash.where
        elif words == "finished":
            assert (state["reply"].text, state["reply"].status) == ("one two three", "complete")
        elif words != "closed":
            assert words in said, crash.where
    if "new-2" in crash.told:
        assert said["new-2"] == LARGE, crash.where
    go_on(crash.library.store, SUBJECT, user_message("later"))
    assert {**said, "later": "words of later"} == texts(crash.library.load(SUBJECT).state)


@some(2, "scenario", RECORDING)
def test_every_acknowledged_record_is_there_after_a_kill_at_any_call(scenario: str) -> None:
    for crash in crashes(scenario):
        check_recording(crash, scenario)


@pytest.mark.parametrize("scenario", RECORDING if GATES else SHORT)
def test_every_acknowledged_record_is_there_after_the_power_was_cut(scenario: str) -> None:
    for crash in crashes(scenario, "power"):
        check_recording(crash, scenario)


@some(1, "scenario", RECORDING if GATES else SHORT)
@pytest.mark.parametrize("fault", FAULTS if GATES else FAULTS[::3])
def test_a_call_that_fails_costs_nothing_acknowledged_and_is_told(
    scenario: str, fault: Fault
) -> None:
    wanted: list[str] = []
    for crash in crashes(scenario, fault):
        wanted = wanted or crash.told
        check_recording(crash, scenario)
        assert crash.told == wanted or crash.warned, crash.where


@pytest.mark.more
@pytest.mark.parametrize("scenario", sorted(ALL.keys() - RECORDING) if GATES else ["changing"])
@pytest.mark.parametrize("fault", FAULTS if GATES else FAULTS[:1])
def test_a_change_in_which_a_call_fails_harms_no_session(scenario: str, fault: Fault) -> None:
    wanted: list[str] = []
    for crash in crashes(scenario, fault):
        wanted = wanted or crash.told
        listed(crash)
        assert len(crash.told) == len(wanted) or crash.warned, crash.where


@pytest.mark.parametrize("scenario", sorted(ALL.keys() - RECORDING) if GATES else ["changing"])
def test_a_change_that_was_told_holds_after_the_power_was_cut(scenario: str) -> None:
    for crash in crashes(scenario, "power"):
        found = listed(crash)
        in_trash = {note.session_id for note in crash.library.trashed()}
        if "deleted" in crash.told:
            assert SUBJECT not in found | in_trash, crash.where
        if "discarded" in crash.told:
            assert SUBJECT in in_trash, crash.where
        if "restored" in crash.told:
            assert SUBJECT in found, crash.where
        if "renamed" in crash.told:
            assert crash.library.load(SUBJECT).state.header.title == "after", crash.where


def test_a_rename_killed_at_any_call_leaves_the_old_title_or_the_new_one() -> None:
    for crash in crashes("changing"):
        assert SUBJECT in listed(crash)
        header = crash.library.load(SUBJECT).state.header
        assert header.title in ({"after"} if "renamed" in crash.told else {"before", "after"})
        assert header.pinned or "pinned" not in crash.told, crash.where
        assert list(texts(crash.library.load(SUBJECT).state)) == OF_A_JOURNAL, crash.where


@some(1, "scenario", ["deleting", "deleting from the trash"])
def test_a_delete_killed_at_any_call_leaves_the_whole_session_or_nothing_of_it(
    scenario: str,
) -> None:
    for crash in crashes(scenario):
        found = listed(crash)
        in_trash = {note.session_id for note in crash.library.trashed()}
        if SUBJECT in found | in_trash:
            assert "deleted" not in crash.told, crash.where
            if SUBJECT in in_trash:
                crash.library.restore(SUBJECT)
            assert is_whole(crash.library), crash.where
        else:
            assert leftovers(crash.library) == [], crash.where


@some(1, "scenario", ["discarding", "restoring"])
def test_a_move_killed_at_any_call_leaves_the_whole_session_here_or_there(scenario: str) -> None:
    for crash in crashes(scenario):
        found = listed(crash)
        in_trash = {note.session_id for note in crash.library.trashed()}
        assert (SUBJECT in found) != (SUBJECT in in_trash), crash.where
        assert SUBJECT in in_trash or "discarded" not in crash.told, crash.where
        assert SUBJECT in found or "restored" not in crash.told, crash.where
        if SUBJECT in in_trash:
            with pytest.raises(SessionNotFound):
                crash.library.store.open(SUBJECT)
            crash.library.restore(SUBJECT)
        assert is_whole(crash.library), crash.where
        go_on(crash.library.store, SUBJECT, user_message("later"))


@some(1, "scenario", COPYING)
def test_a_copy_killed_at_any_call_is_whole_or_not_there(scenario: str) -> None:
    for crash in crashes(scenario):
        copies = listed(crash) - {SUBJECT, BYSTANDER}
        assert len(copies) == 1 or not crash.told, crash.where
        for copy in copies:
            loaded = crash.library.load(copy)
            assert loaded.problems == () and texts(loaded.state)["old-2"] == LARGE, crash.where
        if scenario == "forking":
            assert is_whole(crash.library), crash.where


@some(1, "fault", ["kill", "power"])
def test_a_setting_killed_at_any_call_is_the_old_one_or_the_new_one(fault: Fault) -> None:
    new = OLD_SETTINGS.replace("paper", "nord")
    for crash in crashes("changing a setting", fault):
        text = settings_of(crash.library.store.layout).read_text()
        assert text in ({new} if crash.told else {OLD_SETTINGS, new}), crash.where
        assert listed(crash) >= {SUBJECT}


@some(5, "scenario", ALL)
def test_nothing_is_acknowledged_that_a_power_cut_could_take(scenario: str) -> None:
    assert next(crashes(scenario)).unsynced == []

"""Killed at any system call that changes the disk, snapshots are old or new, never a mix."""

from __future__ import annotations

import pytest

from ollm_tui.core.errors import StoreError
from tests.cases import some
from tests.crash.scenarios import BYSTANDER, SUBJECT
from tests.crash.snapshot_crash import Crash, crashes
from tests.crash.snapshot_scenarios import ALL, AUTOMATIC, MOST, NAMED, NEW, snapshot
from tests.snapshot_samples import told

CACHES = ("snapshots", "snapshots-index.json", "snapshot-map.json", "context-snapshots")
"""What is not synced, for it can be made anew; the folders are only so by their names."""


def listed(crash: Crash) -> list[str]:
    """The ids of what is there, every one whole, also for who only knows the ids."""
    summaries = crash.library.list(SUBJECT)
    assert [each.damage for each in summaries if each.damage] == [], crash.where
    for each in summaries:
        whole = crash.library.get(SUBJECT, each.id)
        if each.id != NAMED:
            assert told(whole) == told(snapshot(each.id)), crash.where
        assert crash.library.find(each.id) == (SUBJECT, each.id), crash.where
    assert told(crash.library.get(BYSTANDER, "other")) == told(snapshot("other", BYSTANDER))
    assert crash.library.counts()[SUBJECT] == len(summaries), crash.where
    return [each.id for each in summaries]


def go_on(crash: Crash) -> None:
    """Whatever was left behind is in nobody's way."""
    crash.library.create(snapshot("later"), MOST)
    after = [each for each in crash.library.list(SUBJECT) if each.is_automatic]
    assert [each.id for each in after][:1] == ["later"], crash.where
    assert len(after) <= MOST, crash.where


def test_a_snapshot_that_is_taken_is_there_or_not_and_no_other_is_harmed() -> None:
    for crash in crashes("taking the first snapshot"):
        assert listed(crash) in ([[NEW]] if "created" in crash.told else [[], [NEW]]), crash.where
        go_on(crash)


def test_one_too_many_costs_the_oldest_automatic_one_and_never_another() -> None:
    old = [*reversed(AUTOMATIC), NAMED]
    new = [NEW, *old]
    done = [NEW, "auto-3", "auto-2", NAMED]
    for crash in crashes("taking one too many"):
        found = listed(crash)
        assert found in ([done] if "created" in crash.told else [old, new, done]), crash.where
        go_on(crash)


def test_a_deleted_snapshot_is_there_or_can_be_brought_back() -> None:
    for crash in crashes("deleting"):
        if NAMED in listed(crash):
            assert "deleted" not in crash.told, crash.where
            continue
        crash.library.undelete(SUBJECT, NAMED)
        assert NAMED in listed(crash), crash.where
        with pytest.raises(StoreError):
            crash.library.undelete(SUBJECT, NAMED)


def test_undoing_a_deletion_loses_nothing_either() -> None:
    for crash in crashes("deleting and undoing that"):
        if NAMED not in listed(crash):
            assert "undeleted" not in crash.told, crash.where
            crash.library.undelete(SUBJECT, NAMED)
        assert told(crash.library.get(SUBJECT, NAMED)) == told(snapshot(NAMED)), crash.where


def test_a_rename_leaves_the_old_name_or_the_new_one() -> None:
    for crash in crashes("renaming"):
        assert NAMED in listed(crash)
        name = crash.library.get(SUBJECT, NAMED).name
        assert name in (["another name"] if crash.told else ["a name", "another name"])
        assert {each.name for each in crash.library.list(SUBJECT)} == {"", name}, crash.where


def test_caches_that_were_being_made_are_made_again() -> None:
    for crash in crashes("making the caches anew"):
        assert listed(crash) == [*reversed(AUTOMATIC), NAMED], crash.where


@some(3, "scenario", ALL)
def test_nothing_is_acknowledged_that_a_power_cut_could_take(scenario: str) -> None:
    unsynced = next(crashes(scenario)).unsynced
    assert [path for path in unsynced if not path.endswith(CACHES)] == []

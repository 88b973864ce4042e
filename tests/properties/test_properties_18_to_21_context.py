"""Properties 18 to 21 of the seeds: notes in the context are kept, found, and in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.context_entry import ContextEntry, by_priority, with_entry, without_entry
from ollm_tui.core.session import Metadata, Session
from ollm_tui.engine.modes import Mode
from ollm_tui.engine.system_prompt import sections

entries = st.lists(
    st.builds(
        ContextEntry,
        key=st.from_regex(r"\A[a-z]{1,8}\Z"),
        content=st.from_regex(r"\A[A-Z]{3,12}\Z"),
        added_at=st.just("2026-01-01T00:00:00Z"),
        priority=st.integers(0, 100),
    ),
    max_size=8,
    unique_by=(lambda entry: entry.key, lambda entry: entry.content),
)


def added(given_entries: list[ContextEntry]) -> tuple[ContextEntry, ...]:
    kept: tuple[ContextEntry, ...] = ()
    for entry in given_entries:
        kept = with_entry(kept, entry)
    return kept


def system_prompt(kept: tuple[ContextEntry, ...]) -> str:
    header = Session(
        session_id="s",
        start_time="",
        last_activity="",
        model="m",
        provider="p",
        system_prompt="be brief",
        metadata=Metadata(context_entries=kept),
    )
    return "\n".join(section.text for section in sections(header, Mode("assistant")))


@given(entries, st.integers(0, 7))
def test_18_what_is_removed_by_its_key_is_gone(given_entries: list[ContextEntry], n: int) -> None:
    kept = added(given_entries)
    if kept:
        gone = kept[n % len(kept)]
        rest = without_entry(kept, gone.key)
        assert gone not in rest
        assert set(rest) | {gone} == set(kept)
        assert gone.content not in system_prompt(rest).split()


@given(entries)
def test_19_everything_added_is_there_as_it_was(given_entries: list[ContextEntry]) -> None:
    assert sorted(added(given_entries), key=repr) == sorted(given_entries, key=repr)


@given(entries)
def test_20_the_system_prompt_contains_every_note(given_entries: list[ContextEntry]) -> None:
    prompt = system_prompt(added(given_entries))
    assert all(entry.content in prompt for entry in given_entries)


@given(entries)
def test_21_the_most_important_note_comes_first_and_ties_go_by_age(
    given_entries: list[ContextEntry],
) -> None:
    kept = added(given_entries)
    words = system_prompt(kept).split()
    places = [words.index(entry.content) for entry in by_priority(kept)]
    assert places == sorted(places)
    order = [(-entry.priority, kept.index(entry)) for entry in by_priority(kept)]
    assert order == sorted(order)

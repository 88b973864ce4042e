"""Properties 18 to 21 of the seeds: entries of the context are kept, found, and in order.

Whoever added them: the user's words stand in the system prompt, everything else after it, as
data in the name of the user.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.context_entry import (
    ContextEntry,
    Entries,
    by_priority,
    with_entry,
    without_entry,
    without_expired,
)
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.core.session.encoding import metadata_from_tree, to_tree
from ollm_tui.core.session.message import Message, Text
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.engine.context.prompt_assembly import assemble
from ollm_tui.engine.context.system_prompt import sections
from ollm_tui.engine.conversation.modes import Mode
from tests.engine.prompts import assert_every_provider_accepts, branches, marks

NOW = "2026-01-01T00:00:00Z"
BEFORE, AFTER = "2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z"

entries = st.lists(
    st.builds(
        ContextEntry,
        key=st.from_regex(r"\A[a-z]{1,8}\Z"),
        content=st.from_regex(r"\A[A-Z]{3,12}\Z"),
        added_at=st.just(NOW),
        priority=st.integers(0, 100),
        source=st.sampled_from(("user", "hook", "extension", "system")),
        origin=st.sampled_from(("", "tree", "file:a.md", "instructions")),
        expires_at=st.sampled_from((None, BEFORE, AFTER)),
    ),
    max_size=8,
    unique_by=(lambda entry: entry.key, lambda entry: entry.content),
)


def added(given_entries: list[ContextEntry]) -> Entries:
    kept: Entries = ()
    for entry in given_entries:
        kept = with_entry(kept, entry)
    return kept


HELLO = Message("m0", "user", (Text("hello"),), NOW)


def prompt_with(
    kept: Entries, branch: Sequence[Message] = (HELLO,), marks: Marks | None = None
) -> tuple[PromptMessage, ...]:
    header = Session(
        session_id="s",
        start_time="",
        last_activity="",
        model="m",
        provider="p",
        system_prompt="be brief",
        metadata=Metadata(context_entries=kept),
    )
    return assemble(sections(header, Mode("assistant")), branch, marks).prompt


def words_of(kept: Entries) -> list[str]:
    return "\n".join(message.text for message in prompt_with(kept)).split()


@given(entries, st.integers(0, 7))
def test_18_what_is_removed_by_its_key_is_gone(given_entries: list[ContextEntry], n: int) -> None:
    kept = added(given_entries)
    if kept:
        gone = kept[n % len(kept)]
        rest = without_entry(kept, gone.key)
        assert gone not in rest
        assert set(rest) | {gone} == set(kept)
        assert gone.content not in words_of(rest)


@given(entries)
def test_19_everything_added_is_there_as_it_was(given_entries: list[ContextEntry]) -> None:
    kept = added(given_entries)
    assert sorted(kept, key=repr) == sorted(given_entries, key=repr)
    metadata = Metadata(context_entries=kept)
    assert metadata_from_tree(to_tree(metadata)).context_entries == kept


@given(entries)
def test_19_only_what_has_run_out_goes_by_itself(given_entries: list[ContextEntry]) -> None:
    left = without_expired(added(given_entries), NOW)
    assert set(left) == {entry for entry in given_entries if entry.expires_at != BEFORE}


@given(entries)
def test_20_every_prompt_contains_every_entry(given_entries: list[ContextEntry]) -> None:
    words = words_of(added(given_entries))
    assert all(words.count(entry.content) == 1 for entry in given_entries)


@given(entries)
def test_20_only_the_users_own_words_speak_as_the_system(
    given_entries: list[ContextEntry],
) -> None:
    prompt = prompt_with(added(given_entries))
    assert_every_provider_accepts(prompt)
    system = prompt[0].text.split()
    assert prompt[0].role == "system" and prompt[1].text.endswith("hello")
    for entry in given_entries:
        assert (entry.content in system) == (entry.source == "user" and not entry.origin)


@given(entries)
def test_21_the_most_important_comes_first_and_ties_go_by_age(
    given_entries: list[ContextEntry],
) -> None:
    kept = added(given_entries)
    words = words_of(kept)
    for own in (True, False):
        ordered = [entry for entry in by_priority(kept) if entry.is_users_own == own]
        places = [words.index(entry.content) for entry in ordered]
        assert places == sorted(places)
    order = [(-entry.priority, kept.index(entry)) for entry in by_priority(kept)]
    assert order == sorted(order)


@given(entries, branches, marks)
def test_whatever_is_said_after_it_providers_accept_the_data_and_it_stays_first(
    given_entries: list[ContextEntry], branch: list[Message], marks: Marks
) -> None:
    kept = added(given_entries)
    prompt = prompt_with(kept, branch, marks)
    assert_every_provider_accepts(prompt)
    data = [entry.content for entry in kept if not entry.is_users_own]
    if data:
        alone = prompt_with(kept, ())
        assert prompt[1].text.startswith(alone[1].text.rstrip())
        assert all(content in prompt[1].text for content in data)

"""Properties 18 to 21 of the seeds: entries of the context are kept, found, and in order.

Whoever added them: the user's words stand in the system prompt, everything else after it, as
data in the name of the user.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.context_entry import (
    ContextEntry,
    Entries,
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
from tests.conftest import promised
from tests.engine.prompts import assert_every_provider_accepts, branches, marks

NOW = "2026-01-01T00:00:00Z"
BEFORE, AFTER = "2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z"

FORMS = ("<{}>", "<{}>\nand more", "# <{}>\n\n- it", "``` <{}>")
sources = ("user", "hook", "extension", "system")


@st.composite
def several_entries(draw: st.DrawFn) -> list[ContextEntry]:
    """Entries with keys of their own; each says something in one or several lines."""
    keys = draw(st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True))
    return [
        ContextEntry(
            key=key,
            content=draw(st.sampled_from(FORMS)).format(key.upper() * 5),
            added_at=NOW,
            priority=draw(st.sampled_from((0, 50, 100)) | st.integers(0, 100)),
            source=draw(st.sampled_from(("user", *sources))),
            origin=draw(st.sampled_from(("", "", "tree", "file:a.md", "instructions"))),
            expires_at=draw(st.sampled_from((None, BEFORE, AFTER))),
        )
        for key in keys
    ]


entries = several_entries()


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


def sent_with(kept: Entries) -> str:
    return "\n".join(message.text for message in prompt_with(kept))


def is_own(entry: ContextEntry) -> bool:
    """Whether the user typed it: what comes from a file or from others is data."""
    return entry.source == "user" and not entry.origin


@promised
@given(entries, st.integers(0, 7), st.booleans())
def test_property_18_what_is_removed_by_its_key_is_gone(
    given_entries: list[ContextEntry], n: int, again: bool
) -> None:
    """Feature: services-sessions, Property 18: Context add-remove round-trip."""
    kept = added(given_entries)
    if not given_entries:
        return
    gone = given_entries[n % len(given_entries)]
    if again:  # what is added under a key that is there replaces it, and goes with it
        kept = with_entry(kept, replace(gone, content="ANOTHER WORD"))
        assert [entry.key for entry in kept].count(gone.key) == 1
        assert gone.content not in sent_with(kept)
        assert "ANOTHER WORD" in sent_with(kept)
    rest = without_entry(kept, gone.key)
    assert list(rest) == [entry for entry in given_entries if entry.key != gone.key]
    assert gone.content not in sent_with(rest)
    assert "ANOTHER WORD" not in sent_with(rest)


@promised
@given(entries)
def test_property_19_everything_added_is_there_as_it_was(given_entries: list[ContextEntry]) -> None:
    """Feature: services-sessions, Property 19: Context retrieval completeness."""
    kept = added(given_entries)
    assert list(kept) == given_entries
    metadata = Metadata(context_entries=kept)
    stored = json.loads(json.dumps(to_tree(metadata)))
    assert list(metadata_from_tree(stored).context_entries) == given_entries


@promised
@given(entries)
def test_property_19_only_what_has_run_out_goes_by_itself(
    given_entries: list[ContextEntry],
) -> None:
    """Feature: services-sessions, Property 19: Context retrieval completeness."""
    left = without_expired(added(given_entries), NOW)
    assert list(left) == [entry for entry in given_entries if entry.expires_at != BEFORE]


@promised
@given(entries)
def test_property_20_every_prompt_contains_every_entry(given_entries: list[ContextEntry]) -> None:
    """Feature: services-sessions, Property 20: Context inclusion in system prompt."""
    sent = sent_with(added(given_entries))
    assert [entry for entry in given_entries if sent.count(entry.content) != 1] == []


@promised
@given(entries)
def test_property_20_only_the_users_own_words_speak_as_the_system(
    given_entries: list[ContextEntry],
) -> None:
    """Feature: services-sessions, Property 20: Context inclusion in system prompt."""
    prompt = prompt_with(added(given_entries))
    assert_every_provider_accepts(prompt)
    assert prompt[0].role == "system" and prompt[1].text.endswith("hello")
    for entry in given_entries:
        assert (entry.content in prompt[0].text) == is_own(entry)


@promised
@given(entries)
def test_property_21_the_most_important_comes_first_and_ties_go_by_age(
    given_entries: list[ContextEntry],
) -> None:
    """Feature: services-sessions, Property 21: Context priority ordering."""
    sent = sent_with(added(given_entries))
    for own in (True, False):
        some = [entry for entry in given_entries if is_own(entry) == own]
        by_place = sorted(some, key=lambda entry: sent.index(entry.content))
        ranks = [(-entry.priority, given_entries.index(entry)) for entry in by_place]
        assert ranks == sorted(ranks)


@promised
@given(entries, branches, marks)
def test_whatever_is_said_after_it_providers_accept_the_data_and_it_stays_first(
    given_entries: list[ContextEntry], branch: list[Message], marks: Marks
) -> None:
    kept = added(given_entries)
    prompt = prompt_with(kept, branch, marks)
    assert_every_provider_accepts(prompt)
    data = [entry.content for entry in kept if not is_own(entry)]
    if data:
        alone = prompt_with(kept, ())
        assert prompt[1].text.startswith(alone[1].text.rstrip())
        assert all(content in prompt[1].text for content in data)

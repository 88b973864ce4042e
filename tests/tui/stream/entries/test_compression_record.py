"""Compressions in the stream: their records, where they stand, and what could not be done."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    CompressionCancelled,
    CompressionFailed,
    CompressionSkipped,
    ContextCompressed,
    UserMessagesFill,
)
from ollm_tui.core.session.compression import CompressedContext, Compression
from ollm_tui.core.session.session import Restore
from ollm_tui.tui.stream.entries.compression_entries import (
    compression_entries,
    compression_entry,
    compression_key,
    with_compressions,
)
from ollm_tui.tui.stream.transcript.entry import Entry
from tests.cases import some
from tests.tui.compression_desk import after, desk, tell
from tests.tui.compression_samples import (
    CHECKPOINT,
    COMPRESSION,
    LEDGER_TEXT,
    STARTED,
    SUMMARY,
    whole_story,
)

LATER = replace(
    COMPRESSION,
    number=2,
    at="2024-10-14T14:04:00.000000Z",
    last="m44",
    before_tokens=900,
    after_tokens=640,
    before=COMPRESSION.after,
    after=CompressedContext(checkpoints=("c1", "c2")),
)
UNDONE = replace(COMPRESSION, undone_at="2024-10-14T14:05:00.000000Z")


def seen(entry: Entry) -> str:
    """As it is drawn."""
    return entry.text.replace("\N{NO-BREAK SPACE}", " ")


def text_of(compression: Compression) -> str:
    return seen(compression_entry(compression))


# The line


def test_a_record_says_what_was_folded_what_it_saved_and_which_keys_matter() -> None:
    assert text_of(COMPRESSION) == (
        "─ folded 34 messages into a checkpoint · 5.1k → 1.5k · u undo · v view ─"
    )


def test_an_undone_one_says_so_and_offers_nothing() -> None:
    assert text_of(UNDONE) == "─ folded 34 messages into a checkpoint · 5.1k → 1.5k · undone ─"


def test_what_was_only_cut_short_has_no_checkpoint_to_view() -> None:
    cut = replace(COMPRESSION, created=(), folded=(), elisions={"m5": "", "m9": ""})
    assert text_of(cut) == "─ shortened 2 outputs · 5.1k → 1.5k · u undo ─"
    assert compression_entry(cut).folds == []


def test_an_older_checkpoint_that_got_shorter_is_told_of() -> None:
    aged = replace(COMPRESSION, folded=())
    assert text_of(aged).startswith("─ condensed 1 checkpoint")


def test_what_the_user_should_know_stands_below() -> None:
    noted = replace(COMPRESSION, note="no model could be asked\x1b[31m")
    assert text_of(noted).splitlines()[1] == "  no model could be asked␛[31m"


@pytest.mark.parametrize("columns", [24, 40, 58, 59, 60, 61, 62, 63, 64, 65, 70, 80])
async def test_a_key_and_what_it_does_stand_on_one_line_at_any_width(columns: int) -> None:
    async with desk((columns, 30)) as (app, pilot):
        app.transcript.add(compression_entry(COMPRESSION))
        await pilot.pause()
        assert any("u undo" in line for line in app.stream)
        assert any("v view ─" in line for line in app.stream)
        assert any("5.1k → 1.5k" in line for line in app.stream)


def test_only_the_last_that_holds_can_be_undone() -> None:
    texts = [seen(entry) for entry in compression_entries(after((COMPRESSION, LATER)))]
    assert ["u undo" in text for text in texts] == [False, True]
    undone = replace(LATER, undone_at="2024-10-15T00:00:00.000000Z")
    texts = [seen(entry) for entry in compression_entries(after((COMPRESSION, undone)))]
    assert ["u undo" in text for text in texts] == [True, False]


def test_one_from_before_which_something_was_restored_is_not_in_force() -> None:
    restored = replace(after((COMPRESSION, LATER)), compressed=COMPRESSION.after)
    first, second = (seen(entry) for entry in compression_entries(restored))
    assert first.endswith("1.5k · v view ─") and second.endswith("640 · inactive ─")
    restored = replace(restored, compressed=CompressedContext())
    assert all("inactive ─" in seen(entry) for entry in compression_entries(restored))


def test_where_an_undo_would_take_back_a_restore_no_record_offers_one() -> None:
    went_back = Restore(at="2024-10-15T00:00:00.000000Z", snapshot="", before="m44")
    metadata = replace(after((COMPRESSION,)), restores=(went_back,))
    [record] = compression_entries(metadata)
    assert seen(record).endswith("5.1k → 1.5k · v view ─")
    taken_back = replace(went_back, at="2024-10-15T00:01:00.000000Z", undoes=went_back.at)
    [record] = compression_entries(replace(metadata, restores=(went_back, taken_back)))
    assert "u undo" in seen(record)


def test_it_opens_to_the_checkpoint_and_its_ledger() -> None:
    [fold] = compression_entry(COMPRESSION).folds
    assert fold.title == "checkpoint · detailed · 34 messages · 2.6k → 209 tokens"
    assert fold.text == f"{SUMMARY}\n\n{LEDGER_TEXT.strip()}"


def test_a_checkpoint_loses_what_steers_a_terminal() -> None:
    evil = replace(CHECKPOINT, summary="a\x1b]52;c;eA==\x07b", facts="\u202ec")
    [fold] = compression_entry(replace(COMPRESSION, created=(evil,))).folds
    assert fold.text == "ab\n\nc"


def test_a_checkpoint_without_a_summary_says_why() -> None:
    bare = replace(CHECKPOINT, summary="", facts="")
    [fold] = compression_entry(replace(COMPRESSION, created=(bare,))).folds
    assert fold.text == "(no summary: no model used)"


# Its place


def branch(*keys: str) -> list[Entry]:
    return [Entry(key, "user", key) for key in keys]


def keys_of(entries: list[Entry]) -> list[str]:
    return [entry.key for entry in entries]


def test_each_stands_after_the_message_it_followed() -> None:
    keys = ("m39", "m40", "m41", "m44")
    found = with_compressions(branch(*keys), after((COMPRESSION, LATER)), keys)
    assert keys_of(found) == ["m39", "m40", "compression-1", "m41", "m44", "compression-2"]


def test_one_of_another_branch_is_not_there() -> None:
    keys = ("m39", "m50")
    assert keys_of(with_compressions(branch(*keys), after((COMPRESSION,)), keys)) == ["m39", "m50"]


def test_several_after_one_message_stand_in_their_order() -> None:
    again = replace(LATER, last="m40")
    found = with_compressions(branch("m40"), after((UNDONE, again)), ("m40",))
    assert keys_of(found) == ["m40", "compression-1", "compression-2"]


# As it happens


async def test_a_compression_leaves_its_record_at_the_end_of_the_stream() -> None:
    async with desk((120, 30)) as (app, pilot):
        await tell(app, pilot, whole_story())
        assert app.stream[-2:] == [text_of(COMPRESSION), f"▸ {_title()}"]
        app.transcript.toggle_folds(compression_key(COMPRESSION))
        await pilot.pause()
        assert any("open: restart in the middle of a job" in line for line in app.stream)


async def test_an_undo_changes_the_record_where_it_stands() -> None:
    async with desk((120, 30)) as (app, pilot):
        await tell(app, pilot, whole_story())
        app.transcript.add(Entry("m41", "user", "And then?"))
        app.history = (UNDONE,)
        app.view.show_records()
        await pilot.pause()
        assert text_of(UNDONE) in app.stream and text_of(COMPRESSION) not in app.stream
        assert app.stream[-1].endswith("And then?")


@pytest.mark.more
async def test_a_second_one_takes_the_undo_from_the_first() -> None:
    async with desk((120, 30)) as (app, pilot):
        await tell(app, pilot, whole_story())
        app.history = (COMPRESSION, LATER)
        await tell(app, pilot, [STARTED, ContextCompressed(compression=LATER)])
        assert [line for line in app.stream if "u undo" in line] == [text_of(LATER)]


@some(
    2,
    ("event", "words"),
    [
        (
            CompressionCancelled(),
            "Compression cancelled · /compact starts again",
        ),
        (
            CompressionFailed(error="no model answers", hint="F7 chooses one", kind="Unavailable"),
            "! Not compressed: no model answers · F7 chooses one",
        ),
        (
            CompressionSkipped(reason="nothing-to-do", message="nothing to fold yet"),
            "nothing to fold yet",
        ),
        (
            UserMessagesFill(tokens=3600, limit=6963, foldable=4),
            "Your messages take 3.6k of 7.0k tokens and are not folded automatically · /compact "
            "--mine folds the oldest, quoting what they ask for",
        ),
    ],
)
async def test_what_was_not_done_is_said_once_with_what_to_do(
    event: AnyCompressionEvent, words: str
) -> None:
    async with desk((200, 50)) as (app, pilot):
        for _ in range(3):
            await tell(app, pilot, [event])
        assert [line for line in app.stream if line == words] == [words]
        await tell(app, pilot, whole_story())
        assert words not in app.stream


def _title() -> str:
    return compression_entry(COMPRESSION).folds[0].title

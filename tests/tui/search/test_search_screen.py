"""The search screen on real files: found while typing, seen in its place, narrowed by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.provider import TextDelta
from ollm_tui.core.search import IndexProgress
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from ollm_tui.tui.search.facet_bar import FacetBar
from ollm_tui.tui.search.hit_timeline import HitTimeline
from ollm_tui.tui.search.saved_search_picker import SavedSearchPicker
from ollm_tui.tui.search.screen import SearchLine
from tests.cases import some
from tests.crash.samples import begin, user_message
from tests.tui.conftest import OpenApp
from tests.tui.search_desk import desk
from tests.tui.search_samples import full_id
from tests.tui.seen import send


async def test_what_was_said_is_found_while_typing_and_grouped_by_session(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.press("f4")
        assert "Type words or a question to search all sessions" in at.lines[0]
        await at.type("retr")
        assert "6 matches in 3 sessions · " in at.count
        assert "celery vs rq 2 matches" in at.lines
        assert "09 Oct 2025 you How many retries does celery do by…" in at.lines
        await at.type("xyz")
        assert at.lines[0].startswith("No matches.")
        assert at.count.startswith("0 matches in 0 sessions")


async def test_the_hit_is_seen_in_its_conversation_with_the_words_marked(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("jitter")
        assert at.stream.keys == ["s0m0", "s0m1", "s0m2", "s0m3"]
        assert at.stream.cursor.key == "s0m1"
        assert at.stream.finder.position == (1, 1)
        assert at.stream.finder.key == "s0m1"


@pytest.mark.more
async def test_the_first_hit_is_highlighted_when_better_ones_come_until_one_moves(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("retr")
        found = at.screen.reading.results
        better = found._replace(sessions=found.sessions[::-1])
        at.screen.show_results(better, is_new=False)
        await at.settle()
        assert at.hit == at.hits[0] == better.sessions[0].hits[0].message_id
        await at.press("down")
        at.screen.show_results(found, is_new=False)
        assert at.hit == better.sessions[0].hits[0].message_id != at.hits[0]


async def test_a_hit_in_the_output_of_a_tool_is_unfolded(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("gave role:tool")
        [fold] = at.stream.entry("s3m1").folds  # with the call
        assert fold.is_open


async def test_a_hit_on_another_branch_says_so_and_is_shown_there(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("queue outside")
        assert at.hits == ["s0b3"]
        assert at.lines[1].endswith("other branch")
        assert at.stream.keys == ["s0m0", "s0m1", "s0m2", "s0b3"]


async def test_a_match_says_why_it_is_there_in_a_word(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home, size=(100, 30)) as at:
        await at.search("jitter")
        results = at.screen.reading.results
        [group] = results.sessions
        hits = tuple(hit._replace(why="both") for hit in group.hits)
        at.screen.show_results(results._replace(sessions=(group._replace(hits=hits),)), is_new=True)
        await at.settle()
        assert at.lines[1].endswith("full jitter** and a… both")


async def test_what_is_no_filter_is_told_in_one_line(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("role:nobody ")
        assert at.notes == "role:nobody is not a filter (role: takes user, assistant, system, tool)"
        await at.press(*["backspace"] * 20)
        assert at.notes == ""


@some(2, "text", ('"', "((", "'; DROP TABLE words", "😀 " * 50, "a" * 3000, "*"))
async def test_any_text_is_harmless_and_searching_goes_on(
    open_app: OpenApp, home: Path, text: str
) -> None:
    async with desk(open_app, home) as at:
        await at.press("f4")
        at.screen.query_one(SearchLine).value = text
        await at.settle()
        at.screen.query_one(SearchLine).value = "jitter"
        await at.settle()
        assert at.hits == ["s0m1"]


async def test_what_was_not_found_is_looked_for_again_while_sessions_are_read(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("nebula")
        assert at.hits == []
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        begin(library.store, "late", user_message("m-late", "about the nebula"))
        history = HistorySearch(library.store)
        history.refresh()
        history.close()
        at.screen.reading.show_progress(IndexProgress(1, 2))
        await at.settle()
        assert at.hits == ["m-late"]


# Narrowing


async def test_facets_are_filter_words_in_the_line(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("retries")
        await at.press("tab")
        assert isinstance(at.screen.focused, FacetBar)
        await at.press("space")
        assert at.screen.text == "retries role:user"
        assert sorted(at.hits) == ["s0m0", "s1m0"]
        await at.press("right", "right", "space")
        assert at.screen.text == "retries role:user role:tool"
        assert sorted(at.hits) == ["s0m0", "s1m0", "s3m2"]
        await at.press("left", "left", "space")
        assert at.screen.text == "retries role:tool"
        assert at.hits == ["s3m2"]


@pytest.mark.more
async def test_models_and_projects_that_were_found_are_facets(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.search("retries")
        bar = at.screen.query_one(FacetBar).render_line(0).text
        assert "model ○ qwen2.5-coder:1.5b  ○ gemma3:4b" in bar
        assert "in ○ uploader" in bar
        await at.press("tab", *["right"] * 4, "enter")
        assert at.screen.text == "retries model:gemma3:4b"
        assert sorted(at.hits) == ["s1m0", "s1m1"]


async def test_facets_that_do_not_fit_in_a_line_go_on_in_the_next(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home) as at:
        await at.pilot.resize_terminal(100, 40)
        await at.search("retries")
        await at.settle()
        bar = at.screen.query_one(FacetBar)
        lines = [bar.render_line(y).text for y in range(bar.size.height)]
        assert len(lines) == 2 and lines[1].strip().startswith("only ○ with tools")
        for title in ("you", "gemma3:4b", "uploader", "with tools", "pinned", "other branches"):
            assert any(f"○ {title}" in line for line in lines)
        x = lines[1].index("pinned") + 1  # its cell, behind the padding
        await at.pilot.click(FacetBar, offset=(x, 1))
        await at.settle()
        assert at.screen.text == "retries is:pinned"


async def test_the_timeline_is_moved_through_and_narrows(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("retries")
        await at.press("tab", "tab")
        strip = at.screen.query_one(HitTimeline)
        assert at.screen.focused is strip
        assert "Sun 2 Nov 2025 · 1 match" in strip.render_line(0).text
        assert at.hit == "s3m2"
        await at.press("left")
        assert "Tue 14 Oct 2025 · 3 matches" in strip.render_line(0).text
        await at.press("enter")
        assert at.screen.text == "retries in:2025-10-14"
        assert sorted(at.hits) == ["s0m0", "s0m1", "s0m3"]
        await at.press("backspace")
        assert at.screen.text == "retries"
        assert len(at.hits) == 6


async def test_the_order_is_changed_by_a_key(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("retries")
        assert at.hit == "s1m0"
        assert "Ctrl+O by time" in at.keys
        await at.press("ctrl+o")
        assert at.hit == "s3m2"
        assert "Ctrl+O by relevance" in at.keys


async def test_a_search_is_kept_taken_again_and_let_go(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("retries in:2025-10")
        await at.press("ctrl+s", "enter")
        assert at.keys == "Saved · Ctrl+S lists saved searches"
        await at.press(*["backspace"] * 30)
        await at.press("ctrl+s", "enter")
        assert at.screen.text == "retries in:2025-10"
        assert len(at.hits) == 5
        await at.press("ctrl+s", "ctrl+d")
        picker = at.app.screen
        assert isinstance(picker, SavedSearchPicker)
        assert [line.text for line in picker._lines()] == ["Save: retries in:2025-10"]  # pyright: ignore[reportPrivateUsage] what it shows
        await at.press("escape")


# Small screens


@pytest.mark.more
async def test_on_a_small_screen_the_place_is_shown_on_demand(
    open_app: OpenApp, home: Path
) -> None:
    async with desk(open_app, home, size=(60, 20)) as at:
        await at.search("jitter")
        assert not at.screen.preview.display
        await at.press("f4")
        assert at.screen.preview.display and not at.screen.hit_list.display
        assert at.stream.cursor.key == "s0m1"
        await at.press("escape")
        assert at.screen.hit_list.display and at.screen.focused is at.screen.hit_list


async def test_the_whole_screen_goes_from_hit_to_hit(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("retries")
        await at.press("f4", "n")
        assert at.stream.cursor.key == "s1m1"
        await at.press("n")
        assert at.stream.cursor.key == "s0m0"
        await at.press("N")
        assert at.stream.cursor.key == "s1m1"


# The index


async def test_what_was_just_said_is_found_without_leaving(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home, script=[[TextDelta("An answer about zebras.")]]) as at:
        await send(at.app, at.pilot, "tell me about zebras")
        await at.search("zebras")
        assert [hit.session_id for hit in at.screen.hit_list.hits] == [full_id(2)] * 2


@pytest.mark.more
async def test_what_was_looked_for_last_is_there_again(open_app: OpenApp, home: Path) -> None:
    async with desk(open_app, home) as at:
        await at.search("jitter")
        await at.press("escape", "f4")
        assert at.screen.text == "jitter"
        await at.type("grid")
        assert at.screen.text == "grid"

"""When two calls, two results or two replies count as the same, and what was asked for."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.engine.loops.allowances import repetitions_asked
from ollm_tui.engine.loops.canonical import call_digest, shape_digest
from ollm_tui.engine.loops.normalising import steady
from ollm_tui.engine.loops.replies import Replies, Reply, similarity
from tests.cases import every

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def turned(value: Any) -> Any:
    """The same value with every object written the other way round."""
    if isinstance(value, dict):
        return {key: turned(inner) for key, inner in reversed(value.items())}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] any JSON
    return [turned(inner) for inner in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType] any JSON


@given(json_values)
def test_the_order_of_names_makes_no_other_call(value: Any) -> None:
    assert call_digest("t", {"a": value}) == call_digest("t", {"a": turned(value)})


@given(json_values, json_values)
def test_other_arguments_make_another_call(one: Any, other: Any) -> None:
    same = call_digest("t", one) == call_digest("t", other)
    assert same == (repr(_plain(one)) == repr(_plain(other)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((key, _plain(inner)) for key, inner in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] any JSON
    if isinstance(value, list):
        return ("list", [_plain(inner) for inner in value])  # pyright: ignore[reportUnknownVariableType] any JSON
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_arguments_may_be_nested_deeper_than_python_recurses() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    assert call_digest("t", deep) != call_digest("t", [deep])


@every(
    ("one", "other", "same"),
    [
        ({"path": "a", "offset": 1}, {"path": "a", "offset": 200}, True),
        ({"code": "sed -n '1,80p' a.py"}, {"code": "sed -n '81,160p' a.py"}, True),
        ({"code": "head -20 a.py"}, {"code": "head -40 a.py"}, True),
        ({"path": "chapter1.txt"}, {"path": "chapter2.txt"}, False),
        ({"path": "a", "offset": 1}, {"path": "b", "offset": 1}, False),
        ({"on": True}, {"on": False}, False),
    ],
)
def test_pages_have_one_shape(one: Any, other: Any, same: bool) -> None:
    assert (shape_digest("t", one) == shape_digest("t", other)) == same


@every(
    ("one", "other"),
    [
        ("3 passed in 0.12s", "3 passed in 1.4s"),
        ("took 900 ms.", "took 1.1 s."),
        ("at 10:00:01,123 INFO up", "at 10:02:07,001 INFO up"),
        ("2026-01-01T10:00:01.5Z up", "2026-01-02T11:00:00Z up"),
        ("sshd[1234]: no", "sshd[977]: no"),
        ("[1] 40721\nlistening", "[1] 40933\nlistening"),
        ("started, pid 402", "started, pid 77"),
        ("<A at 0x7f3a00>", "<A at 0x55ffe0>"),
        ('{"id":"a1","requestId": 55}', '{"id":"b2","requestId": 56}'),
        ("created 9f2e1c77ab20", "created 01e8c9d7b2a4"),
        ("6f1c0d8e-1111-4222-8333-1234567890ab", "00000000-1111-4222-8333-1234567890ff"),
        ("see /tmp/tmpa8x1/out", "see /tmp/tmpk2_9/out"),
        ("see logs/2026-05-01T10_00_01Z.log", "see logs/2026-05-01T10_02_17Z.log"),
        ("==4711== Invalid read", "==88== Invalid read"),
        ("thread 'main' (3117) panicked", "thread 'main' (902) panicked"),
        ("goroutine 7 [running]:", "goroutine 21 [running]:"),
        ("reset by 127.0.0.1:50412", "reset by 127.0.0.1:41999"),
        ("Randomized with seed 1234", "Randomized with seed 88"),
        ("x" * 9000 + "1 " + "y" * 9000, "x" * 9000 + "2 " + "y" * 9000),
    ],
)
def test_times_ids_and_addresses_are_no_news(one: str, other: str) -> None:
    assert steady(one).text == steady(other).text


@every(
    ("one", "other"),
    [
        ("3 passed", "4 passed"),
        ("42 %", "43 %"),
        ("app.py:12:34: error", "app.py:13:34: error"),
        ("valid: 5", "valid: 6"),
        ("item 3 of 9", "item 4 of 9"),
        ("[info] 300 left", "[info] 200 left"),
        ("10.0.0.1", "10.0.0.2"),
        ("localhost:8000", "localhost:3000"),
        ("size:41234", "size:52345"),
        ("x" * 9000 + " 3 failed", "x" * 9000 + " 2 failed"),
    ],
)
def test_other_numbers_are_news(one: str, other: str) -> None:
    assert steady(one).text != steady(other).text


@given(st.text("ab c", max_size=40), st.text("ab c", max_size=40))
def test_similarity_is_at_least_what_difflib_finds(one: str, other: str) -> None:
    found = similarity(one, other)
    assert SequenceMatcher(None, one, other, autojunk=False).ratio() <= found + 1e-9
    assert 0 <= found <= 1
    assert found == similarity(other, one)


@every(
    ("one", "other", "alike"),
    [
        ("I will look at the file again now.", "I'll look at the file again now.", True),
        ("Attempt 2: it still does not build.", "Attempt 3: it still does not build.", True),
        ("Step 2: it still does not build.", "Step 3: it still does not build.", True),
        ("#4. It still does not build.", "#5. It still does not build.", True),
        ("Step 2: 14 tests fail now.", "Step 3: 12 tests fail now.", False),
        ("**Done.** All is well here.", "Done. All is  well here!", True),
        ("Step 2 of 9 is done now.", "Step 3 of 9 is done now.", False),
        ("The module a.py is fine as it is.", "The module b.py is fine as it is.", False),
        ("Yes.", "No.", False),
    ],
)
def test_replies_are_alike_unless_something_else_is_said(one: str, other: str, alike: bool) -> None:
    assert Reply.of(one).is_like(Reply.of(other)) == alike


@every(
    ("text", "times"),
    [
        ("run it 5 times", 5),
        ("Please run tests/a.py ten times, I think it is flaky", 10),
        ("Now do it twice", 2),
        ("and call the API 10x", 10),
        ("3 more times", 3),
        ("Write 'I will not. Ever.' 12 times", 12),
        ("poll it every 10 seconds", 30),
        ("run the suite until it fails", 30),
        ("Watch deploy.log and tell me when it finishes", 30),
        ("Keep checking the site until it comes back up", 30),
        ("print 20 copies of it", 20),
        ("check why the build breaks when it is empty", 0),
        ("fix the bug and run the tests until they pass", 0),
        ("The upload failed 3 times, fix it", 0),
        ("make the uploader retry 5 times before giving up", 0),
        ("I ran it 5 times already", 0),
        ("fix the tests and keep going until all pass", 0),
        ("", 0),
        (f"{'pasted text ' * 9999}\nrun it 7 times", 7),
    ],
)
def test_only_orders_ask_for_repetitions(text: str, times: int) -> None:
    assert repetitions_asked(text) == times


def test_a_reply_is_repeated_also_between_other_words_for_it() -> None:
    replies = Replies()
    said = ["Let me look now.", "I will look now.", "Let me look now.", "I'll have a look."]
    assert not any(replies.add(text, 3) for text in said)
    found = replies.add("Let me look now.", 3)
    assert found and (found.type, found.count) == ("repeated-output", 3)


def test_a_reply_that_comes_back_after_many_others_is_none() -> None:
    replies = Replies()
    others = (f"Step {number}: {word} is next." for number, word in enumerate("abcdefghi"))
    said = [text for other in others for text in (other, f"So {other}")]
    assert not any(
        replies.add(text, 3) for text in ("Done.", *said[:6], "Done.", *said[6:], "Done.")
    )

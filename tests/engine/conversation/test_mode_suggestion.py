"""Which mode fits what was asked: by the form of what was sent and what became of calls."""

from __future__ import annotations

import pytest

from ollm_tui.core.session.message import Attachment, Message, Part, Text, ToolResultPart
from ollm_tui.engine.conversation.mode_suggestion import suggested_mode
from ollm_tui.engine.conversation.modes import BUILT_IN

DIFF = """diff --git a/x.py b/x.py
--- a/x.py
+++ b/x.py
@@ -1,2 +1,2 @@
 def f():
-    return 1
+    return 2
"""
PYTHON = """Traceback (most recent call last):
  File "x.py", line 3, in <module>
    f(0)
  File "x.py", line 1, in f
    return 1 / n
ZeroDivisionError: division by zero
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'x')
    at load (/srv/app/load.js:10:5)
    at Object.<anonymous> (/srv/app/main.js:3:1)
"""
JAVA = """Exception in thread "main" java.lang.NullPointerException: oh
\tat com.example.Main.run(Main.java:12)
\tat com.example.Main.main(Main.java:5)
"""
PLAN = "# Next\n- [x] parser\n- [ ] printer\n- [ ] docs\n"
PROSE = "Please debug, review and plan this error:\nthe traceback is long.\nWhat failed?"


def turn(*parts: Part, results: tuple[ToolResultPart, ...] = ()) -> list[Message]:
    return [
        Message("1", "user", parts, "2026-01-01T00:00:00Z"),
        *(Message(f"t{each.call_id}", "tool", (each,), "2026-01-01T00:00:01Z") for each in results),
        Message("2", "assistant", (Text("fine"),), "2026-01-01T00:00:02Z"),
    ]


def attached(content: str, name: str = "paste 1") -> Attachment:
    return Attachment(name, "text/plain", content)


def result(
    number: int, name: str = "exec", *, fails: bool = False, ours: bool = False
) -> ToolResultPart:
    return ToolResultPart(f"c{number}", name, "text", is_error=fails, trusted=ours)


@pytest.mark.parametrize(
    ("content", "mode"),
    [
        (DIFF, "reviewer"),
        (PYTHON, "debugger"),
        (NODE, "debugger"),
        (JAVA, "debugger"),
        (PLAN, "planning"),
    ],
)
def test_the_form_of_what_was_sent_suggests_a_mode(content: str, mode: str) -> None:
    for parts in ((Text("What about this?"), attached(content)), (Text(content),)):
        found = suggested_mode(turn(*parts), BUILT_IN["assistant"])
        assert found and found.mode == mode and 0.5 <= found.confidence <= 1
    assert suggested_mode(turn(attached(content)), BUILT_IN[mode]) is None, "it is that already"


@pytest.mark.parametrize(
    "content",
    [
        PROSE,
        "",
        "a.py:3: x = 1\nb.py:4: y = 2\n",
        DIFF + "words of mine\n" * 20,
        "- [ ] one",
        "+ 1\n- 2\n",
    ],
)
def test_words_searches_and_a_small_share_suggest_nothing(content: str) -> None:
    assert suggested_mode(turn(Text(content)), BUILT_IN["assistant"]) is None


def test_confidence_is_the_share_that_shows_the_sign() -> None:
    calls = tuple(result(number, fails=number < 3) for number in range(4))
    found = suggested_mode(turn(Text("go"), results=calls), BUILT_IN["assistant"])
    assert found == ("debugger", 0.75, "3 of 4 calls failed")
    refused = tuple(result(number, fails=True, ours=True) for number in range(4))
    assert suggested_mode(turn(Text("go"), results=refused), BUILT_IN["assistant"]) is None


def test_a_mode_without_the_tools_that_are_asked_for_suggests_one_that_has_them() -> None:
    asked = turn(Text("go on"), results=(result(1, "write_file", fails=True),))
    found = suggested_mode(asked, BUILT_IN["planning"])
    assert found and (found.mode, found.confidence) == ("developer", 1.0)
    assert suggested_mode(asked, BUILT_IN["assistant"]) is None


def test_only_the_last_turn_counts_and_nothing_said_suggests_nothing() -> None:
    assert suggested_mode([*turn(Text(DIFF)), *turn(Text("thanks"))], BUILT_IN["assistant"]) is None
    assert suggested_mode([], BUILT_IN["assistant"]) is None
    assert suggested_mode(turn(Text("x"))[1:], BUILT_IN["assistant"]) is None

"""edit_file: one place is changed, exactly or by likeness, or it is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ollm_tui.core.errors import ToolError
from ollm_tui.tools.edit_file import EditFile
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.text_match import edited
from tests.tools.conftest import call

CODE = """class Greeter:
    def greet(self, name):
        message = f"hello, {name}"
        print(message)
        return message

    def leave(self, name):
        print(f"good bye, {name}")
"""


def test_an_exact_text_is_replaced() -> None:
    assert edited("a b c\n", "b", "B").text == "a B c\n"


def test_every_place_is_replaced_when_that_is_wanted() -> None:
    change = edited("x = 1\nx = 1\n", "x = 1", "y = 2", every=True)
    assert change.text == "y = 2\ny = 2\n" and change.places == 2


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("print", r"old is there 2 times \(lines 4, 8\); add lines around it"),
        ("", "old is empty"),
        ("name", "old is there 4 times"),
        ("def unknown(self): pass", "old is not in the file"),
        ("   \n ", "only white space"),
    ],
)
def test_what_is_not_one_place_is_an_error(old: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        edited(CODE, old, "new")


def test_the_same_old_and_new_are_an_error() -> None:
    with pytest.raises(ToolError, match="the same"):
        edited(CODE, "print(message)", "print(message)")


def test_a_wrong_indent_is_found_and_the_new_lines_get_the_right_one() -> None:
    old = 'message = f"hello, {name}"\nprint(message)\n'
    new = 'message = f"hi, {name}"\nif name:\n    print(message)\n'
    change = edited(CODE, old, new)
    assert not change.is_exact
    assert '        message = f"hi, {name}"\n        if name:\n            print(message)\n' in (
        change.text
    )
    assert change.text.endswith("        return message\n" + CODE.partition("return message\n")[2])


def test_tabs_for_spaces_are_found() -> None:
    change = edited("if x:\n\tif y:\n\t\tz()\n", "    if y:\n        z()", "    if y:\n        w()")
    assert change.text == "if x:\n\tif y:\n\t\tw()\n"


def test_trailing_blanks_and_controls_the_model_never_saw_do_not_matter() -> None:
    assert edited("a = 1   \nb = \x0c2\n", "a = 1\nb = 2", "c = 3").text == "c = 3\n"


def test_an_almost_equal_block_is_found_when_it_is_the_only_one() -> None:
    old = '    def leave(self, name):\n        print(f"goodbye, {name}")'
    change = edited(CODE, old, "    def leave(self):\n        pass")
    assert change.text.endswith("    def leave(self):\n        pass\n") and not change.is_exact


def test_two_almost_equal_blocks_are_an_error() -> None:
    text = "value_number_one = compute(1, 2)\nother\nvalue_number_one = compute(1, 3)\n"
    with pytest.raises(ToolError, match="something like it 2 times"):
        edited(text, "value_number_one = compute(1, 4)", "x")


def test_what_is_not_there_is_answered_with_the_closest_lines() -> None:
    with pytest.raises(ToolError) as wrong:
        edited(CODE, "        print(f'farewell to {name}')", "x")
    assert wrong.value.message.endswith('8\t        print(f"good bye, {name}")')


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("a\r\nb\r\nc\r\n", "b\n", "x\ny\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc", "c", "d", "a\r\nb\r\nd"),
        ("a\r\nb\r\nc", "a\nb", "x", "x\r\nc"),
        ("a\r\nb\nc\n", "b\n", "x\ny\n", "a\r\nx\ny\nc\n"),
        ("a\nb\n\r\nc", "b\n\nc", "z", "a\nz"),
        ("a\n  b", "b\n", "c\n", "a\n  c"),
        ("a\n  bee\n", "bee\nx", "", None),
        ("one\n  two  \nthree\n", "two\nthree\n", "", "one\n"),
    ],
)
def test_line_ends_and_the_last_one_stay_as_they_are(
    text: str, old: str, new: str, after: str | None
) -> None:
    if after is None:
        with pytest.raises(ToolError):
            edited(text, old, new)
    else:
        assert edited(text, old, new).text == after


def test_a_long_file_is_searched_for_what_is_almost_there() -> None:
    lines = [f"value_{number} = compute({number}, 'some words')" for number in range(5_000)]
    old = "an_entirely_other_line(with, arguments)\nand_another_one()"
    with pytest.raises(ToolError, match="not in the file"):
        edited("\n".join(lines), old, "x")


WORDS = st.sampled_from(["a", "b", "ab", "if x:", "  ", "\t", "return", "\n", "\r\n", "é", "x=1"])
TEXTS = st.lists(WORDS, max_size=40).map("".join)


@given(TEXTS, TEXTS, TEXTS)
def test_an_edit_changes_one_place_or_is_an_error(text: str, old: str, new: str) -> None:
    try:
        change = edited(text, old, new)
    except ToolError:
        return
    _one_place(text, change.text, old, new)


@given(TEXTS, st.data())
def test_an_edit_of_text_that_is_there_once_replaces_exactly_that(
    text: str, data: st.DataObject
) -> None:
    plain = text.replace("\r\n", "\n")
    assume(plain)
    start = data.draw(st.integers(0, len(plain) - 1))
    old = plain[start : data.draw(st.integers(start + 1, len(plain)))]
    assume(plain.count(old) == 1 and plain.find(old) == plain.rfind(old))
    change = edited(text, old, "NEW\n")
    assert change.is_exact
    assert change.text.replace("\r\n", "\n") == plain.replace(old, "NEW\n")


@given(st.lists(st.sampled_from(["alpha(1)", "beta = 2", "", "gamma:"]), min_size=1, max_size=12))
def test_lines_with_another_indent_are_replaced_as_whole_lines(lines: list[str]) -> None:
    text = "\n".join(f"    {line}" if line else "" for line in lines) + "\n"
    old = "\n".join(lines[1:3])
    try:
        change = edited(text, old, "NEW")
    except ToolError:
        return
    before, after = text.split("\n"), change.text.split("\n")
    changed = [line for line in after if "NEW" in line]
    assert len(changed) == 1
    at = after.index(changed[0])
    if not change.is_exact:
        assert changed == ["    NEW"]
        assert before[:at] == after[:at] and before[at + len(lines[1:3]) :] == after[at + 1 :]


def _one_place(text: str, after: str, old: str, new: str) -> None:
    """All that differs is one run of characters, no longer than what was to be replaced was."""
    start = next(
        (at for at, (one, two) in enumerate(zip(text, after, strict=False)) if one != two),
        min(len(text), len(after)),
    )
    rest = min(len(text), len(after)) - start
    end = next((at for at in range(rest) if text[-1 - at] != after[-1 - at]), rest)
    gone, come = text[start : len(text) - end], after[start : len(after) - end]
    assert gone.count("\n") <= old.count("\n") + 1
    assert come.count("\n") <= new.count("\n") + 1


async def test_a_plan_shows_the_real_change(scope: Scope, memory: FilesRead, project: Path) -> None:
    (project / "a.py").write_text(CODE)
    edit = EditFile(scope, memory)
    planned = await edit.plan({"path": "a.py", "old": "return message", "new": "return None"})
    assert "-        return message\n+        return None\n" in planned.action.diff
    assert (project / "a.py").read_text() == CODE
    outcome = await planned.run(lambda _: None)
    assert outcome.text == "changed a.py: +1 −1 lines, from line 5"
    assert "return None" in (project / "a.py").read_text()


async def test_a_change_by_likeness_says_so(scope: Scope, memory: FilesRead, project: Path) -> None:
    (project / "a.py").write_text(CODE)
    called = await call(
        EditFile(scope, memory), path="a.py", old="print(message)\nreturn message", new="pass"
    )
    assert "old was not exact" in called.text
    assert "+        pass\n" in called.action.diff and called.action.diff in called.text


async def test_what_cannot_be_edited_is_refused(
    scope: Scope, memory: FilesRead, project: Path
) -> None:
    (project / "program").write_bytes(b"\x7fELF\0")
    (project / "same.py").write_text("    x = compute()\n    y = 2\n")
    edit = EditFile(scope, memory)
    for path, old, new, message in (
        ("gone.py", "a", "b", "write_file creates one"),
        ("program", "ELF", "b", "a program, not a text"),
        ("same.py", "x = compute()\ny = 2", "    x = compute()\n    y = 2", "nothing would change"),
    ):
        with pytest.raises(ToolError, match=message):
            await call(edit, path=path, old=old, new=new)

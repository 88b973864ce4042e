"""What models send is read with patience; what is missing is said in one line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from ollm_tui.core.errors import ToolError
from ollm_tui.tools.call_arguments import Arguments, spec_of, understood


class Sample(Arguments, frozen=True):
    path: str
    old: Annotated[str, Meta(description="the exact text to replace")]
    count: int = 3
    all: bool = False
    kind: Literal["one", "two"] = "one"
    args: tuple[str, ...] = ()
    timeout: float | None = None


def read(**args: Any) -> Sample:
    return understood("sample", Sample, {"path": "p", "old": "o", **args})


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"count": "5"}, Sample(path="p", old="o", count=5)),
        ({"count": 5.0}, Sample(path="p", old="o", count=5)),
        ({"count": None, "timeout": None}, Sample(path="p", old="o")),
        ({"count": "", "all": ""}, Sample(path="p", old="o")),
        ({"all": "true"}, Sample(path="p", old="o", all=True)),
        ({"replace_all": True}, Sample(path="p", old="o", all=True)),
        ({"old": 7}, Sample(path="p", old="7")),
        ({"old": ""}, Sample(path="p", old="")),
        ({"kind": " TWO "}, Sample(path="p", old="o", kind="two")),
        ({"args": ["log", 5]}, Sample(path="p", old="o", args=("log", "5"))),
        ({"timeout": "1.5"}, Sample(path="p", old="o", timeout=1.5)),
        ({"whatever": [1, None]}, Sample(path="p", old="o")),
    ],
)
def test_a_value_that_can_be_understood_is(args: dict[str, Any], expected: Sample) -> None:
    assert read(**args) == expected


@pytest.mark.parametrize("name", ["file_path", "filename", "file"])
def test_other_names_for_a_path_are_understood(name: str) -> None:
    assert understood("sample", Sample, {name: "p", "old_string": "o"}).path == "p"


def test_our_own_name_wins_over_another_one() -> None:
    assert read(file_path="other").path == "p"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"old": None}, "sample needs old: the exact text to replace"),
        ({"path": None}, "sample needs path"),
        ({"count": "many"}, "sample: count must be a whole number"),
        ({"kind": "three"}, "sample: kind must be one of one, two"),
        ({"args": "log"}, "sample: args must be a list of strings"),
        ({"args": [None]}, "sample: args must be a list of strings"),
        ({"all": "maybe"}, "sample: all must be true or false"),
        ({"path": ["p"]}, "sample: path must be a string"),
        ({"path": True}, "sample: path must be a string"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(args: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError) as wrong:
        read(**args)
    assert wrong.value.message == message


def test_a_schema_has_only_what_a_model_needs() -> None:
    assert spec_of("sample", "Does it.", Sample).parameters == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old": {"type": "string", "description": "the exact text to replace"},
            "count": {"type": "integer"},
            "all": {"type": "boolean"},
            "kind": {"type": "string", "enum": ["one", "two"]},
            "args": {"type": "array", "items": {"type": "string"}},
            "timeout": {"type": "number"},
        },
        "required": ["path", "old"],
    }

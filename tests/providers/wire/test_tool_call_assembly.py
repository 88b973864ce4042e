"""Tool calls from pieces, in all the ways servers send them."""

from __future__ import annotations

from typing import Any

import pytest

from ollm_tui.providers.wire.tool_call_assembly import ToolCallAssembly


def piece(arguments: Any = None, *, name: str | None = None, **beside: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"function": {k: v for k, v in function.items() if v is not None}, **beside}


def calls(*pieces: dict[str, Any]) -> list[tuple[str, dict[str, Any], str | None]]:
    assembly = ToolCallAssembly()
    for one in pieces:
        assembly.feed([one])
    return [(call.name, call.args, call.raw_arguments) for call in assembly.finish()]


BOTH = [("look", {"a": 1}, None), ("read", {"b": 2}, None)]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [
                piece("", name="look", index=0, id="x"),
                piece('{"a"', index=0),
                piece("", name="read", index=1, id="y"),
                piece(": 1}", index=0),
                piece('{"b": 2}', index=1),
            ],
            id="by index, interleaved",
        ),
        pytest.param(
            [piece('{"a":1}', name="look", index=0), piece('{"b":2}', name="read", index=1)],
            id="no ids",
        ),
        pytest.param(
            [
                piece('{"a"', name="look", id="x"),
                piece(":1}", id="x"),
                piece('{"b":', name="read", id="y"),
                piece("2}"),
            ],
            id="no index",
        ),
        pytest.param(
            [piece('{"a":1}', name="look"), piece('{"b":2}', name="read")],
            id="neither index nor id",
        ),
        pytest.param(
            [
                piece('{"a":1}', name="look", index=0, id="x"),
                piece('{"b":', name="read", index=0, id="y"),
                piece("2}", index=0),
            ],
            id="always index 0",
        ),
        pytest.param(
            [
                piece('{"a"', name="look", index=0, id="x"),
                piece(":1}", name="look", index=0, id="x"),
                piece({"b": 2}, name="read", index=1, id="y"),
            ],
            id="name repeated, arguments an object",
        ),
    ],
)
def test_calls_are_whole_however_they_come(pieces: list[dict[str, Any]]) -> None:
    assert calls(*pieces) == BOTH


@pytest.mark.parametrize("raw", ['{"a": ', "[1]", '"text"', "not json"])
def test_arguments_that_cannot_be_read_are_kept_as_they_came(raw: str) -> None:
    assert calls(piece(raw, name="look", index=0)) == [("look", {}, raw)]


@pytest.mark.parametrize("empty", ["", "  ", "{}"])
def test_no_arguments_are_an_empty_object(empty: str) -> None:
    assert calls(piece(empty, name="look", index=0)) == [("look", {}, None)]


def test_every_call_has_an_id_of_its_own() -> None:
    assembly = ToolCallAssembly()
    assembly.feed([piece("{}", name="a", index=0), piece("{}", name="b", index=1)])
    assembly.feed([piece("{}", name="c", index=2, id="x"), piece("{}", name="d", index=3, id="x")])
    ids = [call.call_id for call in assembly.finish()]
    assert len(set(ids)) == 4
    assert "x" in ids
    assert "" not in ids

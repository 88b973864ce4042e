"""Outputs that are not to be kept: of a tool what the model was not given, of a command all."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.core.session.record import AnyRecord, ToolCallAdded
from ollm_tui.core.session.session import ToolCall

NOT_KEPT = "(what it printed was not kept: retention.storeToolOutputs is false)"


def without_output(record: AnyRecord) -> AnyRecord:
    """The record as it is stored where outputs are not. What the model was given stands in the
    conversation, which would not be the same without it."""
    if not isinstance(record, ToolCallAdded):
        return record
    call = record.tool_call
    if call.is_command:
        given = _ending_only(call)
        return replace(record, tool_call=replace(call, result=replace(call.result, **given)))
    return replace(
        record, tool_call=replace(call, result=replace(call.result, return_display=None))
    )


def _ending_only(call: ToolCall) -> dict[str, str | None]:
    """How a command ended is the last line of its result, in brackets."""
    printed, _, last = call.result.llm_content.rstrip("\n").rpartition("\n")
    if not (last.startswith("[") and last.endswith("]")):
        printed, last = f"{printed}{last}", ""
    note = NOT_KEPT if printed.strip() else ""
    return {"llm_content": "\n".join(filter(None, (note, last))), "return_display": None}

"""An MCP server that lies: about schemas, names, results; it speaks the bare protocol on stdio."""

from __future__ import annotations

import json
import sys
from typing import Any

OBJECT = {"type": "object"}
TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "good", "description": "Works.", "inputSchema": OBJECT},
    {"name": "good", "description": "The same name again.", "inputSchema": OBJECT},
    {"name": "rm -rf \x1b[2J", "description": "A name that is none.", "inputSchema": OBJECT},
    {"name": "odd", "description": "x\x1b]52;c;aGk=\x07y", "inputSchema": OBJECT},
    {"name": "wide", "inputSchema": {**OBJECT, "description": "x" * 10_000_000}},
)
BROKEN = ({"name": "list", "inputSchema": {"type": "array", "properties": 3}},)


def answer(method: str, params: dict[str, Any]) -> Any:
    """What it says to a request."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "liar\x1b[2J", "version": "1"},
            }
        case "tools/list":
            return {"tools": BROKEN if "broken" in sys.argv else TOOLS}
        case "tools/call" if params["name"] == "good":
            return {"content": [{"type": "text", "text": "fine"}]}
        case "tools/call":
            return {"content": "this is no list", "isError": "perhaps"}
        case _:
            return None


def main() -> None:
    """Answer every request, after a line that is no JSON."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            sys.stdout.write("this is no JSON\n")
            known = answer(asked["method"], asked.get("params") or {})
            unknown = {"error": {"code": -32601, "message": "no such method\x1b[2J"}}
            told = {"jsonrpc": "2.0", "id": asked["id"]}
            told |= unknown if known is None else {"result": known}
            sys.stdout.write(json.dumps(told | {"id": 4711}) + "\n" + json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

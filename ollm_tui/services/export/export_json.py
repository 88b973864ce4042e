"""JSON to keep or to hand on: readable, and safe to show in a terminal."""

from __future__ import annotations

import json
from typing import Any

from ollm_tui.core.intake import UNSAFE


def json_document(tree: Any) -> str:
    """The text of a JSON file, ending with a line end."""
    text = json.dumps(tree, indent=2, ensure_ascii=False)
    # Escapes keep the value and let the file be shown in a terminal and written as UTF-8.
    return UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"

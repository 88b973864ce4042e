"""A session as one file to keep or to hand on: JSON, Markdown or an HTML page."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Literal

from ollm_tui.core.encoding import to_tree
from ollm_tui.core.intake import UNSAFE
from ollm_tui.core.message import Message
from ollm_tui.core.session import Session
from ollm_tui.services.export_html import html_page
from ollm_tui.services.export_markdown import markdown_document
from ollm_tui.services.export_redaction import without_secrets
from ollm_tui.services.redaction.redactor import Redactor

ExportFormat = Literal["json", "md", "html"]


def export_session(session: Session, branch: Sequence[Message], export_format: ExportFormat) -> str:
    """The text of the file, without secrets. JSON holds all branches and can be imported again;
    the others show `branch`, the messages from the first to the current one."""
    session = without_secrets(session, Redactor.knowing(os.environ))
    redacted = {message.id: message for message in session.messages}
    branch = [redacted[message.id] for message in branch]
    if export_format == "json":
        return _json_document(session)
    if export_format == "md":
        return markdown_document(session, branch)
    return html_page(session, branch)


def _json_document(session: Session) -> str:
    text = json.dumps(to_tree(session), indent=2, ensure_ascii=False)
    # Escapes keep the value and let the file be shown in a terminal and written as UTF-8.
    return UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"

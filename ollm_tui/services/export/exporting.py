"""Exports a session as one file: JSON, Markdown or an HTML page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from ollm_tui.core.session.encoding import to_tree
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.services.export.shareable import json_document, without_secrets
from ollm_tui.services.redaction.redactor import Redactor

ExportFormat = Literal["json", "md", "html"]


def export_session(session: Session, branch: Sequence[Message], export_format: ExportFormat) -> str:
    """Return the text of the file, without secrets.

    JSON holds all branches and can be imported again; the other formats show `branch`, the
    messages from the first to the current one.
    """
    redactor = Redactor.knowing(os.environ)
    if export_format == "json":
        return json_document(to_tree(without_secrets(session, redactor)))
    # Only the branch is redacted: the other messages are not shown, but counted in the head.
    shown = without_secrets(replace(session, messages=tuple(branch)), redactor)
    branch, session = shown.messages, replace(shown, messages=session.messages)
    if export_format == "md":
        from ollm_tui.services.export.markdown_page import markdown_document

        return markdown_document(session, branch)
    from ollm_tui.services.export.html_page import html_page

    return html_page(session, branch)

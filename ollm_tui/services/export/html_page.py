"""A conversation as one self-contained HTML page, without scripts or other resources."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.services.export.blocks import (
    Block,
    CompressionMark,
    blocks,
    compressions_after,
    document_head,
    document_title,
    moment,
    speaker,
)
from ollm_tui.services.export.markdown_html import markdown_html

_STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfc; --ink: #1f2328; --soft: #667078;
  --line: #dcdfe3; --code: #f3f4f5; --user: #2c6e49; --assistant: #3657a8; --note: #9a3412; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #dfe2e6; --soft: #939ba4;
  --line: #33383e; --code: #1f2226; --user: #7fc79c; --assistant: #93b1f5; --note: #f0a57a; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1rem; margin: 0 0 .5rem; }
h3, h4, h5, h6 { font-size: 1.05rem; margin: 1.25rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; margin: 0; }
dl, time { color: var(--soft); font-size: .875rem; }
dd { margin: 0; }
article { border-top: 1px solid var(--line); margin-top: 1.5rem; padding-top: 1.25rem; }
article.tool { border-top: 0; margin-top: 0; padding-top: .25rem; }
article.user h2 { color: var(--user); }
article.assistant h2 { color: var(--assistant); }
time { font-weight: normal; margin-left: .5rem; }
p { margin: .5rem 0; white-space: pre-wrap; }
p.tight { margin: 0; }
ul, ol { margin: .5rem 0; padding-left: 1.75rem; }
li > ul, li > ol { margin: 0; }
pre, code { font: .875rem/1.5 ui-monospace, monospace; background: var(--code); }
code { border-radius: 3px; padding: .1em .3em; }
pre { border-radius: 6px; padding: .75rem 1rem; overflow-x: auto; }
pre code { padding: 0; }
table { border-collapse: collapse; margin: .75rem 0; }
th, td { border: 1px solid var(--line); padding: .25rem .75rem; text-align: left; }
th { background: var(--code); }
.right { text-align: right; }
.middle { text-align: center; }
.wide { overflow-x: auto; }
blockquote { border-left: 3px solid var(--line); color: var(--soft); margin: .75rem 0;
  padding: .1rem 0 .1rem 1rem; }
aside { background: var(--code); border-left: 3px solid var(--note); border-radius: 0 6px 6px 0;
  font-size: .9375rem; margin-top: 1.5rem; padding: .25rem 1rem; }
details { margin: .5rem 0; }
details > div { border-left: 3px solid var(--line); padding-left: 1rem; }
summary { color: var(--soft); cursor: pointer; }
.note { color: var(--note); font-size: .9375rem; }
a { color: inherit; }
a.named::after { content: " (" attr(href) ")"; color: var(--soft); }
hr { border: 0; border-top: 1px solid var(--line); }
"""


def html_page(session: Session, branch: Sequence[Message]) -> str:
    """Return the page. All foreign text in it is escaped, and its policy lets it load nothing."""
    title = escape(document_title(session, branch))
    facts = document_head(session, branch)
    head = "\n".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    compressions = compressions_after(session, branch)
    pieces = [
        piece
        for message in branch
        for piece in (_article(message), *map(_aside, compressions.get(message.id, ())))
    ]
    body = "\n".join(pieces)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1 dir="auto">{title}</h1>
<dl>
{head}
</dl>
{body}
</main>
</body>
</html>
"""


def _policy() -> str:
    """Return a content security policy that allows only the page's own style sheet."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _article(message: Message) -> str:
    heading = f"{escape(speaker(message))}<time>{escape(moment(message.timestamp))}</time>"
    body = "\n".join(map(_block_html, blocks(message)))
    return f'<article class="{message.role}">\n<h2>{heading}</h2>\n{body}\n</article>'


def _aside(mark: CompressionMark) -> str:
    """Return a compression, which is shown between two messages."""
    head = f"<p>{escape(mark.words)}<time>{escape(moment(mark.at))}</time></p>"
    body = "\n".join(map(_block_html, mark.blocks))
    return f"<aside>\n{head}\n{body}\n</aside>"


def _block_html(block: Block) -> str:
    match block.kind:
        case "words":
            return f'<div dir="auto">\n{markdown_html(block.text)}\n</div>'
        case "folded":
            return _folded(block, f'<div dir="auto">\n{markdown_html(block.text)}\n</div>')
        case "data":
            return _folded(block, f"<pre><code>{escape(block.text)}</code></pre>")
        case "note":
            return f'<p class="note">{_caption(block)}</p>'


def _folded(block: Block, body: str) -> str:
    return f"<details>\n<summary>{_caption(block)}</summary>\n{body}\n</details>"


def _caption(block: Block) -> str:
    return f"{block.label} <code>{escape(block.name)}</code>" if block.name else block.label

"""Names in text that must be spelled exactly: paths and identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ollm_tui.engine.compression.ledger.facts_words import word_set

_EXTENSIONS = (
    "py|pyi|ipynb|js|jsx|mjs|cjs|ts|tsx|vue|svelte|html?|css|scss|less|json5?|jsonl|ndjson|ya?ml"
    "|toml|ini|cfg|conf|env|properties|xml|svg|md|mdx|rst|txt|tex|adoc|csv|tsv|parquet|avro|orc"
    "|feather|arrow|xlsx?|ods|docx?|odt|rtf|pdf|epub|pptx?|sql|db|sqlite3?|duckdb|sh|bash|zsh|fish"
    "|ps1|bat|cmd|rs|go|java|kt|kts|scala|clj|rb|php|pl|lua|r|jl|swift|m|mm|c|h|cc|cpp|cxx|hpp|hh"
    "|cs|fs|ex|exs|erl|hs|ml|zig|nim|dart|proto|graphql|tf|tfvars|hcl|gradle|lock|log|patch|diff"
    "|png|jpe?g|gif|webp|ico|mp3|mp4|wav|zip|tar|gz|tgz|bz2|xz|zst|7z|whl|jar|so|dll|exe|pem|crt"
    "|key|pub|service|tcss|j2|tmpl|dockerfile|bib|blend|stl|gpx|ics|eml|kdbx|bak|tmp|pkl|npy|npz"
)
_PATH = re.compile(
    r"(?<![\w/.@:\\-])(?:"
    r"(?:~|\.{1,2})?/(?:[\w.@+-]{1,80}/){0,14}[\w.@+-]{1,80}/?"
    r"|(?:[\w.@+-]{1,80}/){1,14}(?:[\w.@+-]{1,80})?"
    rf"|[\w.@+-]{{1,80}}\.(?:{_EXTENSIONS})\b"
    r"|(?:Makefile|Dockerfile|Containerfile|Procfile|Justfile|Jenkinsfile|Vagrantfile|Gemfile"
    r"|README|LICENSE|CHANGELOG|\.env|\.gitignore|\.dockerignore|\.bashrc|\.zshrc)\b"
    r"|[A-Za-z]:\\(?:[^\s\\:*?\"<>|]{1,80}\\){0,14}[^\s\\:*?\"<>|]{1,80}"
    r")"
)
_BARE_FILES = word_set(
    "Makefile Dockerfile Containerfile Procfile Justfile Jenkinsfile Vagrantfile Gemfile"
)
_ODD = re.compile(r"[\d_/`@#\\]|[a-z][A-Z]|[A-Z]{2}|\.\w|\(\)|--|file\b")
"""Without one of these there is no name in a text."""
_AROUND = ".,;:!?\"'“”‘’()[]*_…"
_HAS_EXTENSION = re.compile(rf"[\w)\]]\.(?:{_EXTENSIONS})", re.IGNORECASE)
_FOLDERS = word_set(
    "src source lib libs test tests docs doc app apps bin scripts script config configs conf data "
    "etc usr var opt home tmp pkg cmd internal api web www public static assets templates models "
    "migrations notebooks dags pipelines jobs tools build dist deploy infra k8s charts terraform "
    "ansible packages modules services server client frontend backend components pages drafts "
    "chapters notes manuscript photos images recipes plans output outputs input raw staging "
    "examples bench benchmarks fixtures .github .vscode node_modules vendor third_party"
)
_NO_FILES = word_set("node.js vue.js next.js nuxt.js express.js d3.js three.js")

_IDENTIFIER = re.compile(
    r"[Hh]ttps?://[^\s<>\"'`\\)\]]{3,300}"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b"
    r"|(?<![\w&#])#\d{1,6}\b"
    r"|\b(?=[0-9]{0,39}[a-f])(?=[a-f]{0,39}[0-9])[0-9a-f]{7,40}\b"
    r"|\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8}\b"
    r"|\b[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}\b"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?\b"
    r"|\b[A-Za-z][\w-]{0,60}(?:\.[\w-]{1,60}){1,6}(?:\(\)|:\d{2,5}\b)"
    r"|\b[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,8}\b(?:\(\))?"
    r"|\b[a-zA-Z]\w{1,40}\(\)"
    r"|\b(?:[A-Z][a-z0-9]{1,30}){2,6}[A-Z]?\b"
    r"|\b[a-z]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}\b"
    r"|\b[a-z][a-z0-9]{1,20}(?:-[a-z0-9]{1,20}){1,5}-\d{1,6}\b"
    r"|\b[a-z]{1,8}-(?=[a-z]{0,16}\d)[0-9a-z]{5,17}\b"
    r"|(?<![\w-])--[a-z][a-z0-9-]{1,40}\b"
    r"|\b(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|io|dev|local|internal|example|app|ai|test)\b"
)
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
ASSIGNED = re.compile(r"\w[\"']?(?: ?= ?|: )\S")
"""What shows that a quotation gives something a value and is no name."""
_DEFINED = re.compile(
    r"^\s{0,20}(?:async )?(?:def|class|function|func|fn|interface|struct|type) (\w{2,60})"
)
_NO_NAMES = word_set(
    "UTF-8 UTF-16 SHA-1 SHA-256 SHA-512 ISO-8601 AES-256 RSA-2048 GPT-4 COVID-19 "
    "tool_call tool_calls function_call im_start im_end"
)


@lru_cache(maxsize=4096)
def odd_words(text: str) -> str:
    """The words of a text that are no plain words: what names are looked for in."""
    if not _ODD.search(text):
        return ""
    return " ".join(word for word in text.split() if not _is_plain(word.strip(_AROUND)))


def _is_plain(word: str) -> bool:
    if not word.isalpha():
        return not word
    return (len(word) == 1 or word[1:].islower()) and word not in _BARE_FILES


def paths_in(text: str) -> Iterator[str]:
    """Files and folders a text names; words joined by a stroke are not taken for one."""
    for found in _PATH.finditer(text):
        path = found[0].rstrip(".,:")
        before = text[max(found.start() - 3, 0) : found.start()]
        if _is_path(path) and not before.endswith("//") and path.lower() not in _NO_FILES:
            yield path


def _is_path(path: str) -> bool:
    if "/" not in path:
        return len(path) > 3
    first = next((part for part in path.split("/") if part), "")
    if not first or not any(map(str.isalpha, path)):
        return False
    rooted = path[0] in "~." or (path[0] == "/" and path.count("/") > 1)
    return (
        rooted
        or first in _FOLDERS
        or bool(_HAS_EXTENSION.search(path.rsplit("/", 1)[-1]))
        or (path.count("/") > 1 and "_" in path)
        or (path.endswith("/") and len(path) > 3)
    )


def identifiers_in(text: str, prose: bool = True) -> Iterator[str]:
    """Names that must be spelled exactly: tickets, hashes, addresses, variables, functions."""
    for found in _IDENTIFIER.finditer(text):
        if found[0] not in _NO_NAMES:
            yield found[0].rstrip(".,:;")
    if prose and "`" in text:
        yield from (found.strip() for found in _QUOTED.findall(text) if not ASSIGNED.search(found))


def defined_in(line: str) -> str:
    """The function or class a line of code defines."""
    found = _DEFINED.match(line)
    return found[1] if found else ""

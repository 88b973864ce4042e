"""Rules for private keys in PEM, PuTTY and JSON files, also in base64, and for web tokens."""

from __future__ import annotations

import re

from ollm_tui.services.redaction.rule import RIGHT, Rule, Span, compiled, token, whole
from ollm_tui.services.redaction.values import looks_random

_HEADER = (
    r"-----BEGIN (?:(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
)
_LABEL = r"[A-Za-z0-9 ]"
_ANYTHING = r"(?:[^-]|-(?!----[BE])){0,15000}+"
_BREAK = r"(?:\\[rn]|\s){1,4}+"
_LINES = (
    rf"(?:{_BREAK}[A-Za-z0-9+/=]{{30,100}}+){{0,140}}+"
    rf"(?:{_BREAK}[A-Za-z0-9+/=]{{1,30}}+(?![^\s\\\"']))?"
)
_KEY_DATA = r"[A-Za-z0-9+/=]{30}"


def _with_data(match: re.Match[str]) -> Span | None:
    """The match if it has key data: texts about keys name their first and last line alone."""
    return match.span() if compiled(_KEY_DATA).search(match[0]) else None


def _random(match: re.Match[str]) -> Span | None:
    return match.span("secret") if looks_random(match["secret"]) else None


PRIVATE_KEYS: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("-----BEGIN ",),
        # The end may be missing in output that was cut; then only lines of data belong to the key.
        rf"{_HEADER}(?:{_ANYTHING}-----END {_LABEL}{{3,60}}-----|{_LINES})",
        _with_data,
        unfinished=(
            rf"-----BEGIN (?:{_LABEL}{{0,60}}-{{0,4}}\Z"
            rf"|{_LABEL}{{0,60}}-----{_ANYTHING}(?:-----E(?:N|ND{_LABEL}{{0,60}}-{{0,4}})?)?\Z)"
        ),
    ),
    Rule(
        "private-key",
        ("Private-Lines: ",),
        r"Private-Lines: [0-9]{1,3}(?P<secret>(?:\s{1,2}[A-Za-z0-9+/=]{20,76}){1,150}+)",
        whole,
        unfinished=r"Private-Lines: [0-9]{0,3}(?:\s{1,2}[A-Za-z0-9+/=]{0,76}){0,150}\s{0,2}\Z",
    ),
    # JSON Web Keys: the parts of an RSA key, of a curve's, and the bytes of a symmetric one.
    Rule(
        "private-key",
        tuple(f'"{part}"' for part in ("d", "p", "q", "dp", "dq", "qi", "k")),
        r"\"[a-z]{1,2}\"\s{0,4}:\s{0,4}\"(?P<secret>[A-Za-z0-9_\-]{43,1400}+)={0,2}\"",
        _random,
        unfinished=r"\"[a-z]{1,2}\"\s{0,4}(?::\s{0,4}(?:\"[A-Za-z0-9_\-]{0,1400}+={0,2})?)?\Z",
    ),
    token("private-key", "RWRTY0Iy", r"RWRTY0Iy[A-Za-z0-9+/]{100,300}+={0,2}"),
    # "-----BEGIN " in base64, as in the configuration of clusters; certificates are public.
    token(
        "private-key",
        "LS0tLS1CRUdJTi",
        r"LS0tLS1CRUdJTi(?!BDRVJUSUZJ|BQVUJMSU)[A-Za-z0-9+/]{100,14000}+={0,2}",
    ),
    Rule(
        "jwt",
        ("eyJ",),
        r"(?:(?<![A-Za-z0-9_\-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
        r"eyJ[A-Za-z0-9_\-]{8,1500}+\.[A-Za-z0-9_\-]{0,8000}+\.[A-Za-z0-9_\-]{8,1500}+"
        rf"(?:\.[A-Za-z0-9_\-]{{4,1500}}+){{0,2}}+{RIGHT}",
        whole,
        begins_word=True,
    ),
)

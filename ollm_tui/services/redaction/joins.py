"""Patterns for what stands between the name of a secret and its value, in whatever language.

Each has an open form, which fits it where a text breaks off: a stream holds that back.
"""

from __future__ import annotations

from ollm_tui.services.redaction.rule import SPACE

VALUE_CHARACTERS = 128
"""How much of a value is judged; if that is a secret, the value is hidden to its end."""

BEFORE_QUOTE = r"(?:[bBrRuUfF@$]{0,2}|(?:\[\]byte|Secret(?:Str|String)?|String::from)\()"
"""Prefixes of texts in programming languages."""

COPULA = (
    "is|was|ist|war|lautet|heißt|heisst|wurde[ \\t]auf|est|était|devient"
    "|a[ \\t]été[ \\t]changé[ \\t]en|es|era|será|ha[ \\t]cambiado[ \\t]a"
    "|é|è|är|er|on|to[ \\t]jest|jest|este|это"
)
"""What says in a sentence that one thing is another, in several languages."""

_CLOSE = r"(?:[\\\"'`\]*]|%22){0,4}+[ \t]{0,30}+"
"""What ends a name in quotes, in an index or in bold."""
_TYPE = r"[ \t]{0,4}+[A-Za-z_&][\w.\[\]<>|&*?]{0,40}+[ \t]{0,4}+"
_TAG = r"(?:(?:!!?[A-Za-z]{1,12}|&[\w-]{1,30})[ \t]{1,4})?"
"""A tag of YAML, which says what kind of value follows, or an anchor, which names it."""
_STARS = r"(?:\*{1,3}[ \t]{1,4})?"
"""The end of bold text in Markdown."""

_PREPOSITIONS = (
    "for|of|to|on|at|from|für|fuer|von|vom|zum|zur|am|im|auf|der|des|pour|du|de|sur|au|del|para|en"
    "|do|da|per|di|voor|van|till|(?:is|was)[ \\t](?:generated|created|set)[ \\t]for"
)
_ASIDE = (
    rf"(?:(?<=[ \t])(?i:{_PREPOSITIONS})(?:[ \t][^\s:=,;\"'`]{{1,40}}+){{1,6}}"
    r"|\([^()\n]{1,40}+\))"
)
"""Words between a name and a colon that say what a password is for."""
_VERB = (
    rf"(?i:(?:{COPULA}|has[ \t]been|remains|equals|becomes"
    r"|(?:should|must|will|shall|can)[ \t]be|(?:set|changed|reset|updated|rotated)(?=[ \t]to\b))"
    r"(?:[ \t](?:now|set|changed|reset|updated|jetzt|nun|maintenant|ahora)){0,2}+"
    r"(?:[ \t]from[ \t]\S{1,60})?(?:[ \t]to)?:?)"
)
_OPEN_ASIDE = (
    r"(?:[^\W\d_]{1,7}(?:[ \t]{1,2}[^\s:=,;\"'`]{1,40}+){0,8}|\([^()\n]{0,40}+\)?)"
    r"[ \t]{0,4}[:=–—→-]?"
)

_BLOCK = r"\{\s{0,20}(?:(?:type|description|sensitive)[ \t]{0,8}=[^\n{}]{1,90}+\s{1,20}){0,3}"
"""What Terraform says about a variable before its default value."""
_OPEN_BLOCK = r"\{\s{0,20}(?:[a-z]{1,11}(?:[ \t]{0,8}=[^\n{}]{0,90}+)?\s{0,20}){0,4}"

_NEW_LINE = r"[:=][ \t]{0,8}(?:[|>][-+0-9]{0,2}[ \t]{0,8})?\r?\n\s{0,60}"
_NEXT_LINE = rf"{_NEW_LINE}(?=[\"'`]|[^{SPACE}]{{1,{VALUE_CHARACTERS}}}[ \t]{{0,8}}(?:[\r\n]|\Z))"
"""The value is alone on its line: blocks of YAML, JSON that is set wide, below a heading."""
_OPEN_LINE = (
    r"[:=][ \t]{0,8}(?:[|>][-+0-9]{0,2}[ \t]{0,8})?\r?"
    rf"(?:\n\s{{0,60}}(?:[^{SPACE}]{{1,{VALUE_CHARACTERS}}}[ \t]{{1,8}})?)?"
)

_ELEMENT = r"(?:[ \t]{0,4}[\w:.-]{1,40}=[\"'][^\"'<>\n]{0,80}[\"']){0,4}>\s{0,40}(?:<!\[CDATA\[)?"
"""The end of an opening tag that bears the name."""
_LABEL = (
    r":?[ \t]{0,4}(?:</[A-Za-z][\w:.-]{0,30}>\s{0,40}){1,2}:?[ \t]{0,4}"
    r"(?:<[A-Za-z][^<>\n]{0,100}>\s{0,40}){0,2}"
)
"""The name is the text of one element, the value that of the next one, or follows it."""
_OPEN_MARKUP = (
    r"(?:[ \t]{0,4}[\w:.-]{1,40}=[\"'][^\"'<>\n]{0,80}[\"']){0,4}"
    r"(?:[ \t]{0,4}[\w:.-]{0,40}(?:=(?:[\"'][^\"'<>\n]{0,80})?)?"
    rf"|>\s{{0,40}}(?:<[^<>\n]{{0,9}})?(?:[^{SPACE}<]{{1,{VALUE_CHARACTERS}}}\s{{1,40}}<?)?)"
    r"|:?[ \t]{0,4}(?:<[^<>\n]{0,100}>\s{0,40}:?[ \t]{0,4}){0,4}(?:<[^<>\n]{0,100})?"
)

_FALLBACK = (
    r"(?:[:=]{1,2}[ \t]{0,8}[A-Za-z_$][\w$.:]{0,40}+"
    r"(?:\([^()\n]{0,60}+\)|\[[^\[\]\n]{0,40}+\])?|\))"
    r"[ \t]{0,4}(?:\|\||\?\?|\?:|(?<=[ \t)\]])(?:or|\{))[ \t]{0,4}(?=[\"'`])"
)
"""The value is what code takes where nothing else is set."""
_OPEN_FALLBACK = (
    r"(?:[:=]{1,2}[ \t]{0,8}[A-Za-z_$][\w$.:]{0,40}+"
    r"(?:\([^()\n]{0,60}+\)?|\[[^\[\]\n]{0,40}+\]?)?|\))"
    r"[ \t]{0,4}(?:\|{1,2}|\?[?:]?|or?|\{)?"
)

_JOIN = (
    rf"(?P<join>{_NEXT_LINE}|{_LABEL}|{_FALLBACK}"
    rf"|[:=]{{1,2}}[ \t]{{0,8}}[\[(](?=[ \t]{{0,4}}[\"'`])"
    r"|=\[|%3[ADad](?:%20|\+)?(?:%22)?|<-|(?<=[ \t])(?i:as)[ \t]\w{1,20}[ \t]{0,4}="
    r"|\|(?=[^|\s]{5,128}\|)|[.·…]{3,80}(?=[ \t])"
    r"|\)\.(?:send_?[kK]eys|fill|type|set_?[vV]alue)\((?=[\"'`])"
    rf"|=>|:=|->|!?={{1,3}}"
    rf"|:{_TYPE}=(?![=>])(?=[ \t]{{0,4}}{BEFORE_QUOTE}[\"'`\\])|::?(?!/)"
    r"|[\s,]{0,40}[\\\"']{0,2}(?:android:)?(?i:value)[\\\"']{0,2}[ \t]{0,8}[:=]"
    rf"|{_BLOCK}default[ \t]{{0,8}}=|[：＝是为は]"
    rf"|<<<|(?:\|\||\?\?)(?=[ \t]{{0,4}}[\"'`])"
    r"|,(?=[ \t]{0,8}[\\\"'`])|[({](?=[ \t]{0,4}[\"'`])|\|(?=[ \t])"
    rf"|{_ELEMENT}"
    rf"|{_ASIDE}(?:[ \t]{{0,2}}:(?![:/])|[ \t](?:{_VERB}|(?i:to)|[–—→-])(?=[ \t]))"
    rf"|(?<=[ \t])(?:{_VERB}|(?i:to)|[–—→-])(?=[ \t])"
    rf"|\((?=[^{SPACE}()\"'`,;:=]{{5,60}}\)[ \t])"
    # With only a space in between, the value must have a digit, a symbol, a quote or four words.
    rf"|(?<=[ \t])(?=[^{SPACE}]{{0,60}}[0-9@#$%^&*+=~!_\"'`\\]"
    rf"|[a-z]{{3,12}}(?:-[a-z]{{3,12}}){{3}}))[ \t]{{0,30}}{_STARS}{_TAG}"
)
"""Whatever joins a name and its value, as the group `join`, up to the value or its quote."""
_OPEN_JOIN = (
    rf"(?:[=:!>–—→：＝是为は-][=:>]{{0,2}}(?:{_TYPE}=?)?|,|[({{]|\|{{1,2}}|\?{{1,2}}|<{{1,3}}-?|[.·…]{{1,80}}"
    rf"|[:=]{{1,2}}[ \t]{{0,8}}[\[(]|{_OPEN_LINE}|{_OPEN_MARKUP}|{_OPEN_FALLBACK}|{_OPEN_ASIDE}"
    r"|\)\.[A-Za-z_]{0,9}\(?"
    rf"|{_OPEN_BLOCK}"
    r"|[\s,]{0,40}[\\\"']{0,2}(?:a[ndroi]{0,6}:?)?"
    r"(?i:v|va|val|valu|value[\\\"']{0,2}[ \t]{0,8}[:=]?)?)?[ \t]{0,30}"
    rf"(?:\*{{1,3}}[ \t]{{0,4}})?{_TAG}"
)
# Atomic: what stands far behind the value must not decide which join is taken.
AFTER_NAME = f"{_CLOSE}(?>{_JOIN})"
OPEN_AFTER_NAME = f"{_CLOSE}{_OPEN_JOIN}"

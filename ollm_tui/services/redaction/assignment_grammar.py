"""How a value stands beside its name: what closes the name, what joins the two, where it ends."""

from __future__ import annotations

from ollm_tui.services.redaction.rule import SPACE

VALUE_CHARACTERS = 128
"""As many are looked at; a value that is a secret is followed to its end."""
_LONGEST = 4000

_CLOSE = r"[\\\"'`\]*]{0,4}+[ \t]{0,30}+"
_TYPE = r"[ \t]{0,4}+[A-Za-z_&][\w.\[\]<>|&*?]{0,40}+[ \t]{0,4}+"
_TAG = r"(?:!!?[A-Za-z]{1,12}[ \t]{1,4})?"
"""Of YAML: what kind of value follows."""
_STARS = r"(?:\*{1,3}[ \t]{1,4})?"
"""Of Markdown: the end of what is bold."""
_ASIDE = (
    r"(?:(?<=[ \t])(?i:for|of|to|on|at|from)(?:[ \t][^\s:=,;\"'`]{1,40}+){1,6}|\([^()\n]{1,40}+\))"
)
"""What a password is for, between the name and a colon."""
_VERB = (
    r"(?i:(?:is|was|has[ \t]been|ist|lautet|est|es)"
    r"(?:[ \t](?:now|set|changed|reset|updated)){0,2}+(?:[ \t]to)?:?)"
)
_BLOCK = r"\{\s{0,20}(?:(?:type|description|sensitive)[ \t]{0,8}=[^\n{}]{1,90}+\s{1,20}){0,3}"
"""Of Terraform: what is said of a variable before its value."""
_OPEN_BLOCK = r"\{\s{0,20}(?:[a-z]{1,11}(?:[ \t]{0,8}=[^\n{}]{0,90}+)?\s{0,20}){0,4}"
_JOIN = (
    rf"(?P<join>=>|:=|->|!?={{1,3}}|:{_TYPE}=(?![=>])|::?(?!/)"
    r"|[\s,]{0,40}[\\\"']{0,2}(?:android:)?(?i:value)[\\\"']{0,2}[ \t]{0,8}[:=]"
    rf"|{_BLOCK}default[ \t]{{0,8}}=|[：＝是为は]"
    rf"|<<<|(?:\|\||\?\?)(?=[ \t]{{0,4}}[\"'`])"
    r"|,(?=[ \t]{0,8}[\\\"'`])|[({](?=[ \t]{0,4}[\"'`])|>|\|(?=[ \t])"
    rf"|{_ASIDE}(?:[ \t]{{0,2}}:(?![:/])|[ \t](?i:is|was)(?=[ \t]))"
    rf"|(?<=[ \t])(?:{_VERB}|(?i:to)|[–—→-])(?=[ \t])"
    # With nothing between them only what is no word counts.
    rf"|(?<=[ \t])(?=[^{SPACE}]{{0,60}}[0-9@#$%^&*+=~!\"'`\\]))[ \t]{{0,30}}{_STARS}{_TAG}"
)
_STOP = rf"{SPACE}\"'`,;&<>\\"
_GOES_ON = rf"[,;&](?=[^{SPACE}A-Za-z_\"'`<>\\\[{{])"
_BEFORE_QUOTE = r"(?:[bBrRuUfF@$]{0,2}|(?:\[\]byte|Secret(?:Str|String)?|String::from)\()"
"""Of program texts: what kind of text follows."""
_LIMIT = f"{{0,{VALUE_CHARACTERS}}}+"
_VALUE = (
    rf"(?:{_BEFORE_QUOTE}(?:\"(?P<double>(?=[^\"\n])[^\"\\\n]{_LIMIT}(?:\\.[^\"\\\n]{_LIMIT}){{0,6}}+)"
    rf"|'(?P<single>(?=[^'\n])[^'\\\n]{_LIMIT}(?:\\.[^'\\\n]{_LIMIT}){{0,6}}+)"
    rf"|`(?P<tick>[^`\n]{{1,{VALUE_CHARACTERS}}}+))"
    rf"|\\{{1,3}}[\"'](?P<escaped>[^\"'\\\n]{{1,{VALUE_CHARACTERS}}}+)"
    rf"|(?:(?i:&quot;)|&\#3[49];|%22)(?P<entity>[^{SPACE}&%\"'`<>\\]{{1,{VALUE_CHARACTERS}}}+)"
    rf"|(?P<bare>(?:[^{_STOP}]|{_GOES_ON})[^{_STOP}]{_LIMIT}(?:{_GOES_ON}[^{_STOP}]{_LIMIT}){{0,6}}+))"
)
REST = {
    "double": rf"[^\"\\\n]{{0,{_LONGEST}}}+(?:\\.[^\"\\\n]{_LIMIT}){{0,20}}+",
    "single": rf"[^'\\\n]{{0,{_LONGEST}}}+(?:\\.[^'\\\n]{_LIMIT}){{0,20}}+",
    "tick": rf"[^`\n]{{0,{_LONGEST}}}+",
    "escaped": rf"[^\"'\\\n]{{0,{_LONGEST}}}+",
    "entity": rf"[^{SPACE}&%\"'`<>\\]{{0,{_LONGEST}}}+",
    "bare": rf"[^{_STOP}]{{0,{_LONGEST}}}+",
}
_OPEN_VALUE = (
    rf"(?:{_BEFORE_QUOTE}"
    r"(?:\"(?:[^\"\\\n]{1,99}+|\\.){0,9999}+\\?"
    r"|'(?:[^'\\\n]{1,99}+|\\.){0,9999}+\\?|`[^`\n]{0,9999}+)"
    rf"|\\{{1,3}}(?:[\"'][^\"'\\\n]{{0,9999}}+)?|[^{SPACE}\"'`<>\\]{{0,9999}}+<?)?"
)
_OPEN_ASIDE = (
    r"(?:[A-Za-z]{1,4}(?:[ \t]{1,2}[^\s:=,;\"'`]{1,40}+){0,8}|\([^()\n]{0,40}+\)?)[ \t]{0,2}:?"
)
_OPEN_JOIN = (
    rf"(?:[=:!>–—→：＝是为は-][=:>]{{0,2}}(?:{_TYPE}=?)?|,|[({{]|\|{{1,2}}|\?{{1,2}}|<{{1,3}}|{_OPEN_ASIDE}|{_OPEN_BLOCK}"
    r"|[\s,]{0,40}[\\\"']{0,2}(?:a[ndroi]{0,6}:?)?"
    r"(?i:v|va|val|valu|value[\\\"']{0,2}[ \t]{0,8}[:=]?)?)?[ \t]{0,30}"
    rf"(?:\*{{1,3}}[ \t]{{0,4}})?{_TAG}"
)

_DIGIT_AHEAD = rf"(?=[^0-9\n]{{0,{VALUE_CHARACTERS + 8}}}+[0-9])"
UNFINISHED_AFTER_NAME = rf"{_CLOSE}{_OPEN_JOIN}{_OPEN_VALUE}\Z"


def after_name(*, with_digit: bool) -> str:
    """What follows a name. Groups: join, and the one named for how the value is quoted."""
    ahead = _DIGIT_AHEAD if with_digit else ""
    return f"{_CLOSE}{_JOIN}{ahead}{_VALUE}"

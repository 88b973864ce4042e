"""Reads what follows the name of a secret: signs, types, tags or words, and then its value.

It reads as far as it needs, token by token. Where a text that still grows ends before that, the
name is unfinished: a stream holds it back. So there is one description of what belongs to a name,
and none of its beginnings.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ollm_tui.services.redaction.names import certainty
from ollm_tui.services.redaction.rule import SPACE, Span, words
from ollm_tui.services.redaction.values import (
    Look,
    Name,
    Place,
    is_code,
    is_phrase,
    is_reference,
    is_secret,
    look_of,
)

REACH_AFTER = 400
"""Characters behind a name that are looked at."""
JUDGED = 128
"""How much of a value is judged; if that is a secret, the value is hidden to its end."""
_AHEAD = 2
"""Characters behind a token that may decide where it ends."""
_MOST_WORDS = 12
"""Words of a sentence between a name and its value."""
_AROUND = 10
"""What all that is done once for a name costs, in tokens that are tried."""
_LONGEST = 4000
"""How far a value is followed."""


class Token(NamedTuple):
    """What is read at once, and how it may begin before a space at which a text breaks off."""

    pattern: re.Pattern[str]
    opened: re.Pattern[str]


def _token(pattern: str, opened: str = "(?!)") -> Token:
    return Token(re.compile(pattern), re.compile(rf"(?:{opened})\Z"))


# What a value may be.
_STOP = rf"{SPACE}\"'`,;&<>\\"
_GOES_ON = rf"[,;&](?=[^{SPACE}A-Za-z_\"'`<>\\\[{{])"
_ENCODED = rf"(?:[^{SPACE}&%\"'`<>\\]|%(?!2[26Cc]|7[Dd]|0[AaDd]|3[Bb]))"
"""A character of a value in a text that was encoded for a URL."""
_LIMIT = f"{{0,{JUDGED}}}+"
_BEFORE_QUOTE = (
    r"(?:(?:new )?[A-Za-z_][\w.:]{0,30}\(|\[\]byte\(|[\[({][ \t]{0,4}|[bBrRuUfF@$]{1,2})?"
    r"(?:\"\"(?=\")|''(?='))?"
)
"""A call or a list around a text, prefixes of it, and all but the last of three quotes."""
_CONTINUED = r"\\\r?\n[ \t]{0,30}"
"""A quote whose text begins on the next line."""
_QUOTED = (
    rf"(?:{_BEFORE_QUOTE}(?:\"(?:{_CONTINUED})?(?P<double>(?=[^\"\n])[^\"\\\n]{_LIMIT}(?:\\.[^\"\\\n]{_LIMIT}){{0,6}}+)"
    rf"|'(?P<single>(?=[^'\n])[^'\\\n]{_LIMIT}(?:\\.[^'\\\n]{_LIMIT}){{0,6}}+)"
    rf"|`(?P<tick>[^`\n]{{1,{JUDGED}}}+))"
    rf"|\\{{1,3}}[\"'](?P<escaped>[^\"'\\\n]{{1,{JUDGED}}}+)"
    rf"|(?:(?i:&quot;)|&\#3[49];|%22)(?P<entity>[^{SPACE}&%\"'`<>\\]{{1,{JUDGED}}}+))"
)
_BARE = (
    rf"(?:(?:(?<=%3[ADad])|(?<=%2[02]))(?P<encoded>{_ENCODED}{{1,{JUDGED}}}+)"
    rf"|(?P<bare>(?:[^{_STOP}]|{_GOES_ON})[^{_STOP}]{_LIMIT}(?:{_GOES_ON}[^{_STOP}]{_LIMIT}){{0,6}}+))"
)
_OPEN_QUOTE = r"[\"'`]{1,3}(?:\\(?:\r?\n?[ \t]{0,30})?)?|\\{1,3}[\"']?"
_VALUE = _token(f"{_QUOTED}|{_BARE}", _OPEN_QUOTE)
_ONLY_QUOTED = _token(_QUOTED, _OPEN_QUOTE)
_ENTITY = r"&(?:amp|lt|gt|quot|apos|\#\d{1,4});"
_TEXT = _token(
    rf"{_QUOTED}|(?P<bare>(?:[^{_STOP}]|{_GOES_ON}|{_ENTITY}){{1,{JUDGED}}}+)", _OPEN_QUOTE
)
"""A value between tags."""
_LINE = _token(rf"(?P<line>[^{SPACE}\"'`<>{{}}$][^\n\"'`<>]{{1,{JUDGED}}}+)")
"""All words of a phrase."""
_GROUPS = _token(
    r"(?P<line>[a-z]{4}(?:[ ][a-z]{4}){3}+)(?=\s|\Z)", r"[a-z]{4}(?:[ ][a-z]{4}){0,3}[ ]?"
)
"""A password that is shown in groups, so that people can type it."""
_PHRASES = re.compile("(?i)phrase|mnemonic")
_REST = {
    "line": re.compile(rf"[^\n\"'`<>]{{0,{_LONGEST}}}+"),
    "double": re.compile(rf"[^\"\\\n]{{0,{_LONGEST}}}+(?:\\.[^\"\\\n]{_LIMIT}){{0,20}}+"),
    "single": re.compile(rf"[^'\\\n]{{0,{_LONGEST}}}+(?:\\.[^'\\\n]{_LIMIT}){{0,20}}+"),
    "tick": re.compile(rf"[^`\n]{{0,{_LONGEST}}}+"),
    "escaped": re.compile(rf"[^\"'\\\n]{{0,{_LONGEST}}}+"),
    "entity": re.compile(rf"[^{SPACE}&%\"'`<>\\]{{0,{_LONGEST}}}+"),
    "encoded": re.compile(rf"{_ENCODED}{{0,{_LONGEST}}}+"),
    "bare": re.compile(rf"[^{_STOP}]{{0,{_LONGEST}}}+"),
}
_TRAILING = ")]},;."
_OPENING = {")": "(", "]": "[", "}": "{"}

# What may be between the two.
_CLOSE = _token(r"(?:[\\\"'`\]*]|%22){0,4}+[ \t]{0,30}+")
"""What ends a name in quotes, in an index or in bold."""
_SIGN = _token(
    r"[ \t]{0,4}+(?:(?P<sign>:=|=>|->|<-|<<<|!?={1,3}|[?+]=|::?(?!/)|[：＝是为は]"
    r"|%3[ADad](?:%20|\+)?(?:%22)?)|(?P<dash>\|\|?|\?\?|\?:|[.·…]{3,80}+(?=[ \t])|→"
    r"|(?<=[ \t])[–—-](?=[ \t])))[ \t]{0,30}+"
)
_LEAD = _token(
    r"(?:\*{1,3}[ \t]{1,4})?(?:(?:!!?[A-Za-z]{1,12}|&[\w-]{1,30})[ \t]{1,4}(?!=))?"
    r"(?P<line>(?P<block>[|>][-+0-9]{0,2}[ \t]{0,8})?\r?\n\s{0,60}+)?"
    r"(?P<call>\[(?=[^\[\]\"'\s]{5,60}\]))?",
    r"(?:[|>][-+0-9]{0,2}[ \t]{0,8})?\r?",
)
"""The end of bold text in Markdown; tags, anchors and blocks of YAML; a value on the next line."""
_ALONE = _token(r"[ \t]{0,8}+(?:[\r\n]|\Z)", r"[ \t]{1,9}")
_NEXT_SETTING = re.compile(r"[A-Za-z_][\w.-]{0,60}=(?!=?\Z)")
"""A setting of its own; at its end an equals sign is one of Base64."""
_TYPE = _token(r"[A-Za-z_&][\w.\[\]<>|&*?]{0,40}+[ \t]{0,4}+")
_TYPED = _token(r"=(?![=>])[ \t]{0,4}(?=[bBrRuUfF@$]{0,2}[\"'`\\])", r"=[ \t]{0,4}")
_AS_TYPE = _token(
    r"(?i:as)[ \t]\w{1,20}[ \t]{0,4}=[ \t]{0,4}",
    r"(?i:as)[ \t](?:\w{1,20}[ \t]{0,4}(?:=[ \t]{0,4})?)?",
)
_CODE = _token(r"[^\n\"'`,;=#<>]{0,80}+")
"""Code that leads to the value it falls back to, or that it hands on."""
_HANDED = _token(r"[,({)?|](?:[^\n\"'`;=#<>]{0,40}+)")
_TAGS = _token(
    r":?[ \t]{0,4}(?:</?[A-Za-z!][^<>\n]{0,100}>\s{0,40}:?[ \t]{0,4}){1,4}+(?:<!\[CDATA\[)?",
    r":?[ \t]{0,4}(?:</?[A-Za-z!][^<>\n]{0,100}>\s{0,40}:?[ \t]{0,4}){0,4}+<[^<>\n]{0,100}",
)
_ATTRIBUTES = _token(
    r"[\"']?(?:[ \t]{0,4}(?!value)[\w:.-]{1,40}=[\"'][^\"'<>\n]{0,80}[\"']){0,4}+>\s{0,40}+"
    r"(?:<!\[CDATA\[)?",
    r"[^<>\n]{1,400}",
)
_ELEMENT = re.compile(r"(?:(?:key|name)=[\"']|<(?:[\w.-]{1,30}:)?)\Z")
"""What comes before a name in the opening tag of its value."""
_CLOSING_TAG = _token(r"\s{0,40}+(?:\]{0,2}>\s{0,40}+)?</", r"\s{1,40}(?:\]{0,2}>\s{0,40})?<?")
_VALUE_OF = _token(
    r"[\s,]{0,40}+[\\\"']{0,2}(?:[a-z]{1,12}:)?(?i:value)[\\\"']{0,2}[ \t]{0,8}[:=][ \t]{0,8}"
    r"|\{\s{0,20}(?:[a-z]{1,11}[ \t]{0,8}=[^\n{}]{1,90}+\s{1,20}){0,3}default[ \t]{0,8}=[ \t]{0,8}",
    r"[\s,]{0,40}[\\\"']{0,2}(?:[a-z]{1,12}:)?(?i:value)[\\\"']{0,2}[ \t]{0,8}(?:[:=][ \t]{0,8})?"
    r"|\{[^{}]{0,350}",
)
"""A name and its value as two fields of one record, also as Terraform declares a variable."""
_RECORD = _token(r"[\s,{]{1,40}+[\\\"']{0,2}[a-z]{0,12}+")
_ASIDE = _token(r"\((?P<bare>[^()\n]{1,40}+)\)[ \t]{0,2}", r"\([^()\n]{0,40}")
_SPACE = _token(r"[ \t]{1,30}+")
_IS = frozenset(
    words(
        "is was ist war lautet heißt heisst est était devient es era será é è är er on jest este"
        " это be been to auf en a now set changed reset updated rotated jetzt nun maintenant ahora"
        " remains equals becomes should must will shall can has wurde été changé ha cambiado"
    )
)
"""What says in a sentence that one thing is another, in several languages."""
_ALSO_WORDS = ("pass", "auth", "clave", "otp", "community")
"""Names that are words of sentences, too."""
_CHANGES = re.compile(r"(?i)\b(?:set|chang|reset|updat|rotat)[a-z]{0,3}\b[^.\n]{0,40}\Z")
_PREPOSITIONS = frozenset(
    words(
        "for of to on at from in für fuer von vom zum zur am im auf der des pour du de sur au del"
        " para en do da per di voor van till"
    )
)

# What comes before a name.
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_NEXT_OPTION = _token(r"[ \t]{1,4}--?[a-z]|[ \t]{0,4}[\r\n]|\Z", r"[ \t]{1,4}")
_IN_CODE = re.compile(
    r"(?:[(,][ \t]{0,8}|[({,]\s{0,30}|\b(?:let|const|var|if|for|and|or|not|return)[ \t]{1,4})\Z"
)
"""What comes before a name in a call, a declaration or a condition."""
_SETTING_ENDS = _token(
    r"[ \t]{0,8}+(?:\r?\n|\Z)|[;&\"'][^\r\n]|[ \t]+[\w./-]|,[A-Za-z_]", r"[ \t]{1,99}"
)
"""What follows a setting: nothing else on its line, or the next one. Not the end of a statement."""
_PAIRED = re.compile(
    r"(?i)(?:user(?:[_ -]?(?:name|id))?|login|uid|e-?mail|account)[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"(?P<user>[^\s(){},]{1,60}?),?[\s;&|]{1,20}[\w.-]{0,20}\Z"
)
"""The name of a user just before that of a password: what follows is no word of a sentence."""
_WITH = re.compile(
    r"(?i)(?:\b(?:with|using|use|tried|try|mit|avec|con|com|met)(?:[ ](?:the|dem|le|la|a))?"
    r"(?:[ ]mot[ ]de)?[ \t]{1,4}"
    r"|\b(?:user(?:name)?|login|benutzer|utilisateur|identifiant|usuario|admin|root|connect)"
    r"[ \t]+(?:[\w.@-]{1,40},?\s+(?:(?:and|und|et|y)[ ])?)?)[\w.-]{0,20}\Z"
)
"""What comes before `password secret1` where no other word would follow."""
_NETRC = re.compile(
    r"\b(?:machine[ \t]+\S{1,60}|default)\s{1,20}login[ \t]+\S{1,40}"
    r"(?:\s{1,20}account[ \t]+\S{1,40})?\s{1,20}\Z"
)
_DECLARES = re.compile(
    r"(?i)(?:#define[ \t]{1,4}|\b(?:with|encrypted|login|(?:user|role)[ \t]+\S{1,40})[ \t]+)"
    r"\w{0,30}\Z"
)
"""What comes before PASSWORD and a value in quotes, in SQL and in C."""


class Unfinished(Exception):
    """The text ends before it is clear what belongs to a name."""


class Reader:
    """Takes one token after the other from the text behind a name."""

    def __init__(self, text: str, at: int, *, final: bool) -> None:
        self.text = text
        self.at = at
        self.taken = 0
        """How many tokens were tried."""
        self._end = len(text) if final else len(text) - _AHEAD
        self._final = final

    def take(self, token: Token) -> re.Match[str] | None:
        """The token that comes next, or None; raises Unfinished if that is not yet decided."""
        self.taken += 1
        match = token.pattern.match(self.text, self.at)
        end = match.end() if match else self.at
        if not self._final and (end > self._end or token.opened.match(self.text, self.at)):
            raise Unfinished
        self.at = end
        return match

    def sees(self, token: Token) -> bool:
        """Whether a token comes next, which is not taken."""
        at = self.at
        seen = self.take(token) is not None
        self.at = at
        return seen


class Beside(NamedTuple):
    """A secret: where it is in what was read, and by which quotes it ends."""

    start: int
    end: int
    group: str


class Seen(NamedTuple):
    """What is beside a name, whether more text could change that, and what looking cost."""

    found: Beside | None
    is_unfinished: bool
    effort: int


@lru_cache(maxsize=256)
def read(window: str, start: int, named: int, end: int, name: Name, *, final: bool) -> Seen:
    """Look for the secret of the name from `start` to `end` in a window.

    From `named` on the name tells what the secret is for.
    """
    known = certainty(window[start:named], window[:start], name)
    if known is None:
        return Seen(None, is_unfinished=False, effort=1)
    least = Look.MARKED if named < end else Look.OTHER
    reading = _Name(window, (start, end), known, least, final=final)
    try:
        found, is_unfinished = reading.secret(), False
    except Unfinished:
        found, is_unfinished = None, True
    return Seen(found, is_unfinished, _AROUND + reading.reader.taken)


def rest_of(text: str, found: Beside, offset: int) -> int:
    """Where in the whole text a value ends of which only the beginning was judged."""
    end = found.end + offset
    if found.end - found.start < JUDGED:
        return end
    rest = _REST[found.group].match(text, end)
    return rest.end() if rest else end


class _Name:
    """The name of a secret in its surroundings."""

    def __init__(self, window: str, span: Span, known: Name, least: Look, *, final: bool) -> None:
        start, end = span
        self.least = least
        """What a value has to look like at least, wherever it is."""
        self.written = window[start:end]
        self.before = window[:start]
        self.known: Name = known
        self.reader = Reader(window, end, final=final)
        around = self.before.rstrip(_NAME_CHARACTERS)
        self.prefix = self.before[len(around) :]
        self.around = around
        self.is_option = self.prefix[:1] == "-"
        self._is_of_words = _PHRASES.search(self.written) is not None

    def secret(self) -> Beside | None:
        """The secret that belongs to the name."""
        reader = self.reader
        after = reader.at
        is_element = self.around[-1:] in tuple("<:\"'") and _ELEMENT.search(self.around[-36:])
        if is_element and reader.take(_ATTRIBUTES):
            return self._in_element()
        reader.take(_CLOSE)
        if reader.take(_TAGS):
            return self._value("quoted", _TEXT)
        if sign := reader.take(_SIGN):
            return self._assigned(sign)
        if reader.take(_VALUE_OF):
            return self._value("quoted")
        if self.least:
            return None  # only a sign joins such a name and its value
        reader.sees(_RECORD)  # it may still become one
        at = reader.at
        if reader.take(_HANDED) and reader.sees(_ONLY_QUOTED):
            return self._handed()
        reader.at = at
        return self._said() if reader.at > after else None

    def _in_element(self) -> Beside | None:
        """The text of an element that bears the name."""
        found = self._value("quoted", _TEXT)
        return found if found and self.reader.sees(_CLOSING_TAG) else None

    def _assigned(self, sign: re.Match[str]) -> Beside | None:
        """The value behind a sign."""
        reader = self.reader
        lead = reader.take(_LEAD)
        at = reader.at
        if sign["sign"] == ":" and reader.take(_TYPE):
            if reader.take(_TYPED):
                return self._value("value")
            reader.at = at
        if self.known == "password":
            is_long = self._is_of_words or (lead is not None and lead["block"] is not None)
            value = reader.take(_LINE if is_long else _GROUPS)
            if value and (found := self._judged(value, "quoted")):
                return found
            reader.at = at
        value = reader.take(_VALUE)
        if value is None:
            return None
        _, is_bare = _group(value)
        if lead and lead["line"] and is_bare:
            # An empty setting has the next one below it.
            below = value["bare"] or ""
            is_below = reader.sees(_ALONE) and look_of(below) >= Look.CHOSEN
            if not is_below or _NEXT_SETTING.match(below):
                return None
        if lead and lead["call"]:
            return self._judged(value, "code")
        found = self._judged(value, self._place(sign, value, is_bare=is_bare))
        if found or not is_bare:
            return found
        # Code that is no value itself may fall back to one.
        reader.at = at
        return self._handed() if reader.take(_CODE) else None

    def _place(self, sign: re.Match[str], value: re.Match[str], *, is_bare: bool) -> Place:
        written = sign["sign"]
        if self.is_option or self.around[-1:] in ("?", "&"):
            return "value"
        if not written:
            return "said" if is_bare else "quoted"
        if not is_bare:
            return "value" if written in ("=", ":=", "==", "<-") else "quoted"
        if sign[0] != "=":
            return "code"
        if self.written.isupper() and self.prefix == self.prefix.upper():
            return "value"
        is_setting = not _IN_CODE.search(self.around) and self.reader.sees(_SETTING_ENDS)
        bare = value["bare"] or ""
        return "value" if is_setting and (not is_code(bare) or self._is_property(bare)) else "code"

    def _is_property(self, value: str) -> bool:
        """Whether the name has a line of its own, with dots in it: a.b.password=word.word."""
        is_line = "." in self.prefix and self.around[-1:] in ("", "\n")
        return is_line and "(" not in value and not is_reference(value)

    def _handed(self) -> Beside | None:
        """The next text in quotes, or the one after it, behind code without any other."""
        reader = self.reader
        for _ in range(2):
            value = reader.take(_ONLY_QUOTED)
            if value is None:
                return None
            if found := self._judged(value, "handed"):
                return found
            reader.at += 1
            reader.take(_CODE)
        return None

    def _said(self) -> Beside | None:
        """The value in the words of a sentence, or right behind the name."""
        reader = self.reader
        place = self._place_beside()
        is_word = place == "loose" and self.written.lower() in _ALSO_WORDS
        is_told = False
        for count in range(_MOST_WORDS):
            reader.take(_SPACE)
            if aside := reader.take(_ASIDE):
                if count == 0 and (found := self._judged(aside, "said")):
                    return found
                is_told = is_told or count == 0
                continue
            if count and reader.take(_SIGN):
                return self._value("code" if is_told and not is_word else "loose")
            if reader.take(_AS_TYPE):
                return self._value("value")
            value = reader.take(_VALUE)
            if value is None:
                return None
            word = (value["bare"] or "").lower()
            if not word:
                return self._judged(value, "value" if place == "value" else "handed")
            is_plain = look_of(word) < Look.NAME
            # A plain word behind an option may be part of a sentence about it.
            is_about = self.is_option and is_plain and not reader.sees(_NEXT_OPTION)
            if not is_about and (found := self._judged(value, place)):
                return found
            if word[-1] == ":":
                reader.take(_SPACE)
                # "Password 2:" names one of several.
                is_told = is_told or word[:-1] in _IS or (count == 0 and word[:-1].isdigit())
                return self._value("code" if is_told and not is_word else "loose")
            is_is = word in _IS and (word != "to" or self._changes())
            if not is_plain or word[-1] in ".!?;)":
                return None
            is_told = is_told or (count == 0 and word in _PREPOSITIONS)
            place = "said" if is_is and not is_word else "loose"
        return None

    def _place_beside(self) -> Place:
        """Where a value is that has only a space before it."""
        if self.is_option or (self.written.isupper() and _DECLARES.search(self.before)):
            return "value"
        if "login" in self.before and _NETRC.search(self.before):
            return "value"
        if self.known == "password" and _WITH.search(self.before):
            return "said"
        return "loose"

    def _changes(self) -> bool:
        said = self.reader.text[len(self.before) : self.reader.at]
        return _CHANGES.search(self.before + said[:-2]) is not None

    def _value(self, place: Place, token: Token = _VALUE) -> Beside | None:
        value = self.reader.take(token)
        return self._judged(value, place) if value else None

    def _judged(self, value: re.Match[str], place: Place) -> Beside | None:
        """The value, if it is secret."""
        group, is_bare = _group(value)
        text = value[group]
        if is_bare and place in ("said", "loose"):
            text = text.rstrip("?")
        if is_bare and text[-1:] in tuple(_TRAILING):
            text = text[: len(text) - _surplus(text)]
        if not text or (self.least and (look_of(text) < self.least or is_code(text))):
            return None
        if not (
            is_secret(text, self.known, place)
            or self._is_phrase(text, place, is_line=group == "line")
            or self._is_paired(text, place)
        ):
            return None
        start = value.start(group)
        return Beside(start, start + len(text), group)

    def _is_phrase(self, value: str, place: Place, *, is_line: bool) -> bool:
        """Whether words make a secret together."""
        if " " not in value or self.known == "key" or place not in ("value", "quoted"):
            return False
        return is_phrase(value, is_sure=is_line or self._is_of_words, is_quoted=not is_line)

    def _is_paired(self, value: str, place: Place) -> bool:
        """Whether a word is a password because the name of its user is beside it."""
        if self.known != "password" or place == "loose" or not value.isalpha():
            return False
        if look_of(value) != Look.WORD or not value.isascii() or len(value) > 24:
            return False
        pair = _PAIRED.search(self.before)
        if pair is None or pair["user"] == value:
            return False  # both are of one type
        return not (value[0].isupper() and pair["user"][0].isupper())  # each is of a type


def _group(value: re.Match[str]) -> tuple[str, bool]:
    group = value.lastgroup or "bare"
    return group, group == "bare"


def _surplus(value: str) -> int:
    """How many characters at the end of a value belong to the text around it."""
    kept = value
    while kept and kept[-1] in _TRAILING:
        opening = _OPENING.get(kept[-1])
        if opening and kept.count(opening) >= kept.count(kept[-1]):
            break
        kept = kept[:-1]
    return len(value) - len(kept)

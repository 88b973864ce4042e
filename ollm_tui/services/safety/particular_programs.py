"""Programs that need a check of their own to tell that they only read: sed, find, jq, ps …"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ollm_tui.services.safety.awk_programs import awk_words
from ollm_tui.services.safety.option_words import Sorted, sorted_words
from ollm_tui.services.safety.plain_words import Word
from ollm_tui.services.safety.read_only import Rule

# A pattern for scripts of sed. Commands and flags that write files or run programs (w, W, e) and
# that read files (r, R) are missing on purpose.
_DELIMITERS = "/|#,:@!%"


def _between(end: str) -> str:
    """A pattern for text up to a delimiter; not in brackets, where versions of sed differ."""
    sign = re.escape(end)
    bracket = rf"\[\^?+\]?+(?:\[:[a-z]+:\]|[^\]\[{sign}\\\n]|\\[a-zA-Z])*+\]"
    return rf"(?:[^{sign}\\\[\n]|\\[^\nc]|{bracket})*+"


def _replacing(end: str) -> str:
    sign = re.escape(end)
    new = rf"(?:[^{sign}\\\n]|\\[^\n])*"
    return rf"s{sign}{_between(end)}{sign}{new}{sign}[gpiI0-9]*"


_ADDRESS = rf"(?:\d+~\d+|\d+|\$|/{_between('/')}/I?)"
_WHERE = rf"(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|[+~]\d+))?\s*!?\s*)?"
_TRANSLATING = r"y/[^/\\\n]*/[^/\\\n]*/"
_WHAT = rf"(?:[pdDPnNhHgGxl=]|[qQ]\d*|{'|'.join(map(_replacing, _DELIMITERS))}|{_TRANSLATING})"
_COMMAND = rf"{_WHERE}{_WHAT}"
_ENDS = r"\s*[;\n]\s*"
_SEVERAL = rf"{_COMMAND}(?:{_ENDS}{_COMMAND})*"
_BLOCK = rf"{_WHERE}\{{\s*{_SEVERAL}(?:{_ENDS})?\s*\}}"
_SCRIPT = re.compile(
    rf"\s*(?:{_COMMAND}|{_BLOCK})(?:{_ENDS}(?:{_COMMAND}|{_BLOCK}))*(?:{_ENDS})?\s*"
)
LONGEST = 300
"""Characters of a script: nobody needs more to look at a file, and longer ones match slowly."""


def only_prints(script: str) -> bool:
    """Whether a script of sed does nothing but print lines."""
    return len(script) <= LONGEST and bool(_SCRIPT.fullmatch(script))


_FIND_PLAIN = frozenset(
    (
        *("-a", "-and", "-o", "-or", "-not", "!", "(", ")", ",", "-true", "-false", "-depth"),
        *("-print", "-print0", "-ls", "-prune", "-quit", "-empty", "-xdev", "-mount", "-noleaf"),
        *("-daystart", "-readable", "-writable", "-executable", "-nouser", "-nogroup", "-nowarn"),
    )
)
_FIND_VALUED = frozenset(
    (
        *("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-regextype"),
        *("-type", "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-ctime"),
        *("-cmin", "-atime", "-amin", "-perm", "-user", "-group", "-links", "-newermt", "-printf"),
        *("-lname", "-ilname", "-inum", "-iwholename", "-fstype", "-uid", "-gid", "-used"),
    )
)
_FIND_COMPARED = frozenset(("-newer", "-anewer", "-cnewer", "-samefile"))
"""Tests of find whose value is the path of a file it looks at."""

_COUNTS_INTO_VARIABLE = re.compile(r"%[^A-Za-z%]*n")
_FILE_TESTS = frozenset(("-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"))

_SED = Rule(
    "nErsuz",
    "e",
    "quiet silent regexp-extended separate unbuffered null-data posix debug",
    "expression",
    operands="text",
)
_JQ = Rule(
    "rcsneSMCRaj",
    long="raw-output compact-output slurp null-input exit-status sort-keys monochrome-output "
    "color-output raw-input ascii-output join-output tab stream seq",
    long_valued="indent",
    operands="text",
)
_JQ_REACHES_OUT = re.compile(r"\b(env|ENV|import|include|modulemeta|get_search_list)\b")
"""Finds what reads the environment, or programs in other files."""

_YQ = Rule("reCMP", long="raw-output exit-status prettyPrint no-colors", operands="text")
_YQ_REACHES_OUT = re.compile(
    r"(?i)env|load|import|include|system|exec|split|input|modulemeta|get_search_list"
)

_DATE = Rule("uR", "d", "utc iso-8601 rfc-3339 rfc-email", "date", operands="text", attached="I")

_TREE_PLAIN = re.compile(
    r"-[aACdDfFghinpqQrsStuUvxJX]+|-L\d+|--(dirsfirst|filesfirst|noreport|gitignore|prune|du|si|inodes"
    r"|device|matchdirs|ignore-case|filelimit=\d+|charset=\w+|sort=\w+|timefmt=.+)"
)
_TREE_VALUED = frozenset(("-L", "-I", "-P", "--filelimit", "--charset", "--sort", "--timefmt"))
_XXD_PLAIN = frozenset(("-a", "-b", "-e", "-i", "-p", "-ps", "-u", "-C"))
_XXD_VALUED = frozenset(("-c", "-g", "-l", "-o", "-s"))

_TAR_LISTS = re.compile(r"-?(?=[vzjJ]*t)[tvzjJ]+f")
_IP_OPTIONS = frozenset(("-4", "-6", "-br", "-brief", "-s", "-o", "-j", "-p", "-d"))
_IP_OBJECTS = frozenset(("a", "addr", "address", "l", "link", "r", "route", "n", "neigh"))

_PS_LETTERS = re.compile(r"[aufxwTrljvm]+|-[AaefFlLTHjwdN]+|-aux[fw]*|--forest|--no-headers?")
"""Options of ps without a value. Not e without a dash: it shows the environment of processes."""
_PS_KEY = (
    r"(?:pid|ppid|pgid|sid|user|uid|euser|group|comm|cmd|args|command|stat|state|tty|time|etime"
    r"|etimes|start|lstart|start_time|pcpu|%cpu|pmem|%mem|rss|vsz|sz|nice|ni|pri|nlwp|psr|wchan)"
)
_PS_KEYS = re.compile(rf"[+-]?{_PS_KEY}(?:,[+-]?{_PS_KEY})*")
_PS_NUMBERS = re.compile(r"\d+(?:,\d+)*")
_PS_VALUED = re.compile(r"-[AaefFlLTHjwdN]*[op]|--sort|--pid|--ppid")


def _find(words: Sequence[Word]) -> Sorted:
    if any(word.glob for word in words):
        return Sorted(refusal="quote the pattern, or the shell replaces it by names of files")
    paths: list[Word] = []
    rest = list(words)
    while rest and rest[0].text in ("-H", "-P"):
        rest.pop(0)
    while rest and not rest[0].text.startswith(("-", "(", "!")):
        paths.append(rest.pop(0))
    before = ""
    for word in rest:
        if before:
            paths += [word] if before in _FIND_COMPARED else []
            before = ""
        elif word.text in _FIND_VALUED or word.text in _FIND_COMPARED:
            before = word.text
        elif word.text not in _FIND_PLAIN:
            return Sorted(refusal=f"find {word.text} is not on the list of what only reads")
    return Sorted(tuple(paths))


def _sed(words: Sequence[Word]) -> Sorted:
    found = sorted_words("sed", words, _SED)
    if found.refusal:
        return found
    if any(word.glob for word in found.others):
        return Sorted(refusal="sed takes options after its files too")
    scripts = [value for name, value in found.values if name in ("-e", "expression") and value]
    files = found.others
    if not found.options & {"-e", "expression"}:
        scripts, files = [word.text for word in files[:1]], files[1:]
    if not scripts or not all(map(only_prints, scripts)):
        return Sorted(refusal="sed can write files and run programs; this script may do that")
    return Sorted(files)


def _jq(words: Sequence[Word]) -> Sorted:
    found = sorted_words("jq", words, _JQ)
    if found.refusal:
        return found
    if not found.others or any(word.glob for word in found.others):
        return Sorted(refusal="its pattern could stand for a file that is called like an option")
    if _JQ_REACHES_OUT.search(found.others[0].text):
        return Sorted(refusal="jq can read the environment and other programs")
    return Sorted(found.others[1:])


def _yq(words: Sequence[Word]) -> Sorted:
    """Check yq, of which there are two: one is jq, the other can also load files."""
    rest = words[1:] if words and words[0].text in ("e", "eval") else words
    found = sorted_words("yq", rest, _YQ)
    if found.refusal:
        return found
    if not found.others or any(word.glob for word in found.others):
        return Sorted(refusal="its pattern could stand for a file that is called like an option")
    if _YQ_REACHES_OUT.search(found.others[0].text):
        return Sorted(refusal="yq can read the environment and other files")
    return Sorted(found.others[1:])


def _echo(words: Sequence[Word]) -> Sorted:
    if any(word.glob for word in words):
        return Sorted(refusal="the shell would replace its pattern by names of files")
    return Sorted()


def _printf(words: Sequence[Word]) -> Sorted:
    if not words or words[0].text.startswith("-") or any(word.glob for word in words):
        return Sorted(refusal="printf with options can set variables")
    if _COUNTS_INTO_VARIABLE.search(words[0].text):
        return Sorted(refusal="printf with %n sets a variable")
    if any("[" in word.text for word in words[1:]):
        return Sorted(refusal="some shells calculate what printf is given")
    return Sorted()


def _test(words: Sequence[Word]) -> Sorted:
    rest = list(words)
    if rest and rest[0].text == "!":
        rest.pop(0)
    if len(rest) != 2 or rest[0].text not in _FILE_TESTS or rest[1].glob:
        return Sorted(refusal="only a test for one file is known to just read")
    return Sorted((rest[1],))


def _bracket(words: Sequence[Word]) -> Sorted:
    if not words or words[-1].text != "]":
        return Sorted(refusal="its test does not end")
    return _test(words[:-1])


def _date(words: Sequence[Word]) -> Sorted:
    found = sorted_words("date", words, _DATE)
    if found.refusal:
        return found
    if any(word.glob or not word.text.startswith("+") for word in found.others):
        return Sorted(refusal="date can set the clock")
    return Sorted()


def _command(words: Sequence[Word]) -> Sorted:
    if not words or words[0].text not in ("-v", "-V") or any(word.glob for word in words):
        return Sorted(refusal="command runs what follows it")
    if any(word.text.startswith("-") for word in words[1:]):
        return Sorted(refusal="command runs what follows it")
    return Sorted()


def _tree(words: Sequence[Word]) -> Sorted:
    """Check tree, whose letters with a value must stand alone: it reads on in the same word."""
    return _spelled("tree", words, _TREE_PLAIN.fullmatch, _TREE_VALUED)


def _xxd(words: Sequence[Word]) -> Sorted:
    """Check xxd, which looks only at the first letter of an option and writes a second file."""
    found = _spelled("xxd", words, _XXD_PLAIN.__contains__, _XXD_VALUED)
    if len(found.others) > 1:
        return Sorted(refusal="its second file would be written")
    return found


def _spelled(
    name: str, words: Sequence[Word], is_plain: Callable[[str], object], valued: frozenset[str]
) -> Sorted:
    """Sort the words of a program that does not read options as getopt does: each stands alone."""
    if any(word.glob for word in words):
        return Sorted(refusal="its pattern could stand for a file that is called like an option")
    others: list[Word] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word.text in valued and rest and not rest[0].text.startswith("-"):
            rest.pop(0)
        elif not word.text.startswith("-"):
            others.append(word)
        elif not is_plain(word.text):
            return Sorted(refusal=f"{name} {word.text} is not on the list of what only reads")
    return Sorted(tuple(others))


def _tar(words: Sequence[Word]) -> Sorted:
    texts = [word.text for word in words]
    if len(words) < 2 or not _TAR_LISTS.fullmatch(texts[0]) or any(word.glob for word in words):
        return Sorted(refusal="only tar -tf is known to just read")
    # tar would fetch host:file from that host.
    if ":" in texts[1] or any(text.startswith("-") for text in texts[1:]):
        return Sorted(refusal="only tar -tf is known to just read")
    return Sorted((words[1],))


def _unzip(words: Sequence[Word]) -> Sorted:
    if len(words) != 2 or words[0].text != "-l" or words[1].glob or words[1].text[:1] == "-":
        return Sorted(refusal="only unzip -l is known to just read")
    return Sorted((words[1],))


def _ip(words: Sequence[Word]) -> Sorted:
    rest = [word.text for word in words]
    while rest and rest[0] in _IP_OPTIONS:
        rest.pop(0)
    if not rest or rest[0] not in _IP_OBJECTS or rest[1:] not in ([], ["show"], ["list"]):
        return Sorted(refusal="only ip addr, link, route and neigh are known to just read")
    return Sorted()


def _ps(words: Sequence[Word]) -> Sorted:
    """Check ps, which takes words that it does not understand for letters of options."""
    rest = [word.text for word in words]
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not equals and _PS_LETTERS.fullmatch(name):
            continue
        if not _PS_VALUED.fullmatch(name) or (equals and not name.startswith("--")):
            return Sorted(refusal="ps has options that show the environment of processes")
        value = value if equals else (rest.pop(0) if rest else "")
        kind = _PS_KEYS if name == "--sort" or name.endswith("o") else _PS_NUMBERS
        if not kind.fullmatch(value):
            return Sorted(refusal="ps has options that show the environment of processes")
    return Sorted()


PARTICULAR: Mapping[str, Callable[[Sequence[Word]], Sorted]] = MappingProxyType(
    {
        **dict.fromkeys(("awk", "gawk", "mawk"), awk_words),
        "echo": _echo,
        "find": _find,
        "sed": _sed,
        "jq": _jq,
        "yq": _yq,
        "printf": _printf,
        "test": _test,
        "[": _bracket,
        "date": _date,
        "command": _command,
        "ps": _ps,
        "tar": _tar,
        "unzip": _unzip,
        "ip": _ip,
        "tree": _tree,
        "xxd": _xxd,
    }
)
"""By program: a check that returns the paths among its words, or why it may do more than read."""

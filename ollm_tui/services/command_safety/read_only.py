"""The commands that only read, with the options that keep it so. What is not here asks.

Options that write (sort -o), run programs (rg --pre), follow links out of the project
(grep -R) or read lists of other files (wc --files0-from) are missing on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple


class Rule(NamedTuple):
    """What a command may be given."""

    short: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options with a value."""
    long: str = ""
    """Names of options whose value, if any, stands after =."""
    long_valued: str = ""
    """Names of options whose value may be the next word."""
    operands: Literal["paths", "text", "none", "pattern"] = "paths"
    """What the other words are; pattern: the first is text, unless an option holds it."""
    most: int = 1000
    """Other words."""
    number: bool = False
    """It takes -5 for a number."""
    globs: bool = False
    """No option of it does harm, so a file that is called like one does none either."""


_GREP = Rule(
    short="abcEFGhHiIlLnoPqrsTvVwxyzZ",
    valued="ABCem",
    long="ignore-case line-number recursive files-with-matches files-without-match count "
    "word-regexp line-regexp invert-match only-matching no-filename with-filename color colour "
    "fixed-strings extended-regexp perl-regexp basic-regexp text quiet silent no-messages null "
    "byte-offset initial-tab",
    long_valued="include exclude exclude-dir max-count after-context before-context context "
    "regexp binary-files",
    operands="pattern",
    number=True,
    globs=True,
)
_RIPGREP = Rule(
    short="acFHiIlnNopPqsSuUvwx0.",
    valued="ABCegjmMrtTd",
    long="files hidden no-ignore no-ignore-vcs ignore-case smart-case case-sensitive line-number "
    "no-line-number files-with-matches files-without-match count count-matches word-regexp "
    "line-regexp fixed-strings pcre2 multiline json stats heading no-heading vimgrep trim column "
    "only-matching invert-match no-config with-filename no-filename type-list pretty null text",
    long_valued="glob iglob type type-not after-context before-context context max-count "
    "max-columns max-depth max-filesize color colors regexp replace sort sortr threads",
    operands="pattern",
)
_PART = Rule(
    short="qvz",
    valued="nc",
    long="quiet verbose",
    long_valued="lines bytes",
    number=True,
    globs=True,
)
_SUM = Rule(short="bt", long="tag binary text", globs=True)

RULES: Mapping[str, Rule] = {
    "ls": Rule(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "ITw",
        "all almost-all human-readable recursive reverse size color inode classify directory "
        "group-directories-first full-time time-style sort time si numeric-uid-gid",
        "ignore hide",
        globs=True,
    ),
    "cat": Rule("AbeEnstTuv", long="number number-nonblank show-all show-ends", globs=True),
    "head": _PART,
    "tail": _PART,
    "wc": Rule("clLmw", long="lines words bytes chars max-line-length", globs=True),
    "nl": Rule("p", "bdfhilnsvw", globs=True),
    "tac": Rule("br", "s", globs=True),
    "rev": Rule(globs=True),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RIPGREP,
    "sort": Rule(
        "bdfghiMnrRVcCmsuz",
        "kt",
        "numeric-sort reverse unique ignore-case human-numeric-sort version-sort stable "
        "general-numeric-sort zero-terminated ignore-leading-blanks",
        "key field-separator",
    ),
    "uniq": Rule("cdDuiz", "fsw", "count repeated unique ignore-case", most=1),
    "cut": Rule(
        "snz", "bcdf", "complement only-delimited", "delimiter fields characters", globs=True
    ),
    "tr": Rule("cCdst", long="complement delete squeeze-repeats", operands="text"),
    "paste": Rule("sz", "d", "serial", "delimiters", globs=True),
    "fold": Rule("bs", "w", globs=True),
    "column": Rule("tx", "sco"),
    "comm": Rule("123z"),
    "diff": Rule(
        "abBcdEiNpqsTuwy",
        "UCWI",
        "unified brief color ignore-all-space ignore-space-change ignore-blank-lines ignore-case "
        "side-by-side report-identical-files minimal suppress-common-lines text",
        most=2,
    ),
    "cmp": Rule("bls", "in", "silent quiet verbose", most=2),
    "file": Rule("bhikLN", long="brief mime mime-type mime-encoding dereference"),
    "stat": Rule("fLt", "c", "dereference terse file-system", "format printf", globs=True),
    "du": Rule(
        "abchkLmsSx0",
        "d",
        "all human-readable summarize total apparent-size bytes exclude",
        "max-depth",
        globs=True,
    ),
    "df": Rule("ahHiklPT", "Btx", "all human-readable inodes print-type total output"),
    "tree": Rule(
        "aACdDfFghilnprstuUv",
        "LIP",
        "dirsfirst noreport gitignore prune du si inodes",
    ),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "sha512sum": _SUM,
    "cksum": Rule(globs=True),
    "od": Rule("abcdfilosvx", "AjNt"),
    "readlink": Rule("efmnqsvz", long="canonicalize no-newline"),
    "realpath": Rule("eLmPqsz", long="no-symlinks canonicalize-existing"),
    "basename": Rule("az", "s", "multiple zero", "suffix", operands="text"),
    "dirname": Rule("z", operands="text"),
    "pwd": Rule("LP", operands="none"),
    "whoami": Rule(operands="none"),
    "id": Rule("gGnruzZ", long="user group groups name real", operands="text", most=1),
    "groups": Rule(operands="text", most=1),
    "uname": Rule("asnrvmpio", long="all kernel-name kernel-release machine", operands="none"),
    "arch": Rule(operands="none"),
    "hostname": Rule(operands="none"),
    "nproc": Rule(long="all", operands="none"),
    "uptime": Rule("ps", long="pretty since", operands="none"),
    "free": Rule("bkmghtlw", long="human mega giga total", operands="none"),
    "which": Rule("as", long="all", operands="text"),
    "type": Rule("afptP", operands="text"),
    "true": Rule(operands="none"),
    "false": Rule(operands="none"),
}

VERSIONS: Mapping[str, tuple[str, ...]] = {
    "python": ("--version", "-V"),
    "python3": ("--version", "-V"),
    "node": ("--version", "-v"),
    "ruby": ("--version", "-v"),
    "perl": ("--version", "-v"),
    "php": ("--version", "-v"),
    "java": ("--version", "-version"),
    "gcc": ("--version",),
    "g++": ("--version",),
    "cc": ("--version",),
    "clang": ("--version",),
    "make": ("--version",),
    "cmake": ("--version",),
    "bash": ("--version",),
    "git": ("--version", "version"),
}
"""Programs that only say which they are. Not cargo, go, yarn, pnpm, npx, gradlew …: those obey
files of the project that name another program to be run in their place."""

WHOLE: frozenset[tuple[str, ...]] = frozenset((("ps",), ("ps", "aux"), ("ps", "-ef")))
"""Commands that are allowed only just so: ps has an option that shows the environment."""

FIND_PLAIN = frozenset(
    (
        *("-a", "-and", "-o", "-or", "-not", "!", "(", ")", ",", "-true", "-false", "-depth"),
        *("-print", "-print0", "-ls", "-prune", "-quit", "-empty", "-xdev", "-mount"),
        *("-daystart", "-readable", "-writable", "-executable", "-nouser", "-nogroup"),
    )
)
FIND_VALUED = frozenset(
    (
        *("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-regextype"),
        *("-type", "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-ctime"),
        *("-cmin", "-atime", "-amin", "-perm", "-user", "-group", "-links", "-newermt", "-printf"),
    )
)

"""The commands that only read, with the options with which they only do that. All others ask.

Options that write (sort -o), run programs (rg --pre), follow links out of the project
(grep -R) or read lists of other files (wc --files0-from) are missing on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple


class Rule(NamedTuple):
    """The words a command may be given to run unasked."""

    short: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options with a value."""
    long: str = ""
    """Names of options whose value, if any, stands after =."""
    long_valued: str = ""
    """Names of options whose value may be the next word."""
    operands: Literal["paths", "text", "none", "pattern"] = "paths"
    """What the words that are no options are; with `pattern` the first is text and the others are
    paths, unless an option holds the pattern."""
    most: int = 1000
    """The most words that are no options."""
    number: bool = False
    """Whether -5 is a number for it."""
    attached: str = ""
    """Letters of options whose value, if any, is in the same word."""
    globs: bool = False
    """Whether none of its options does harm, so that a file named like one does none either."""


_GREP = Rule(
    short="abcEFGhHiIlLnoPqrsTUvVwxyzZ",
    valued="ABCemd",
    long="ignore-case no-ignore-case line-number recursive files-with-matches files-without-match "
    "count word-regexp line-regexp invert-match only-matching no-filename with-filename color "
    "colour fixed-strings extended-regexp perl-regexp basic-regexp text quiet silent no-messages "
    "null null-data byte-offset initial-tab line-buffered version",
    long_valued="include exclude exclude-dir max-count after-context before-context context "
    "regexp binary-files label directories",
    operands="pattern",
    number=True,
    globs=True,
)
_RIPGREP = Rule(
    short="acFHiIlnNopPqsSuUvwx0.bV",
    valued="ABCegjmMrtTdE",
    long="files hidden no-ignore no-ignore-vcs ignore-case smart-case case-sensitive line-number "
    "no-line-number files-with-matches files-without-match count count-matches word-regexp "
    "line-regexp fixed-strings pcre2 multiline multiline-dotall json stats heading no-heading "
    "vimgrep trim column only-matching invert-match no-config with-filename no-filename type-list "
    "pretty null text no-messages passthru crlf unrestricted byte-offset quiet include-zero "
    "glob-case-insensitive one-file-system max-columns-preview no-ignore-parent version "
    "no-unicode null-data",
    long_valued="glob iglob type type-not after-context before-context context max-count "
    "max-columns max-depth max-filesize color colors regexp replace sort sortr threads encoding "
    "context-separator maxdepth",
    operands="pattern",
)
_FD = Rule(
    short="HIusigaFp01qV",
    valued="dteESjc",
    long="hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex "
    "fixed-strings absolute-path full-path print0 prune quiet show-errors version",
    long_valued="max-depth min-depth exact-depth type extension exclude size changed-within "
    "changed-before color threads max-results",
    operands="pattern",
)
_PART = Rule(
    short="qvz",
    valued="nc",
    long="quiet silent verbose zero-terminated",
    long_valued="lines bytes",
    number=True,
    globs=True,
)
_SUM = Rule(short="btz", long="tag binary text zero", globs=True)
_NAMED = "all human-readable"

RULES: Mapping[str, Rule] = {
    "ls": Rule(
        "aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1",
        "ITw",
        "all almost-all author escape human-readable recursive reverse size color inode classify "
        "directory group-directories-first full-time time-style sort time si numeric-uid-gid "
        "block-size format file-type indicator-style quoting-style quote-name literal kibibytes "
        "hyperlink no-group zero context",
        "ignore hide width tabsize",
        globs=True,
    ),
    "cat": Rule(
        "AbeEnstTuv",
        long="number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank",
        globs=True,
    ),
    "head": _PART,
    "tail": _PART,
    "wc": Rule("clLmw", long="lines words bytes chars max-line-length total", globs=True),
    "nl": Rule("p", "bdfhilnsvw", long_valued="body-numbering number-width", globs=True),
    "tac": Rule("br", "s", globs=True),
    "rev": Rule(globs=True),
    "zcat": Rule(most=20),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": _RIPGREP,
    "fd": _FD,
    "fdfind": _FD,
    "sort": Rule(
        "bdfghiMnrRVcCmsuz",
        "kt",
        "numeric-sort reverse unique ignore-case human-numeric-sort version-sort stable "
        "general-numeric-sort zero-terminated ignore-leading-blanks dictionary-order month-sort "
        "random-sort check ignore-nonprinting merge",
        "key field-separator",
    ),
    "uniq": Rule(
        "cdDuiz",
        "fsw",
        "count repeated unique ignore-case all-repeated group zero-terminated",
        "skip-fields skip-chars check-chars",
        most=1,
    ),
    "shuf": Rule("erz", "in", "echo repeat zero-terminated", "head-count input-range", most=1),
    "cut": Rule(
        "snz",
        "bcdf",
        "complement only-delimited zero-terminated",
        "delimiter fields characters bytes output-delimiter",
        globs=True,
    ),
    "tr": Rule(
        "cCdst", long="complement delete squeeze-repeats truncate-set1", operands="text", most=2
    ),
    "paste": Rule("sz", "d", "serial", "delimiters", globs=True),
    "fold": Rule("bs", "w", "bytes spaces", "width", globs=True),
    "fmt": Rule("cstu", "wgp", "split-only uniform-spacing", "width goal", number=True, globs=True),
    "expand": Rule("i", "t", "initial", "tabs", globs=True),
    "unexpand": Rule("a", "t", "all first-only", "tabs", globs=True),
    "column": Rule("txen", "scoNRHTl", "table fillrows", "separator output-separator columns"),
    "comm": Rule("123z", long="check-order nocheck-order total", long_valued="output-delimiter"),
    "join": Rule("iz", "12jtaveo", "ignore-case header", most=2),
    "diff": Rule(
        "abBcdEiNpqrstTuwyZ",
        "UCWIxF",
        "unified context brief color recursive new-file ignore-all-space ignore-space-change "
        "ignore-blank-lines ignore-case ignore-tab-expansion ignore-trailing-space side-by-side "
        "report-identical-files minimal suppress-common-lines text normal no-dereference "
        "strip-trailing-cr show-c-function left-column expand-tabs",
        "exclude width ignore-matching-lines label",
        most=2,
    ),
    "cmp": Rule("bls", "in", "silent quiet verbose print-bytes", "bytes", most=2),
    "file": Rule(
        "0bhikLNr",
        "F",
        "brief mime mime-type mime-encoding dereference no-dereference no-pad raw extension",
    ),
    "stat": Rule("fLt", "c", "dereference terse file-system", "format printf", globs=True),
    "du": Rule(
        "abchklmsSx0",
        "dBt",
        f"{_NAMED} summarize total apparent-size bytes separate-dirs one-file-system null inodes "
        "si time time-style count-links",
        "max-depth exclude threshold block-size",
        globs=True,
    ),
    "df": Rule(
        "ahHiklPT",
        "Btx",
        f"{_NAMED} inodes print-type total output si local portability",
        "type exclude-type block-size",
        operands="text",
    ),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "b2sum": _SUM,
    "cksum": Rule(globs=True),
    "sum": Rule("rs", globs=True),
    "base64": Rule("di", "w", "decode ignore-garbage", "wrap", most=1),
    "od": Rule("abcdfilosvx", "AjNtS", "output-duplicates", "address-radix format read-bytes"),
    "hexdump": Rule("bcCdoxv", "ns", "canonical", "length skip"),
    "strings": Rule("af", "ntes", "all print-file-name", "bytes radix encoding"),
    "readlink": Rule("efmnqsvz", long="canonicalize no-newline"),
    "realpath": Rule(
        "eLmPqsz", long="no-symlinks canonicalize-existing canonicalize-missing quiet"
    ),
    "basename": Rule("az", "s", "multiple zero", "suffix", operands="text"),
    "dirname": Rule("z", operands="text"),
    "seq": Rule("w", "fs", "equal-width", "format separator", operands="text", number=True),
    "sleep": Rule(operands="text", most=1),
    "expr": Rule(operands="text"),
    "pwd": Rule("LP", operands="none"),
    "whoami": Rule(operands="none"),
    "logname": Rule(operands="none"),
    "tty": Rule("s", operands="none"),
    "who": Rule("abdHlmqrstTu", operands="none"),
    "w": Rule("hsfo", operands="none"),
    "id": Rule("gGnruzZ", long="user group groups name real", operands="text", most=1),
    "groups": Rule(operands="text", most=1),
    "uname": Rule(
        "asnrvmpio",
        long="all kernel-name nodename kernel-release kernel-version machine operating-system",
        operands="none",
    ),
    "arch": Rule(operands="none"),
    "hostname": Rule("fsiIAd", long="fqdn short ip-address all-ip-addresses", operands="none"),
    "nproc": Rule(long="all", operands="none"),
    "uptime": Rule("ps", long="pretty since", operands="none"),
    "free": Rule("bkmghtlw", long="human mega giga kilo bytes total wide si", operands="none"),
    "lscpu": Rule("aeJy", long="json extended", operands="none"),
    "lsblk": Rule("abdfJlmnprSt", "o", "json list fs", "output", operands="none"),
    "lsb_release": Rule("aicdrsv", long="all id description release codename", operands="none"),
    "locale": Rule("am", operands="none"),
    "getconf": Rule("a", operands="text", most=1),
    "cal": Rule("13jmswy", "ABn", operands="text", most=3),
    "pgrep": Rule("aflnovxi", "uPtg", "list-name list-full count", operands="text", most=1),
    "pidof": Rule("sx", operands="text"),
    "ss": Rule("tulnpaxeomiH46s", operands="none"),
    "netstat": Rule("tulnpaerisW46", operands="none"),
    "ag": Rule(
        "acgGiLlnQsSUuvwz0",
        "ABCGm",
        "ignore-case case-sensitive smart-case literal word-regexp files-with-matches "
        "files-without-matches count hidden unrestricted all-types all-text invert-match "
        "line-numbers nonumbers nocolor nogroup nofilename null python js java html cc rust ruby",
        "after before context depth max-count file-search-regex ignore",
        operands="pattern",
    ),
    "bat": Rule(
        "pAn",
        "lrH",
        "plain show-all number list-languages list-themes no-pager",
        "language line-range highlight-line style color theme tabs wrap terminal-width",
    ),
    "nm": Rule("aACDgnprSu", long="demangle defined-only undefined-only dynamic extern-only"),
    "objdump": Rule(
        "adDfhprRstTxCw",
        "jM",
        "disassemble headers syms demangle section-headers all-headers",
        "section",
    ),
    "readelf": Rule("ahlSegstndVWrAI", long="all file-header headers symbols wide"),
    "size": Rule("ABdt", long="format totals"),
    "dpkg": Rule("lLsS", long="list listfiles status search version", operands="text"),
    "journalctl": Rule(
        "abeklqrx",
        "gnpotuS",
        "all boot catalog dmesg full list-boots no-full no-hostname no-pager quiet reverse system "
        "user utc",
        "grep identifier lines output priority since unit until user-unit",
        operands="none",
    ),
    "which": Rule("as", long="all", operands="text"),
    "whereis": Rule("bms", operands="text"),
    "type": Rule("afptP", operands="text"),
    "true": Rule(operands="none"),
    "false": Rule(operands="none"),
    ":": Rule(operands="none"),
}
"""The rule of each command that may run unasked."""

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
"""Options with which a program only prints its version. Not of cargo, go, yarn, pnpm, npx, gradlew:
for those a file of the project can name another program to run in their place."""

_LISTING = Rule(
    "aq",
    "fn",
    "all quiet no-trunc digests latest size",
    "filter format last",
    operands="text",
)
_UNITS = Rule(
    "alq",
    "nto",
    "all full no-pager no-legend plain quiet user failed",
    "lines type state output",
    operands="text",
)
_KNOWN_PACKAGES = Rule(
    "a", long="installed upgradable all-versions names-only", operands="text", most=20
)
REPORTS: Mapping[str, Mapping[str, Rule]] = {
    "docker": {"ps": _LISTING, "images": _LISTING, "version": _LISTING},
    "systemctl": dict.fromkeys(
        ("status", "is-active", "is-enabled", "is-failed", "list-units", "list-timers"), _UNITS
    ),
    "apt": {"list": _KNOWN_PACKAGES, "show": _KNOWN_PACKAGES},
    "apt-cache": dict.fromkeys(("policy", "search", "show"), _KNOWN_PACKAGES),
}
"""By program: its first words that only report how the machine is. None that goes to a server, or
that asks a file of the project what to run."""

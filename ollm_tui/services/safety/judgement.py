"""Judges commands before they run: as read-only, ordinary or dangerous.

Only a command of which every part is known to do nothing but read the project is read-only.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ollm_tui.core.intake import visible
from ollm_tui.services.safety.git_reading import git_words
from ollm_tui.services.safety.option_words import Sorted, sorted_words
from ollm_tui.services.safety.particular_programs import PARTICULAR
from ollm_tui.services.safety.piped_names import piped
from ollm_tui.services.safety.places import Places, keeps_secrets, singles_out_secrets
from ollm_tui.services.safety.plain_words import PlainCommand, Word, plain_code
from ollm_tui.services.safety.read_only import REPORTS, RULES, VERSIONS, Rule
from ollm_tui.services.safety.shell_dangers import shell_danger

LONGEST_CODE = 10_000
"""Characters of code that are looked through; longer code always asks. For code that is made to
keep it busy the grammar takes a second at this length, and four times that at twice the length."""
LONGEST_READING = 4_000
"""Characters of a command that may run unasked: nobody needs more to look at something."""

LONGEST_REASON = 200
"""Characters of a reason that the user is shown."""

Level = Literal["read-only", "ordinary", "dangerous"]


class CommandJudgement(msgspec.Struct, frozen=True):
    """The level of a command, and why."""

    level: Level
    reason: str
    """One line for the user."""
    argvs: tuple[tuple[str, ...], ...] = ()
    """The words of each of its commands; empty if it is more than plain words."""


def judge(code: str, place: Path, scope: Sequence[Path]) -> CommandJudgement:
    """Judge shell code that would run in the directory `place` and may only touch the scope."""
    if len(code) > LONGEST_CODE:
        return CommandJudgement("dangerous", "it is too long to be looked through")
    places = Places(place, scope)
    plain = plain_code(code)
    argvs = tuple(command.argv for command in plain.commands)
    why = plain.refusal or _refusal(plain.commands, places)
    if not why and len(code) > LONGEST_READING:
        why = "it is too long to run unasked"
    if not why:
        return CommandJudgement("read-only", "it only reads files of the project", argvs)
    if danger := shell_danger(code, places):
        return CommandJudgement("dangerous", danger, argvs)
    return CommandJudgement("ordinary", _line(why), argvs)


def judge_python(code: str, place: Path, scope: Sequence[Path]) -> CommandJudgement:
    """Judge Python code: it is ordinary, or dangerous, but never read-only."""
    if len(code) > LONGEST_CODE:
        return CommandJudgement("dangerous", "it is too long to be looked through")
    if danger := python_danger(code, Places(place, scope)):
        return CommandJudgement("dangerous", danger)
    return CommandJudgement("ordinary", "it runs Python code")


def _refusal(commands: Sequence[PlainCommand], places: Places) -> str:
    """Why commands may do more than read the project; empty if they only do that."""
    left: list[Places] = []
    sure = True
    for at, command in enumerate(commands):
        # What follows otherwise than by && or | also runs if cd fails, in the directory before.
        sure = sure and command.after in ("", "&&", "|")
        if command.words[0] == ("cd", False, False):
            moved = places.moved(command.words[1].text) if _is_plain_cd(command) else None
            if not _is_leading_cd(commands, at) or moved is None:
                return "it goes to another directory"
            left.append(places)
            places = moved
            continue
        before = _pipeline(commands[: at + 1])
        for place in (places,) if sure else (places, *left):
            if why := refusal(command, place, before):
                return why
    return ""


def _pipeline(commands: Sequence[PlainCommand]) -> Sequence[PlainCommand]:
    """The commands whose output goes to the last one of these, by way of each other."""
    start = len(commands) - 1
    while commands[start].after == "|":
        start -= 1
    return commands[start:-1]


def _is_leading_cd(commands: Sequence[PlainCommand], at: int) -> bool:
    """Whether a cd comes before all other commands: each with &&, or a single one."""
    before = [command.words[0].text for command in commands[:at]]
    after = commands[at + 1].after if at + 1 < len(commands) else "&&"
    alone = at == 0 and all(command.words[0].text != "cd" for command in commands[1:])
    return set(before) <= {"cd"} and (after == "&&" or (alone and after in (";", "\n")))


def _line(reason: str) -> str:
    """A reason in one line and without control characters: it may quote the command."""
    return " ".join(visible(reason).split())[:LONGEST_REASON]


def _is_plain_cd(command: PlainCommand) -> bool:
    """Whether a cd names one directory, without `..`, which leads elsewhere for the shell than for
    the kernel behind links."""
    words = command.words
    if len(words) != 2 or words[1].glob or not words[1].text.strip("-"):
        return False
    return ".." not in words[1].text.split("/")


_HOLDS_PATTERN = frozenset(("-e", "regexp", "files", "type-list"))
"""Options with which the first word is a path and not the pattern."""
_CHOOSES_FILES = frozenset(("-g", "glob", "iglob", "include"))
"""Options whose value is a pattern for names of files."""


def refusal(command: PlainCommand, places: Places, before: Sequence[PlainCommand] = ()) -> str:
    """Why a command may do more than read the project; empty if it only does that.

    The output of those `before` goes to it.
    """
    if command.words[0] == ("xargs", False, False):
        command, why = piped(command, before, places)
        if why:
            return why
    name, *rest = command.words
    if name.quoted or name.glob:
        return "the name of its program is not written plainly"
    if any(word.glob for word in command.inputs):
        return "the shell would choose the file for its input"
    if why := next(filter(None, (places.refusal(word.text) for word in command.inputs)), ""):
        return why
    rule = RULES.get(name.text)
    found = _sorted(name.text, rest, rule, places)
    if found.refusal:
        return found.refusal
    if name.text == "diff" and _follows_links(found.others, places):
        return "it compares directories, and would follow links in them"
    harmless = rule is not None and rule.globs
    return next(filter(None, (_path(word, places, harmless) for word in found.others)), "")


def _sorted(name: str, words: Sequence[Word], rule: Rule | None, places: Places) -> Sorted:
    """The paths among the words, or why the command may do more than read."""
    if len(words) == 1 and words[0].text in VERSIONS.get(name, ()):
        return Sorted()
    if name == "git":
        return git_words(words, places)
    if particular := PARTICULAR.get(name):
        return particular(words)
    if (reports := REPORTS.get(name)) and words and not words[0].glob:
        rule, words = reports.get(words[0].text), words[1:]
    if rule is None:
        return Sorted(refusal=f"{name} is not on the list of commands that only read")
    return _paths(sorted_words(name, words, rule), rule)


def _paths(found: Sorted, rule: Rule) -> Sorted:
    """The paths among the words of a command that has a rule, or why it may do more than read."""
    others = found.others
    if found.refusal:
        return found
    if any(name in _CHOOSES_FILES and singles_out_secrets(value) for name, value in found.values):
        return Sorted(refusal="it looks for places where secrets are kept")
    if len(others) > (0 if rule.operands == "none" else rule.most):
        return Sorted(refusal="it has more words than it takes for reading")
    if any(word.text.startswith("@") for word in others):
        return Sorted(refusal="a word with @ may stand for a file with more words")
    texts = len(others) if rule.operands == "text" else 0
    if rule.operands == "pattern" and not found.options & _HOLDS_PATTERN:
        texts = 1
    if any(word.glob for word in others[:texts]):
        return Sorted(refusal="the shell would replace its pattern by names of files")
    if rule.most == 1 and any(word.glob for word in others):
        return Sorted(refusal="its second file would be written")
    return Sorted(others[texts:])


def _follows_links(paths: Sequence[Word], places: Places) -> bool:
    folders = [real for word in paths if (real := places.real(word.text)).is_dir()]
    return any(places.leads_out(folder) for folder in folders)


def _path(word: Word, places: Places, harmless_options: bool) -> str:
    """Why a path may not be read unasked; empty if it may."""
    if not word.glob:
        return places.refusal(word.text)
    if word.quoted or (word.text[0] in "*?-" and not harmless_options):
        return "its pattern could stand for a file that is called like an option"
    return places.refusal_of_matches(word.text)


_RUNS = frozenset(
    (
        *("os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.Popen", "cmd"),
        *("subprocess.check_call", "subprocess.check_output", "subprocess.getoutput", "system"),
    )
)
_DELETES_TREES = frozenset(("shutil.rmtree", "rmtree"))
_WRITES = frozenset(
    ("os.remove", "os.unlink", "os.rmdir", "os.makedirs", "os.mkdir", "os.chmod", "os.truncate")
)
UNREADABLE = "it cannot be looked through"


def python_danger(code: str, places: Places) -> str:
    """What is dangerous about Python code, in a few words; empty if nothing known is."""
    try:
        tree = ast.parse(code)
        return next(filter(None, (_node(node, places) for node in ast.walk(tree))), "")
    except SyntaxError:
        return ""  # it will not run
    except (ValueError, RecursionError, MemoryError):
        return UNREADABLE


def _node(node: ast.AST, places: Places) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        if "/" in text and "\n" not in text and keeps_secrets(places.within(places.real(text))):
            return "it names a place where secrets are kept"
    return _call(node, places) if isinstance(node, ast.Call) else ""


def _call(call: ast.Call, places: Places) -> str:
    name = ast.unparse(call.func)
    first = _constant(call.args[0]) if call.args else ""
    if name in _DELETES_TREES:
        return "it deletes whole directories"
    if name in _RUNS and call.args:
        rest = _constant(call.args[1]) if len(call.args) > 1 else ""
        return shell_danger(f"{first} {rest}", places)
    if name in _WRITES and first:
        return places.write_danger(first)
    if name == "open" and first and len(call.args) > 1:
        return places.write_danger(first) if set(_constant(call.args[1])) & set("wax+") else ""
    return ""


def _constant(node: ast.expr) -> str:
    """The value of a literal text, or a list of such texts as a command line; otherwise empty."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return shlex.join(filter(None, map(_constant, node.elts)))
    return ""

"""Whether one plain command only reads: its options are known and its paths lie in the project."""

from __future__ import annotations

from collections.abc import Sequence

from ollm_tui.services.safety.git_reading import git_words
from ollm_tui.services.safety.option_words import Sorted, sorted_words
from ollm_tui.services.safety.particular_programs import PARTICULAR
from ollm_tui.services.safety.places import Places, singles_out_secrets
from ollm_tui.services.safety.plain_words import PlainCommand, Word
from ollm_tui.services.safety.read_only import RULES, VERSIONS, Rule

_HOLDS_PATTERN = frozenset(("-e", "regexp", "files", "type-list"))
_CHOOSES_FILES = frozenset(("-g", "glob", "iglob", "include"))


def refusal(command: PlainCommand, places: Places) -> str:
    """Why a command may do more than read the project; empty if it only does that."""
    name, *rest = command.words
    if name.quoted or name.glob:
        return "the name of its program is not written plainly"
    rule = RULES.get(name.text)
    found = _sorted(name.text, rest, rule, places)
    if found.refusal:
        return found.refusal
    if name.text == "diff" and _follows_links(found.others, places):
        return "it compares directories, and would follow links in them"
    leads = rule is not None and rule.globs
    return next(filter(None, (_path(word, places, leads) for word in found.others)), "")


def _sorted(name: str, words: Sequence[Word], rule: Rule | None, places: Places) -> Sorted:
    """The paths among the words, or why the command may do more than read."""
    if len(words) == 1 and words[0].text in VERSIONS.get(name, ()):
        return Sorted()
    if name == "git":
        return git_words(words, places)
    if particular := PARTICULAR.get(name):
        return particular(words)
    if rule is None:
        return Sorted(refusal=f"{name} is not on the list of commands that only read")
    return _paths(sorted_words(name, words, rule), rule)


def _paths(found: Sorted, rule: Rule) -> Sorted:
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


def _path(word: Word, places: Places, leads: bool) -> str:
    if not word.glob:
        return places.refusal(word.text)
    if word.quoted or (word.text[0] in "*?-" and not leads):
        return "its pattern could stand for a file that is called like an option"
    return places.refusal_of_matches(word.text)

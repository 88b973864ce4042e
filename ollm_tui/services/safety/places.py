"""Judges paths in commands: whether they are in the scope, hold secrets, or make things run."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase, translate
from itertools import islice, takewhile
from pathlib import Path

MOST_ENTRIES = 10_000
"""The most entries of a directory, or of a tree, that are looked at."""
LONGEST_PATH = 4096
DEVICES = frozenset(
    ("/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
)
"""Devices to which writing changes nothing."""

_SECRETS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "gcloud"),
    *(".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".vault-token"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx"),
    *(".env", ".env.*", ".envrc", "credentials", "credentials.json", "credentials.csv"),
    *("secrets.json", "secrets.y*ml", "secrets.env", "keyrings", ".my.cnf", "terraform.tfstate"),
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history"),
)
_NAMES_OF_SECRETS = re.compile("|".join(map(translate, _SECRETS)))
_NO_SECRETS = frozenset((".env.example", ".env.sample", ".env.template", ".env.dist"))
PLAIN_NAME = re.compile(r"(?!-)[^\s'\"\\\x00-\x20\x7f]+")
"""The name of a file that is one word for xargs, and no option."""
_PARTS_OF_PATTERN = re.compile(r"[{},]")
_SYSTEM_SECRETS = re.compile(r"/etc/(g?shadow|sudoers)|/proc/([^/]+/)+(environ|mem)$|/proc/kcore")

SHELL_STARTS = frozenset(
    (
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
        *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".inputrc", ".kshrc", ".cshrc"),
        *(".tcshrc", ".login", ".xprofile", ".xinitrc", ".xsession", ".envrc", "config.fish"),
    )
)
"""Files that a shell runs when it starts or ends."""
_SELF_STARTING = frozenset(
    (
        *(".husky", ".githooks", ".vscode", ".idea", ".devcontainer", "autostart", "systemd"),
        *("cron.d", "crontabs", "LaunchAgents", "LaunchDaemons", ".ssh", ".gnupg"),
    )
)
"""Directories whose files other programs run by themselves."""
_BUILD_SERVERS = frozenset(
    (
        *(
            ".github",
            ".gitlab",
            ".circleci",
            ".gitlab-ci.yml",
            "azure-pipelines.yml",
            "Jenkinsfile",
        ),
        *(".travis.yml", ".pre-commit-config.yaml"),
    )
)
"""Files that decide what runs on a push or a commit."""
_INSTRUCTIONS = frozenset(("AGENTS.md", "CLAUDE.md", "GEMINI.md", "OLLM.md", ".ollm"))
"""What decides what the model is told and what this program may do."""


class Places:
    """The directory `place` in which a command runs, and the directories it may touch."""

    def __init__(self, place: Path, scope: Sequence[Path]) -> None:
        self.place = Path(os.path.realpath(place))
        self.scope = tuple(Path(os.path.realpath(each)) for each in scope)
        self._temporary = Path(os.path.realpath(tempfile.gettempdir()))

    def moved(self, directory: str) -> Places | None:
        """The places after `cd`; None if it leads out of the scope or nowhere."""
        to = self.real(directory)
        return Places(to, self.scope) if self.holds(to) and to.is_dir() else None

    def real(self, text: str) -> Path:
        """The absolute path of a word of a command, with links followed."""
        for name in ("~", "$HOME", "${HOME}"):
            if text == name or text.startswith(f"{name}/"):
                text = str(Path.home()) + text[len(name) :]
        text = text[:LONGEST_PATH].replace("\0", "").encode("utf-8", "replace").decode()
        return Path(os.path.realpath(self.place / text))

    def holds(self, real: Path) -> bool:
        """Whether a resolved path is in the scope."""
        return any(real.is_relative_to(each) for each in self.scope)

    def refusal(self, text: str) -> str:
        """Why a path may not be read unasked; empty if it may."""
        real = self.real(text)
        if text in ("-", os.devnull):
            return ""
        if len(text) > LONGEST_PATH or not self.holds(real):
            return "it reads outside of the project"
        if keeps_secrets(real) or keeps_secrets(Path(text)):
            return "it names a place where secrets are kept"
        return ""

    def leads_out(self, folder: Path, *, without: str = "") -> bool:
        """Whether a link below a folder leads out of the scope, or the folder is too large to tell.

        Folders named `without` are passed over.
        """
        count = 0
        for parent, folders, files in os.walk(folder):
            folders[:] = [name for name in folders if name != without]
            count += len(folders) + len(files)
            if count > MOST_ENTRIES:
                return True
            links = (
                path for name in (*folders, *files) if (path := Path(parent, name)).is_symlink()
            )
            if not all(self.holds(Path(os.path.realpath(link))) for link in links):
                return True
        return False

    def has_plain_names(self, folder: Path, *, secrets: bool, without: str = "") -> bool:
        """Whether all files below a folder may be read and have names that xargs does not split.

        With `secrets` also those that keep some. Folders named `without` are passed over.
        """
        count = 0
        for parent, folders, files in os.walk(folder):
            folders[:] = [name for name in folders if name != without]
            count += len(folders) + len(files)
            if count > MOST_ENTRIES:
                return False
            paths = (Path(parent, name) for name in (*folders, *files))
            if not all(self.is_plain_name(path, secrets=secrets) for path in paths):
                return False
        return True

    def is_plain_name(self, path: Path, *, secrets: bool) -> bool:
        """Whether a file that is named by another program may be read, and is one word."""
        real = Path(os.path.realpath(path)) if path.is_symlink() else path
        hidden = keeps_secrets(path) or keeps_secrets(real)
        return (
            bool(PLAIN_NAME.fullmatch(path.name)) and self.holds(real) and (secrets or not hidden)
        )

    def refusal_of_matches(self, pattern: str) -> str:
        """Why files that match a shell pattern may not be read unasked; empty if they may."""
        folder, _, last = pattern.rstrip("/").rpartition("/")
        if _WILD.search(folder):
            return self._refusal_below(folder.split("/"), last)
        real = self.real(folder or (pattern.startswith("/") and "/") or ".")
        if not self.holds(real):
            return "it reads outside of the project"
        try:
            with os.scandir(real) as entries:
                found = list(islice(entries, MOST_ENTRIES + 1))
                folders_only = pattern.endswith("/")
                names = [entry.name for entry in found if not folders_only or entry.is_dir()]
        except OSError:
            return ""  # no file can match
        if len(found) > MOST_ENTRIES:
            return "its pattern stands for too many files to look at"
        return next(filter(None, self._refusals(real, last, names)), "")

    def _refusal_below(self, folders: Sequence[str], last: str) -> str:
        """The same where a directory has a pattern: whatever is called so at any depth must be
        allowed, as some shells take ** for any depth and others for one."""
        named = list(takewhile(lambda part: not _WILD.search(part), folders))
        wild = folders[len(named) :]
        if ".." in wild or any(part.startswith(".") for part in wild):
            return "it has a pattern for directories"
        top = self.real("/".join(named) or (folders[0] == "" and "/") or ".")
        if not self.holds(top):
            return "it reads outside of the project"
        count = 0
        for parent, below, files in os.walk(top):
            below[:] = [name for name in below if not name.startswith(".")]
            count += len(below) + len(files)
            if count > MOST_ENTRIES:
                return "its pattern stands for too many files to look at"
            if any(Path(parent, name).is_symlink() for name in below):
                return "its pattern may lead through links"
            if why := next(filter(None, self._refusals(Path(parent), last, [*below, *files])), ""):
                return why
        return ""

    def write_danger(self, text: str) -> str:
        """What is dangerous about writing to a path; empty if nothing is."""
        # What a variable other than $HOME stands for is unknown.
        if text in DEVICES or text.startswith("/dev/fd/") or "$" in text.replace("$HOME", "", 1):
            return ""
        real = self.real(text)
        if runs := runs_by_itself(self.within(real)):
            return f"it changes {runs}"
        if str(real).startswith("/dev/") and not real.is_relative_to("/dev/shm"):
            return "it writes to a device"
        if not self.holds(real) and not real.is_relative_to(self._temporary):
            return "it writes outside of the project"
        return ""

    def within(self, real: Path) -> Path:
        """A path relative to the scope: the name of the project's own directory says nothing."""
        roots = [each for each in self.scope if real.is_relative_to(each)]
        return real.relative_to(max(roots, key=lambda root: len(root.parts))) if roots else real

    def _refusals(self, folder: Path, pattern: str, names: list[str]) -> Iterator[str]:
        for name in names:
            hidden = name.startswith(".") and not pattern.startswith(".")
            if not hidden and fnmatchcase(name, pattern):
                yield self.refusal(str(folder / name))


def keeps_secrets(path: Path) -> bool:
    """Whether a path looks like one where keys or passwords are kept."""
    if _SYSTEM_SECRETS.match(str(path)):
        return True
    return any(
        part not in _NO_SECRETS and _NAMES_OF_SECRETS.match(part)
        for part in map(str.casefold, path.parts)
    )


def singles_out_secrets(pattern: str) -> bool:
    """Whether a pattern for file names looks for secrets: .env*, **/*.pem, {.env,x}."""
    given = () if pattern.startswith("!") else _PARTS_OF_PATTERN.split(pattern)
    return any(keeps_secrets(Path(part)) or keeps_secrets(Path(part.strip("*"))) for part in given)


def runs_by_itself(path: Path) -> str:
    """What a path in a project decides, if it makes things run by themselves; otherwise empty."""
    parts = frozenset(path.parts)
    if ".git" in parts or path.name == ".gitconfig":
        return "what git does by itself"
    if path.name in SHELL_STARTS:
        return "what a shell runs when it starts"
    if parts & _INSTRUCTIONS:
        return "what the model is told, or what ollm may do"
    if parts & _BUILD_SERVERS:
        return "what runs when it is pushed or committed"
    if parts & _SELF_STARTING or path.name == "crontab":
        return "what other programs run by themselves"
    return ""


_SAMPLES = (".env", ".env.local", ".netrc", ".npmrc", "id_rsa", "credentials", "secrets.json")
_WILD = re.compile(r"[*?\[]")


def names_secrets(path: str) -> bool:
    """Whether a path or pattern names secrets. A pattern that begins with * does so only by the
    rest of it: *.pem does, *.json does not."""
    last = path.rstrip("/").rpartition("/")[2].casefold()
    is_narrow = _WILD.search(last) is not None and not last.startswith("*")
    return (
        keeps_secrets(Path(path))
        or singles_out_secrets(path)
        or (is_narrow and any(fnmatchcase(sample, last) for sample in _SAMPLES))
    )

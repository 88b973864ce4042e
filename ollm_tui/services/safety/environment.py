"""The environment of child processes: what they need to work, and nothing they could leak."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cache

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.schema import Environment
from ollm_tui.settings.variable_patterns import split_patterns

CORE_VARIABLES = ("PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "LC_*")
"""The variables that pass if the settings cannot be used at all."""

STARTS_CODE = (
    *("LD_*", "DYLD_*", "GCONV_PATH", "BASH_ENV", "BASH_FUNC_*", "ENV", "ZDOTDIR", "FPATH", "PS4"),
    *("PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "CDPATH", "IFS", "PERL5*", "PERLLIB", "RUBYOPT"),
    *("RUBYLIB", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_*", "NPM_CONFIG_NODE_OPTIONS"),
    *("NPM_CONFIG_SCRIPT_SHELL", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT"),
    *("PYTHONBREAKPOINT", "PYTHONUSERBASE", "PYTHONWARNINGS", "PYTHONEXECUTABLE", "LUA_INIT*"),
    *("LUA_PATH*", "LUA_CPATH*", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE*", "R_ENVIRON*"),
    *("JULIA_LOAD_PATH", "ERL_*FLAGS", "TCLLIBPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
    *("JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS", "DOTNET_STARTUP_HOOKS"),
    *("COR_*", "CORECLR_*", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "MAKEFLAGS", "MAKEFILES"),
    *("GIT_EXTERNAL_DIFF", "GIT_SSH*", "GIT_ASKPASS", "GIT_PAGER", "GIT_EDITOR", "GIT_CONFIG*"),
    *("GIT_SEQUENCE_EDITOR", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_DIR"),
    *("SSH_ASKPASS", "SUDO_ASKPASS", "PAGER", "MANPAGER", "LESSOPEN", "LESSCLOSE", "BROWSER"),
    *("VISUAL", "VIMINIT", "EXINIT", "OPENSSL_CONF", "OPENSSL_ENGINES", "GREP_OPTIONS"),
    *("RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND", "TERMINFO", "TERMCAP"),
)
"""Variables by which a program loads or runs code: denied unless the settings allow one by its
exact name."""

_HOLDING_ALL = ("", "environment", "services", "services.environment")
"""A whole file and the groups, in both spellings, that hold all settings of the environment."""
_WILDCARD = re.compile(r"[*?\[]")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CleanEnvironment:
    """What a child process gets, and what it does not get."""

    variables: dict[str, str]
    withheld: tuple[str, ...]
    """The sorted names of the variables it does not get; never their values."""


def usable_settings(loaded: Loaded) -> Environment | None:
    """The environment settings; None if a file is broken, which may have had others."""
    broken = any(warning.key in _HOLDING_ALL for warning in loaded.warnings)
    return None if broken else loaded.settings.environment


def cleaned(
    environ: Mapping[str, str],
    settings: Environment | None,
    grants: Collection[str] = (),
    redactor: Redactor | None = None,
) -> CleanEnvironment:
    """The part of an environment that may be passed on.

    A name that is allowed or granted exactly passes. Of the others, what a deny rule matches or
    whose value looks like a secret is withheld; of the rest the policy `strict` passes what a
    pattern allows, `open` everything. Without settings only the core variables pass.
    """
    if settings is None:
        rules = _Rules("strict", CORE_VARIABLES, Environment().deny_patterns)
    else:
        default = Environment()
        allow = _usable(settings.allow_list, default.allow_list)
        deny = _usable(settings.deny_patterns, default.deny_patterns)
        rules = _Rules(settings.policy, allow, deny)
    exact = rules.exact | {name.upper() for name in grants}
    redactor = redactor or Redactor()
    passed = {
        name: value
        for name, value in environ.items()
        if name.upper() in exact
        or (not rules.denies(name) and rules.lets_pass(name) and not redactor.find(value))
    }
    withheld = tuple(sorted(name for name in environ if name not in passed))
    if withheld:
        log.debug("variables withheld: %s", " ".join(withheld))
    return CleanEnvironment(passed, withheld)


class _Rules:
    """The allow and deny patterns of the settings; case makes no difference."""

    def __init__(self, policy: str, allow: Collection[str], deny: Collection[str]) -> None:
        self.exact = frozenset(name.upper() for name in allow if not _WILDCARD.search(name))
        self._allowed = _any_of(frozenset(name.upper() for name in allow))
        self._denied = _any_of(frozenset(name.upper() for name in (*deny, *STARTS_CODE)))
        self._open = policy == "open"

    def denies(self, name: str) -> bool:
        """Whether a name must not pass unless it is allowed exactly."""
        return self._denied.fullmatch(name.upper()) is not None

    def lets_pass(self, name: str) -> bool:
        """Whether the policy passes a name that nothing denies."""
        return self._open or self._allowed.fullmatch(name.upper()) is not None


@cache
def _any_of(patterns: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, sorted(patterns))) or "(?!)")


def _usable(given: Iterable[str], default: Iterable[str]) -> list[str]:
    """The valid patterns; if some are invalid, the defaults as well. The settings warn of them."""
    good, bad = split_patterns(given)
    return [*good, *default] if bad else list(good)

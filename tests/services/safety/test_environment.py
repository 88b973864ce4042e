"""The environment of child processes: which variables pass, which do not, and what is said."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.safety.environment import STARTS_CODE, cleaned, usable_settings
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.locations import find_locations
from ollm_tui.settings.schema import Environment, Settings
from ollm_tui.settings.warning import SettingsWarning
from tests.cases import every
from tests.conftest import Tell
from tests.services.redaction.fake_secrets import FORMATS

STRICT, OPEN = Environment(), Environment(policy="open")

USUAL_SECRETS = """
    OPENAI_API_KEY ANTHROPIC_API_KEY GITHUB_TOKEN GH_TOKEN GITLAB_TOKEN AWS_ACCESS_KEY_ID
    AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS
    DATABASE_URL PGPASSWORD MYSQL_PWD_SECRET REDIS_PASSWORD DB_PASSWD npm_token NPM_AUTH
    PYPI_TOKEN TWINE_PASSWORD DOCKER_AUTH_CONFIG SLACK_BOT_TOKEN STRIPE_SECRET_KEY JWT_SECRET
    SSH_PRIVATE_KEY ENCRYPTION_KEY client_secret ApiKey HF_TOKEN VAULT_TOKEN BASIC_AUTH
""".split()
CODE_STARTERS = """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PROMPT_COMMAND PS4
    GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_PAGER GIT_ASKPASS GIT_CONFIG_COUNT NODE_OPTIONS
    PYTHONSTARTUP PYTHONPATH PERL5OPT PERL5LIB RUBYOPT JAVA_TOOL_OPTIONS LESSOPEN PAGER
    DOTNET_STARTUP_HOOKS RUSTC_WRAPPER BASH_FUNC_ls%% ZDOTDIR
""".split()
HARMLESS = ("CI", "MAKE_JOBS", "MY_SETTING", "GOPATH", "CARGO_HOME", "DISPLAY", "NODE_ENV")


def test_strict_passes_only_the_list() -> None:
    given_names = ("PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME", "VIRTUAL_ENV", *HARMLESS)
    result = cleaned(dict.fromkeys(given_names, "x"), STRICT)
    assert set(result.variables) == {"PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME", "VIRTUAL_ENV"}
    assert result.withheld == tuple(sorted(HARMLESS))


def test_open_passes_what_nothing_denies() -> None:
    result = cleaned(dict.fromkeys(HARMLESS, "x"), OPEN)
    assert set(result.variables) == set(HARMLESS)


@every("name", (*USUAL_SECRETS, *CODE_STARTERS))
@every("settings", (STRICT, OPEN, Environment(allow_list=("*",))))
def test_secrets_and_what_starts_code_are_withheld(name: str, settings: Environment) -> None:
    assert cleaned({name: "value"}, settings).withheld == (name,)


@every("name", sorted(FORMATS))
def test_a_value_that_looks_like_a_secret_is_withheld_whatever_its_name(name: str) -> None:
    value = FORMATS[name](random.Random(name))
    assert cleaned({"INNOCENT": value}, OPEN).withheld == ("INNOCENT",)
    assert cleaned({"XDG_THING": value}, STRICT).withheld == ("XDG_THING",)


def test_an_exact_name_wins_over_deny_and_deny_over_a_wildcard() -> None:
    environ = {"MY_TOKEN": "x", "MY_OTHER_TOKEN": "x", "LD_PRELOAD": "x"}
    for policy in ("strict", "open"):
        settings = Environment(policy=policy, allow_list=("my_token", "MY_*", "LD_*"))
        assert set(cleaned(environ, settings).variables) == {"MY_TOKEN"}


def test_a_grant_is_an_exact_name_for_once() -> None:
    environ = {"GITHUB_TOKEN": "x", "GITHUB_ACTOR": "y"}
    assert set(cleaned(environ, STRICT, grants=["GITHUB_TOKEN"]).variables) == {"GITHUB_TOKEN"}
    assert set(cleaned(environ, STRICT, grants=["GITHUB_*"]).variables) == set()


def test_the_case_of_names_makes_no_difference_and_is_kept() -> None:
    result = cleaned({"path": "x", "Aws_Region": "y", "myApiKeys": "z"}, OPEN)
    assert result.variables == {"path": "x"}


def test_settings_that_cannot_be_used_leave_only_core_variables() -> None:
    environ: dict[str, str] = dict.fromkeys("PATH LC_ALL VIRTUAL_ENV CI GITHUB_TOKEN".split(), "x")
    result = cleaned(environ, None)
    assert set(result.variables) == {"PATH", "LC_ALL"}


@pytest.mark.parametrize("bad", ("A=B", "a b", "[", "[a", "**/x", "\x1b[31m", "(x)", "ä"))
def test_a_bad_pattern_brings_the_defaults_back(bad: str) -> None:
    environ: dict[str, str] = dict.fromkeys("PATH CI MY_TOKEN MINE".split(), "x")
    denying = cleaned(environ, Environment(policy="open", deny_patterns=(bad, "MINE")))
    assert set(denying.variables) == {"PATH", "CI"}
    allowing = cleaned(environ, Environment(allow_list=(bad, "CI")))
    assert set(allowing.variables) == {"PATH", "CI"}


def test_values_are_never_told() -> None:
    result = cleaned({"MY_TOKEN": "the value"}, OPEN)
    assert "the value" not in repr(result.withheld)


@given(st.text("*?[]!ab_-", max_size=60), st.text("ab_", max_size=60))
def test_no_pattern_takes_long_or_fails(pattern: str, name: str) -> None:
    cleaned({name: "x"}, Environment(deny_patterns=(pattern or "*", "*a" * 25 + "b")))


NAMES = st.sampled_from((*USUAL_SECRETS, *CODE_STARTERS, *HARMLESS, "PATH", "LC_TIME", "TZ"))
VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(
    st.lists(st.dictionaries(NAMES, VALUES, max_size=12), min_size=10, max_size=10),
    st.sampled_from(("strict", "open")),
)
def test_a_child_sees_the_allowed_names_and_nothing_else(
    record_property: Tell, environs: list[dict[str, str]], policy: str
) -> None:
    """A hundred examples of ten environments each."""
    record_property("children", len(environs))
    settings = Environment(policy="open") if policy == "open" else Environment()
    for environ in environs:
        variables = cleaned(environ, settings).variables
        seen = subprocess.run(
            ("/usr/bin/env", "-0"), env=variables, capture_output=True, check=True
        )
        pairs = [pair.partition("=") for pair in seen.stdout.decode().split("\0") if pair]
        assert {name: value for name, _, value in pairs} == variables
        assert not {name for name, _, _ in pairs} & {*USUAL_SECRETS, *CODE_STARTERS}


def loaded(*warnings: SettingsWarning) -> Loaded:
    places = find_locations({"HOME": "/nowhere"}, Path("/nowhere"))
    return Loaded(Settings(), warnings, {}, places)


@pytest.mark.parametrize("key", ("", "environment", "services", "services.environment"))
def test_a_broken_file_leaves_no_settings_to_use(key: str) -> None:
    assert usable_settings(loaded()) == Environment()
    assert usable_settings(loaded(SettingsWarning("f", 1, "ui.theme", "x"))) == Environment()
    assert usable_settings(loaded(SettingsWarning("f", 1, key, "cannot be read"))) is None


def test_every_rule_against_code_can_match() -> None:
    for pattern in STARTS_CODE:
        assert cleaned({pattern.replace("*", "X"): "x"}, OPEN).variables == {}

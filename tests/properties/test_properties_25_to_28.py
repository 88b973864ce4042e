"""Properties 25 to 28 of the seeds: what children get to see, and what is never told."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import random
from fnmatch import fnmatchcase
from html import unescape
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.cli import main
from ollm_tui.core.errors import OllmError
from ollm_tui.core.session.message import Message, Text, ToolCallPart
from ollm_tui.core.session.session import Session
from ollm_tui.services.export.exporting import export_session
from ollm_tui.services.logs import start_logging
from ollm_tui.services.safety.environment import STARTS_CODE as TABLE
from ollm_tui.services.safety.environment import cleaned
from ollm_tui.settings.schema import Environment
from tests.conftest import promised
from tests.services.redaction.fake_secrets import FORMATS, SETTINGS, password, placed

words = st.sampled_from(
    ("MY", "AWS", "GITHUB", "API", "KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PATH", "LC")
)
names = st.lists(words, min_size=1, max_size=3).map("_".join)
names |= st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,9}\Z")
names |= st.sampled_from(("HOME", "USER", "SHELL", "TERM", "LANG", "home"))
names |= st.sampled_from(("LD_PRELOAD", "BASH_ENV"))
environs = st.dictionaries(names | names.map(str.lower), st.text("abc ", max_size=8), max_size=6)
patterns = names | names.map("*_{}".format) | names.map("{}_*".format)


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, str], Environment]:
    """An environment with usual settings, or with some that allow and deny its variables."""
    environ = draw(environs)
    if draw(st.integers(0, 3)) == 0:
        return environ, Environment()
    allow, deny = draw(st.lists(patterns, max_size=2)), draw(st.lists(patterns, max_size=2))
    for name in environ:
        wish = draw(st.sampled_from(("nothing", "allow", "deny", "both")))
        if wish in ("allow", "both"):
            allow.append(draw(st.sampled_from((name, name.swapcase(), f"{name[:2]}*"))))
        if wish in ("deny", "both"):
            deny.append(draw(st.sampled_from((name, name.swapcase(), f"*{name[-2:]}"))))
    policy = draw(st.sampled_from(("strict", "open")))
    return environ, Environment(policy=policy, allow_list=tuple(allow), deny_patterns=tuple(deny))


ALWAYS_DENIED = ("*_KEY", "*_SECRET", "*_TOKEN", "*_PASSWORD", "*_CREDENTIAL", "AWS_*", "GITHUB_*")
ALWAYS_ALLOWED = ("PATH", "HOME", "USER", "SHELL", "TERM", "LANG")
"""What the seeds deny and allow where the settings say nothing else."""
STARTS_CODE = ("LD_PRELOAD", "BASH_ENV")
"""Two of those by which other programs load code: denied in any case, unless named exactly."""


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)


def is_denied(name: str, settings: Environment) -> bool:
    usual = ALWAYS_DENIED if settings == Environment() else ()
    return matches(name, (*usual, *settings.deny_patterns, *STARTS_CODE))


def exactly_allowed(name: str, settings: Environment) -> bool:
    usual = ALWAYS_ALLOWED if settings == Environment() else ()
    return name.upper() in {allowed.upper() for allowed in (*usual, *settings.allow_list)}


@promised
@given(cases())
def test_property_25_what_a_deny_pattern_matches_is_removed(
    case: tuple[dict[str, str], Environment],
) -> None:
    """Feature: services-sessions, Property 25: Deny pattern filtering."""
    environ, settings = case
    for name in cleaned(environ, settings).variables:
        assert not is_denied(name, settings) or exactly_allowed(name, settings)


@promised
@given(cases())
def test_property_26_what_the_allow_list_names_is_kept(
    case: tuple[dict[str, str], Environment],
) -> None:
    """Feature: services-sessions, Property 26: Allow list preservation."""
    environ, settings = case
    kept = cleaned(environ, settings).variables
    for name, value in environ.items():
        is_kept = exactly_allowed(name, settings)
        is_kept |= matches(name, settings.allow_list) and not is_denied_by_anything(name, settings)
        if is_kept:
            assert kept[name] == value


def is_denied_by_anything(name: str, settings: Environment) -> bool:
    """Whether a rule or the table of names that start code denies it."""
    return is_denied(name, settings) or matches(name, TABLE)


@promised
@given(cases())
def test_property_27_what_is_left_is_allowed_or_not_denied_and_nothing_gets_lost(
    case: tuple[dict[str, str], Environment],
) -> None:
    """Feature: services-sessions, Property 27: Sanitization completeness."""
    environ, settings = case
    result = cleaned(environ, settings)
    for name, value in result.variables.items():
        listed = matches(name, settings.allow_list)
        assert exactly_allowed(name, settings) or not is_denied(name, settings)
        assert settings.policy == "open" or listed
        assert value == environ[name]
    for name in result.withheld:
        is_open = settings.policy == "open" or matches(name, settings.allow_list)
        assert not exactly_allowed(name, settings)
        assert not is_open or is_denied_by_anything(name, settings)
    assert sorted((*result.variables, *result.withheld)) == sorted(environ)


@st.composite
def secrets_in_words(draw: st.DrawFn) -> tuple[str, str]:
    """A message that gives a secret away, and the secret."""
    rng = random.Random(draw(st.integers(0, 10**9)))
    before = draw(st.sampled_from(("", "refused: ", "GET ", "it said (", "…")))
    if draw(st.booleans()):
        text, secret = placed(draw(st.sampled_from(SETTINGS)), rng)
        return before + text, secret
    secret = FORMATS[draw(st.sampled_from(sorted(FORMATS)))](rng)
    return f"{before}{secret} was not accepted", secret


def logged(home: Path, error: OllmError, environ: dict[str, str]) -> list[str]:
    """What the log has of an error that is told as it is."""
    start_logging(home, debug=True, environ=environ)
    logger = logging.getLogger("ollm_tui.services.test")
    logger.error("%s", error.message, exc_info=error)
    logging.getLogger("ollm_tui").handlers = []
    log = home / "logs" / "ollm.log"
    line = json.loads(log.read_bytes().splitlines()[-1])
    log.unlink()
    assert {"message", "detail", "hint", "trace"} <= set(line)
    return list(line.values())


def printed(error: OllmError) -> str:
    """What the command line says when it fails with an error."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        main._fail(error)  # pyright: ignore[reportPrivateUsage] the last step of every failure
    return said.getvalue()


@promised
@given(secrets_in_words())
def test_property_28_no_log_and_no_error_tells_a_secret(
    home: Path, message: tuple[str, str]
) -> None:
    """Feature: services-sessions, Property 28: Sensitive data exclusion from errors."""
    text, secret = message
    error = OllmError(text, text)
    for said in (*logged(home, error, {}), printed(error)):
        assert secret not in said
        assert " ".join(secret.split()) not in said


secret_names = st.sampled_from(
    ("MY_API_KEY", "APP_SECRET", "CI_TOKEN", "DB_PASSWORD", "GITHUB_TOKEN", "aws_secret_access_key")
)
plain_secrets = st.permutations("abcdefghijkmnpqrstuvwxyz23456789").flatmap(
    lambda letters: st.integers(8, 32).map(lambda length: "".join(letters[:length]))
)
"""Nothing by which they could be recognised but that a variable has this value."""


@promised
@given(secret_names, plain_secrets, st.sampled_from(("refused: {}", "{}", "https://x.org/{}/y")))
def test_property_28_no_log_tells_what_the_environment_keeps_secret(
    home: Path, name: str, secret: str, form: str
) -> None:
    """Feature: services-sessions, Property 28: Sensitive data exclusion from errors."""
    text = form.format(secret)
    for said in logged(home, OllmError(text, text), {name: secret}):
        assert secret not in said


@promised
@given(secrets_in_words())
def test_property_28_no_export_tells_a_secret(message: tuple[str, str]) -> None:
    """Feature: services-sessions, Property 28: Sensitive data exclusion from errors."""
    text, secret = message
    own = password(random.Random(text))
    parts = (Text(text=text), ToolCallPart(call_id="c", name="n", args={"password": own}))
    said = Message(id="m", role="assistant", parts=parts, timestamp="2026-01-01T00:00:00Z")
    session = Session(
        session_id="s", start_time="", last_activity="", model="m", provider="p", messages=(said,)
    )
    for kind in ("json", "md", "html"):
        exported = unescape(export_session(session, session.messages, kind))
        for hidden in (secret, json.dumps(secret)[1:-1], own):
            assert hidden not in exported

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
from ollm_tui.services.safety.environment import STARTS_CODE, cleaned
from ollm_tui.settings.schema import Environment
from tests.services.redaction.fake_secrets import FORMATS, SETTINGS, password, placed

words = st.sampled_from(
    ("MY", "AWS", "GITHUB", "API", "KEY", "TOKEN", "SECRET", "PASSWORD", "PATH")
)
names = st.lists(words, min_size=1, max_size=3).map("_".join)
names |= st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,9}\Z")
environs = st.dictionaries(names, st.text("abc ", max_size=8), max_size=12)
patterns = names | names.map("*_{}".format) | names.map("{}_*".format)
settings_of = st.builds(
    Environment,
    policy=st.sampled_from(("strict", "open")),
    allow_list=st.lists(patterns, max_size=4).map(tuple),
    deny_patterns=st.lists(patterns, max_size=4).map(tuple),
)


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.upper(), pattern.upper()) for pattern in patterns)


def exactly_allowed(name: str, settings: Environment) -> bool:
    return name.upper() in {allowed.upper() for allowed in settings.allow_list}


@given(environs, settings_of)
def test_25_what_a_deny_pattern_matches_is_removed(
    environ: dict[str, str], settings: Environment
) -> None:
    for name in cleaned(environ, settings).variables:
        denied = matches(name, (*settings.deny_patterns, *STARTS_CODE))
        assert not denied or exactly_allowed(name, settings)


@given(environs, settings_of)
def test_26_what_the_allow_list_names_is_kept(
    environ: dict[str, str], settings: Environment
) -> None:
    kept = cleaned(environ, settings).variables
    for name, value in environ.items():
        if exactly_allowed(name, settings):
            assert kept[name] == value


@given(environs, settings_of)
def test_27_what_is_left_is_allowed_or_not_denied_and_nothing_gets_lost(
    environ: dict[str, str], settings: Environment
) -> None:
    result = cleaned(environ, settings)
    for name in result.variables:
        denied = matches(name, (*settings.deny_patterns, *STARTS_CODE))
        listed = matches(name, settings.allow_list)
        assert exactly_allowed(name, settings) or not denied
        assert settings.policy == "open" or listed
    assert {*result.variables, *result.withheld} == set(environ)
    assert not set(result.variables) & set(result.withheld)


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


@given(secrets_in_words())
def test_28_no_log_and_no_error_tells_a_secret(home: Path, message: tuple[str, str]) -> None:
    text, secret = message
    start_logging(home, debug=True, environ={})
    error = OllmError(text, text)
    logging.getLogger("ollm_tui.services.test").error("%s", text, exc_info=error)
    logging.getLogger("ollm_tui").handlers = []
    log = home / "logs" / "ollm.log"
    line = json.loads(log.read_bytes().splitlines()[-1])
    log.unlink()
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        main._fail(error)  # pyright: ignore[reportPrivateUsage] the last step of every failure
    for said in (*line.values(), printed.getvalue()):
        assert secret not in said
        assert " ".join(secret.split()) not in said


@given(secrets_in_words())
def test_28_no_export_tells_a_secret(message: tuple[str, str]) -> None:
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

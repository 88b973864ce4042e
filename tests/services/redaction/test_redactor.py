"""The redactor: official formats, telling names, and everything that only looks like a secret."""

from __future__ import annotations

import base64
import random
import re
import string
from urllib.parse import quote

import pytest

from ollm_tui.services.redaction.mark import carries_mark
from ollm_tui.services.redaction.redactor import Redactor
from tests.cases import every
from tests.conftest import Tell
from tests.services.redaction.fake_secrets import FORMATS, SETTINGS, fill, pem, placed
from tests.services.redaction.further_texts import (
    FURTHER_FORMATS,
    FURTHER_HARMLESS,
    FURTHER_SETTINGS,
)
from tests.services.redaction.harmless_texts import HARMLESS

SURROUNDINGS = ("{}", 'x "{}", y', "key ({}).", "log\\n{}\\nlog", "a\n{}\nb", "<b>{}</b>", "…{}…")
TOKEN = fill(random.Random(1), "gh", "p_", ("a", 36))


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(FORMATS) >= 100
    assert len(SETTINGS) >= 60
    assert len(HARMLESS) >= 60


@every("name", [*FORMATS, *FURTHER_FORMATS])
def test_every_official_format_is_hidden_wherever_it_stands(name: str) -> None:
    make = {**FURTHER_FORMATS, **FORMATS}[name]
    for seed, around in enumerate(SURROUNDINGS):
        secret = make(random.Random(f"{name}{seed}"))
        hidden = Redactor().redact(around.format(secret))
        assert carries_mark(hidden), around
        longest_part = max(re.split(r"[^A-Za-z0-9]", secret), key=len)
        assert longest_part not in hidden


@pytest.mark.parametrize("places", (SETTINGS, FURTHER_SETTINGS), ids=("first", "further"))
def test_what_only_its_name_gives_away_is_hidden(
    places: tuple[str, ...], record_property: Tell
) -> None:
    texts = [placed(where, random.Random(f"{where}{n}")) for where in places for n in range(20)]
    missed = [text for text, secret in texts if secret in Redactor().redact(text)]
    record_property("contextual", f"{len(texts) - len(missed)}/{len(texts)}")
    assert len(missed) <= len(texts) * 0.05, missed


@pytest.mark.parametrize("texts", (HARMLESS, FURTHER_HARMLESS), ids=("first", "further"))
def test_false_alarms_are_rare(texts: tuple[str, ...], record_property: Tell) -> None:
    alarmed = [text for text in texts if Redactor().find(text)]
    record_property("false", f"{len(alarmed)}/{len(texts)}")
    assert len(alarmed) <= len(texts) * 0.02, alarmed


def test_a_mark_says_the_kind_and_equal_secrets_have_equal_marks() -> None:
    other = TOKEN[:-1] + ("a" if TOKEN[-1] != "a" else "b")
    first, second, third = Redactor().redact(f"{TOKEN} {TOKEN} {other}").split()
    assert re.fullmatch(r"\[REDACTED:github:[0-9a-f]{4}\]", first)
    assert first == second != third


@every("where", SETTINGS)
def test_redacting_again_changes_nothing(where: str) -> None:
    once = Redactor().redact(placed(where, random.Random(where))[0])
    assert Redactor().redact(once) == once


def test_known_values_are_hidden_in_every_form() -> None:
    known = "correct/horse battery+staple"
    redactor = Redactor([known, "short", "aaaaaaaaaaaa"])
    basic = base64.b64encode(f"me:{known}".encode()).decode()
    text = f"{known} | {quote(known, safe='')} | Basic {basic} | short aaaaaaaaaaaa"
    hidden = redactor.redact(text)
    assert "horse" not in hidden
    assert base64.b64encode(known.encode()).decode()[3:20] not in hidden
    assert basic[4:30] not in hidden
    assert hidden.endswith("short aaaaaaaaaaaa")


def test_controls_inside_a_secret_do_not_protect_it() -> None:
    hidden = Redactor().redact(f"{TOKEN[:9]}\x1b[1m{TOKEN[9:20]}\x00\u202e{TOKEN[20:]}")
    assert re.fullmatch(r"\[REDACTED:github:[0-9a-f]{4}\]", hidden)


def test_places_are_those_of_the_cleaned_text() -> None:
    (found,) = Redactor().find(f"\x1b[31ma {TOKEN} b")
    assert (found.start, found.end, found.kind) == (2, 2 + len(TOKEN), "github")


def test_a_key_that_was_cut_off_is_hidden_as_far_as_it_goes() -> None:
    whole = pem(random.Random(3))
    hidden = Redactor().redact("before\n" + whole[: len(whole) // 2])
    assert hidden.startswith("before\n[REDACTED:private-key:")
    assert whole[60:100] not in hidden


def test_what_stands_around_a_secret_stays() -> None:
    text = f'{{"user": "me", "token": "{TOKEN}", "n": 1}}'
    hidden = Redactor().redact(text)
    assert hidden.startswith('{"user": "me", "token": "[REDACTED:github:')
    assert hidden.endswith(']", "n": 1}')


def test_only_our_own_marks_count_as_marks() -> None:
    assert carries_mark(Redactor().redact(f"x {TOKEN} y"))
    assert not carries_mark("[REDACTED] [REDACTED:x] [hidden]")


@pytest.mark.parametrize("length", (300, 3000))
def test_a_long_value_is_hidden_to_its_end(length: int) -> None:
    value = fill(random.Random(length), ("a", length))
    for text in (f'"client_secret": "{value}" end', f"CLIENT_SECRET={value} end"):
        hidden = Redactor().redact(text)
        assert value[-20:] not in hidden
        assert hidden.endswith("end")


@pytest.mark.parametrize("inside", ("your", "sample", "EXAMPLE", "/"))
def test_a_random_value_is_hidden_whatever_word_or_slash_is_in_it(inside: str) -> None:
    rng, redactor, shown = random.Random(11), Redactor(), 0
    for _ in range(500):
        value = "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(24, 64)))
        cut = rng.randrange(8, len(value) - 8)
        value = f"{inside if inside == '/' else ''}{value[:cut]}{inside}{value[cut:]}"
        shown += value in redactor.redact(f"SESSION_TOKEN={value}\n")
    assert shown <= 5


@pytest.mark.parametrize(
    "value", ("your-api-key-here", "sample_token_123", "/etc/ssl/Private1/site2.key", "/run/x/1")
)
def test_placeholders_and_paths_stay(value: str) -> None:
    assert value in Redactor().redact(f"SESSION_TOKEN={value}\n")

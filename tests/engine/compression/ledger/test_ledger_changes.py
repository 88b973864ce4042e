"""What later messages change in a ledger: values, tasks, and what they leave alone."""

from __future__ import annotations

import pytest

from ollm_tui.core.session.message import Message, Role, Text
from ollm_tui.engine.compression.ledger.ledger import ledger_of, rendered


def shown(*turns: tuple[Role, str]) -> str:
    messages = [
        Message(f"m{place}", role, (Text(text),), "2026-03-01T00:00:00.000Z")
        for place, (role, text) in enumerate(turns)
    ]
    return rendered(ledger_of(messages), 10_000, len)


@pytest.mark.parametrize(
    ("before", "after"),
    (
        ("order 16 chairs", "make that 22 chairs"),
        ("The meeting takes place in Graz.", "let's go with Linz for the meeting instead"),
        ("the club has 7 members", "two joined, so the club has 9 members"),
        ("Quarantine lasts 14 days.", "quarantine was cut to 7 days"),
        ("Uploads go to /var/uploads.", "Uploads go to /srv/media since the disk was full."),
        ("La reunión es el lunes.", "La reunión pasa al martes."),
    ),
)
def test_what_a_user_changes_is_told_with_what_it_is_now(before: str, after: str) -> None:
    text = shown(("user", before), ("user", after))
    assert f"earlier: {before} Now: {after}" in text
    assert text.count(after) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    (
        ("Set `retries = 3` in the client.", "The client has `retries = 8` now."),
        ('```json\n{"memory": "512Mi"}\n```', '```json\n{"memory": "768Mi"}\n```'),
        ("```\nPOOL=10\n```", "```diff\n-POOL=10\n+POOL=24\n```"),
    ),
)
def test_an_assignment_in_code_is_replaced_by_a_later_one(before: str, after: str) -> None:
    text = shown(("assistant", before), ("assistant", after))
    assert not any(old in text for old in ("retries = 3", "512Mi", "POOL=10"))


@pytest.mark.parametrize(
    ("task", "later"),
    (
        ("| page | state |\n|---|---|\n| error page | todo |", "| error page | done |"),
        ("I need to move the cron job to the new host.", "Moved the cron job over."),
        ("I'll add type hints to the loader in a later step.", "The loader has type hints now."),
        ("Pending: Kafka upgrade to 3.7", "The Kafka upgrade got cancelled, drop it."),
        ("Offen: Vertragsentwurf prüfen.", "Den Vertragsentwurf habe ich geprüft."),
    ),
)
def test_a_task_that_is_done_or_dropped_is_no_longer_open(task: str, later: str) -> None:
    assert "open:" in shown(("assistant", task))
    assert "open:" not in shown(("assistant", task), ("user", "Go on."), ("assistant", later))


@pytest.mark.parametrize(
    ("one", "other"),
    (
        ("The search latency is 41 ms.", "The indexing latency is 20 ms."),
        ("All dates in the UI are ISO.", "Change the colour of the UI to blue."),
        ("6 hours is our wall time since yesterday.", "90 is our epoch budget since yesterday."),
    ),
)
def test_two_values_of_two_things_both_hold(one: str, other: str) -> None:
    text = shown(("user", one), ("user", other))
    assert "earlier:" not in text
    assert one in text and other in text


def test_a_question_that_is_answered_with_yes_counts_as_said() -> None:
    asked = "What if our gate were B12? Yes, do that."
    text = shown(("user", "Our gate is A4."), ("user", asked))
    assert asked in text and "A4" not in text


def test_courtesies_are_not_taken_for_requirements() -> None:
    assert shown(("user", "Nice, thank you. Go on."), ("user", "No peanuts. Okay, great!")) == (
        "constraints (the user's words):\n- No peanuts."
    )


def test_a_day_with_its_point_does_not_end_a_sentence() -> None:
    told = "Die Frist ist der 30. April."
    assert f"- {told}" in shown(("user", told))


@pytest.mark.parametrize(
    ("before", "after"),
    (
        ("listen on 8080", "actually make it 9090, 8080 is taken by jenkins"),
        ("the cutoff should be 0.4 I think", "Hmm, scrap that, use 0.35, marketing wants recall"),
        ("The memory limit for him should be 512Mi", "no sorry, I was wrong, it need 768Mi"),
        ("zigbee stick is /dev/ttyUSB0", "oops it moved, it's /dev/ttyACM1 now"),
        ("venue: ACL, due Jan 15", "change of plan, we submit to TMLR instead"),
        ("free shipping is from 49 euro", "please modify, from next month is 59 euro"),
        ('skip link text: "Skip to main"', 'legal says it should be "Jump to content"'),
        ("Model: gpt-4o-mini", "Finance says too expensive, we'll switch to the local qwen2.5"),
        ("group by week", "by month rather"),
    ),
)
def test_a_correction_need_not_name_what_it_corrects(before: str, after: str) -> None:
    text = shown(("user", before), ("assistant", "All right, on it."), ("user", after))
    assert f"earlier: {before} Now: {after}" in text


def test_what_an_answer_repeated_goes_with_what_is_corrected() -> None:
    text = shown(
        ("user", "zigbee stick is /dev/ttyUSB0"),
        ("assistant", "Passed through /dev/ttyUSB0."),
        ("user", "oops it moved, it's /dev/ttyACM1 now"),
    )
    assert text.count("ttyUSB0") == 1


def test_two_answers_that_differ_by_a_value_tell_what_a_request_replaced() -> None:
    text = shown(
        ("user", "penalty 50,000 SEK"),
        ("assistant", "The penalty clause says 50,000 SEK."),
        ("user", "Their lawyer pushed back, we settled at 20,000 SEK"),
        ("assistant", "The penalty clause says 20,000 SEK."),
    )
    assert "- earlier: penalty 50,000 SEK Now: Their lawyer pushed back" in text


def test_what_was_corrected_twice_is_told_with_what_holds_in_the_end() -> None:
    text = shown(
        ("user", "schedule 02:00 utc"),
        ("user", "02:00 clashes with backups, go for 04:30"),
        ("user", "ok final answer: 05:15"),
    )
    assert "earlier: schedule 02:00 utc Now: ok final answer: 05:15" in text


@pytest.mark.parametrize(
    ("one", "other"),
    (
        ("the gate code is 4471", "sorry, one more thing: the deadline is at 18:00"),
        ("cache entries live 10 minutes", "sorry, I meant to say: the retry interval is 60 s"),
        ("Our learning rate is 0.0003.", "also make it 90 epochs"),
        ("keep the port at 8443", "I'd rather wait than lose any of the 12 backups"),
    ),
)
def test_a_correction_of_something_else_leaves_what_was_said_before(one: str, other: str) -> None:
    assert "earlier:" not in shown(("user", one), ("user", other))

"""Which answers are summaries."""

from __future__ import annotations

import pytest

from ollm_tui.engine.compression.summary.summary_guard import (
    Fault,
    Given,
    Verdict,
    cut_at_sentence,
    judged,
    repetition,
    without_broken_end,
)

INSTRUCTIONS = "Provide a concise summary of the conversation in the input text in three sentences."
STORY = " ".join(f"In chapter {number} the hero meets dragon {number * 7}." for number in range(30))
GIVEN = Given(
    INSTRUCTIONS, f"user: Tell me a story.\nassistant: {STORY}", "An older tale was told."
)


def count(text: str) -> int:
    return len(text.split())


def fault(answer: str, given: Given = GIVEN, most: int = 100) -> Fault | None:
    return judged(answer, given, most, count).fault


@pytest.mark.parametrize("answer", ["", " \n\t", "...", "```\n```", "<tool_call></tool_call>"])
def test_nothing_said_is_empty(answer: str) -> None:
    assert fault(answer) == "empty"


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't assist with that request.",
        "Sorry. I cannot summarise this. Ask me again.",
        "As an AI language model I have no access to it.",
        "I am unable to do so.",
    ],
)
def test_a_refusal_alone_is_none(answer: str) -> None:
    assert fault(answer) == "refused"


def test_what_comes_after_an_apology_may_be_a_summary() -> None:
    summary = "The user asked for a story about a hero and many dragons."
    assert judged(
        f"I'm sorry for the delay. {summary}", GIVEN._replace(beside=summary), 100, count
    ) == Verdict(summary)


def test_a_copy_of_the_instructions_is_an_echo_however_short() -> None:
    assert fault(INSTRUCTIONS) == "echo"
    assert fault("Provide a concise summary of the conversation") == "echo"


def test_a_long_copy_of_the_transcript_is_an_echo() -> None:
    assert fault(STORY[:600]) == "echo"
    assert fault("Here it is, as it was told: " + STORY[:900], most=1000) == "echo"


def test_a_copy_of_most_of_a_short_transcript_is_an_echo() -> None:
    source = "user: What is the capital of France?\nassistant: The capital of France is Paris."
    assert fault(source, Given(INSTRUCTIONS, source)) == "echo"


def test_a_sentence_in_the_words_of_the_transcript_is_no_echo() -> None:
    answer = "In chapter 0 the hero meets dragon 0. In chapter 1 the hero meets dragon 7."
    assert fault(answer) is None


def test_a_new_summary_may_take_over_the_earlier_one_but_not_be_it() -> None:
    earlier = "The user wants a parser in src/parser.py that skips blank lines and keeps comments."
    given = Given(INSTRUCTIONS, "user: and now the readme", earlier)
    assert fault(earlier, given) == "echo"
    assert fault(f"{earlier} Then the readme was asked for.", given) is None


def test_a_long_summary_is_cut_at_a_sentence() -> None:
    tale = " ".join(
        f"Dragon number {number * 3} was met and then left alone." for number in range(30)
    )
    verdict = judged(tale, GIVEN._replace(beside=tale), 40, count)
    assert verdict.fault is None
    assert verdict.text.endswith("left alone.")
    assert 30 < count(verdict.text) <= 40


def test_a_summary_that_is_a_little_too_long_stays_whole() -> None:
    answer = "one two three four five six seven eight nine ten eleven"
    assert judged(answer, GIVEN._replace(beside=answer), 10, count) == Verdict(answer)


def test_a_long_answer_without_sentences_is_rejected() -> None:
    words = " ".join(f"w{number}" for number in range(200))
    assert fault(words, GIVEN._replace(beside=words)) == "long"


@pytest.mark.parametrize(
    "answer",
    [
        "The user: " * 100,
        "They took a train to Lisbon, and " * 30,
        "0." + "0" * 300,
        "我们我们" * 20,
    ],
)
def test_a_chant_is_rejected(answer: str) -> None:
    assert fault(answer, most=500) == "repeating"


def test_what_stands_before_a_chant_is_kept() -> None:
    good = "The user plans a trip to Lisbon with two kids. The budget is 2,400 euros."
    chant = " They take the train, and they take the train" + ", and they take the train" * 20
    assert judged(good + chant, GIVEN._replace(beside=good), 500, count) == Verdict(good)


def test_sentences_that_come_again_are_a_chant() -> None:
    first, second = "The tool was run by the user. ", "It gave an error in line 7. "
    assert repetition(f"{first}{second}{first}{second}") == len(first + second)
    assert repetition(f"{first}{second}{second}") == len(first + second)


@pytest.mark.parametrize(
    "text",
    [
        "The address is 0.0.0.0 and the version 1.1.1, really, really, really.",
        "| a | b |\n|-----------------------------|\n" + "=" * 60,
        "The tests pass after the change. It was read. The tests pass after the change. Done.",
        "Straße und İstanbul " + " ".join(f"Ort {number}" for number in range(40)),
    ],
)
def test_numbers_rules_and_a_sentence_said_twice_are_no_chant(text: str) -> None:
    assert repetition(text) is None


def test_cutting_leaves_nothing_where_no_sentence_fits() -> None:
    assert cut_at_sentence("This one is far too long for it.", 3, count) == ""
    assert cut_at_sentence("Short one. This one is too long.", 3, count) == "Short one."


def test_a_broken_end_goes_unless_it_is_all_there_is() -> None:
    assert without_broken_end("One is whole. The other is br") == "One is whole."
    assert without_broken_end("All of it is br") == "All of it is br"


TALK = Given(
    INSTRUCTIONS, "user: mend src/lexer.py\nassistant: parse_row raised at line 4711, mended."
)


def test_sentences_that_name_or_number_what_was_never_said_are_dropped_and_counted() -> None:
    true = "The lexer in src/lexer.py was mended, where parse_row raised at line 4711."
    invented = "Then src/cache.py was changed. It took 381 seconds. `CacheRow` was removed."
    assert judged(f"{true} {invented}", TALK, 100, count) == Verdict(true, dropped=3)
    assert fault(invented, TALK) == "unsaid"


def test_talk_about_summaries_is_no_summary() -> None:
    chat = "This is a good summary of the conversation between the user and the assistant."
    assert fault(chat, TALK) == "unsaid"
    assert fault("The discussion covered various important topics thoroughly.", TALK) == "vague"
    about = TALK._replace(transcript="user: write a summary of the report on lexers")
    assert fault("The user wants a summary of the report.", about) is None

"""What values look like, and how much of that each name and place asks for."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_tui.services.redaction.values import Look, Name, Place, is_secret, look_of

LOOKS = {
    Look.OTHER: "your-api-key-here changeme user_name2 DB_PASSWORD /etc/x.key sha256 ${X} xxxxxxx",
    Look.WORD: "marigold Sunflower",
    Look.NAME: "correcthorse-42 release-2.3.1 TangerineDream 48151623",
    Look.CHOSEN: "kiwi9 Grapefruit_9 Winter2024 correct-horse-battery-staple",
    Look.MARKED: "s3cr3tP@ss! Fj7kLm2p Tr0ub4dor&3",
    Look.RANDOM: "9f86d081884c7d659a2feaa0c55ad015 hT4mK8xQ2vB9nR3wZ6pL1dF7 /aB3dE5fG7h/J9kL1mN3pQ",
}
SUREST_FIRST: tuple[Place, ...] = ("value", "quoted", "handed", "said", "loose")


@pytest.mark.parametrize("look", LOOKS)
def test_values_are_told_apart_by_what_they_look_like(look: Look) -> None:
    assert {value: look_of(value) for value in LOOKS[look].split()} == dict.fromkeys(
        LOOKS[look].split(), look
    )


@given(
    st.one_of(st.sampled_from(" ".join(LOOKS.values()).split()), st.text("aZk9_-.@!", max_size=30)),
    st.sampled_from(get_args(Name)),
)
def test_the_surer_a_place_the_less_a_value_has_to_show(value: str, name: Name) -> None:
    """What is a secret among any words is one everywhere."""
    secret = [is_secret(value, name, place) for place in SUREST_FIRST]
    assert secret == sorted(secret, reverse=True)


@given(st.text("aZk9_-.@!", max_size=30), st.sampled_from(get_args(Place)))
def test_the_surer_a_name_the_less_a_value_has_to_show(value: str, place: Place) -> None:
    secret = [is_secret(value, name, place) for name in get_args(Name)]
    assert secret == sorted(secret, reverse=True)

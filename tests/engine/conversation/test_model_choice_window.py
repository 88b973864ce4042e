"""The window of a session: asked for, loaded already, or what the memory allows."""

from __future__ import annotations

import pytest

from ollm_tui.core.provider import Capabilities
from ollm_tui.engine.conversation.model_choice import choose_window, machine_memory

GIGABYTE = 1 << 30
MADE_FOR = 131_072


def able(**fields: int | None) -> Capabilities:
    return Capabilities(max_window=MADE_FOR, **fields)  # pyright: ignore[reportArgumentType] only whole numbers are passed


def test_what_was_asked_for_is_limited_by_the_model_alone() -> None:
    assert choose_window(65_536, able(window=4096), GIGABYTE) == 65_536
    assert choose_window(1_000_000, able(), GIGABYTE) == MADE_FOR


def test_what_is_loaded_stays_because_another_window_reloads_the_model() -> None:
    assert choose_window("auto", able(window=4096, window_bytes_per_token=1)) == 4096


@pytest.mark.parametrize(
    ("per_token", "gigabytes", "window"),
    [
        (None, 16, 8192),
        (114_688, 16, 16_384),
        (114_688, 8, 8192),
        (114_688, 2, 2048),
        (524_288, 8, 2048),
        (1_000, 64, 32_768),
    ],
)
def test_unasked_it_takes_its_share_of_the_memory_and_no_more(
    per_token: int | None, gigabytes: int, window: int
) -> None:
    capabilities = able(window_bytes_per_token=per_token)
    assert choose_window("auto", capabilities, gigabytes * GIGABYTE) == window


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert choose_window("auto", Capabilities(), GIGABYTE) is None
    assert choose_window("auto", Capabilities(max_window=2048), GIGABYTE) == 2048
    memory = machine_memory()
    assert memory is None or memory > GIGABYTE // 4

"""The window of a session: asked for, loaded already, or what the memory allows."""

from __future__ import annotations

import pytest

from ollm_tui.core.provider import Capabilities
from ollm_tui.engine.conversation.model_choice import choose_window, free_memory

GIGABYTE = 1 << 30
MADE_FOR = 131_072


def able(**fields: int | bool | None) -> Capabilities:
    return Capabilities(max_window=MADE_FOR, **fields)  # pyright: ignore[reportArgumentType] only whole numbers are passed


def test_what_was_asked_for_is_limited_by_the_model_alone() -> None:
    assert choose_window(65_536, able(window=4096), GIGABYTE) == 65_536
    assert choose_window(1_000_000, able(), GIGABYTE) == MADE_FOR


def test_what_is_loaded_stays_where_it_cannot_be_changed_or_is_larger() -> None:
    assert choose_window("auto", able(window=4096, window_bytes_per_token=1)) == 4096
    larger = able(window=65_536, window_bytes_per_token=1, resizable=True)
    assert choose_window("auto", larger, 16 * GIGABYTE) == 65_536


def test_a_smaller_window_that_another_program_left_behind_is_not_taken_over() -> None:
    leftover = able(window=2048, window_bytes_per_token=28_672, resizable=True)
    assert choose_window("auto", leftover, 16 * GIGABYTE) == 32_768
    assert choose_window("auto", leftover, GIGABYTE) == 8192


@pytest.mark.parametrize(
    ("per_token", "gigabytes", "window"),
    [
        (None, 16, 8192),
        (114_688, 16, 32_768),
        (114_688, 8, 16_384),
        (114_688, 2, 8192),
        (524_288, 8, 8192),
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
    memory = free_memory()
    assert memory is None or memory > GIGABYTE // 4

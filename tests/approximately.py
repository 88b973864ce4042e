"""`pytest.approx` with types, which it lacks in pytest 8."""

from __future__ import annotations

from typing import Any, cast

import pytest


def approx(expected: float, **how: float) -> Any:
    """A number that equals any other near to it: within `rel` of it, or within `abs`."""
    return cast(Any, pytest).approx(expected, **how)

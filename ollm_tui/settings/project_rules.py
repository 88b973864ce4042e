"""What a project's own settings file may set. Everything not named here is refused.

A project may come from anywhere. It may tune how the conversation is held, and it may make
things stricter; it may not say where data and keys go, what is run, or what is deleted.
"""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.settings.keys import KeyPath

ALLOWED: tuple[KeyPath, ...] = (
    ("model",),
    ("provider",),
    ("snapshots", "*"),
    ("compression", "*"),
    ("context", "*"),
    ("loopDetection", "*"),
    ("fileDiscovery", "maxDepth"),
    ("fileDiscovery", "builtinIgnores"),
    ("models", "*"),
    ("models", "*", "window"),
    ("models", "*", "temperature"),
    ("models", "*", "thinking"),
    ("models", "*", "maxOutput"),
    ("tools", "timeoutSeconds"),
    ("search", "maxResults"),
    ("search", "retrievalTokens"),
    ("ui", "*"),
    ("keymap", "*"),
)
"""Keys a project may set to any value; * is any one name."""

STRICTER_ONLY: Mapping[KeyPath, tuple[object, ...]] = {
    ("retention", "mode"): ("global", "session", "ephemeral"),
    ("retention", "encryptAtRest"): (False, True),
    ("retention", "storeToolOutputs"): (True, False),
    ("fileDiscovery", "followSymlinks"): (True, False),
    ("search", "retrieval"): (True, False),
}
"""Keys a project may only make stricter, with their values from the loosest to the strictest."""


def may_set(path: KeyPath) -> bool:
    """Whether a project may set this key at all."""
    return path in STRICTER_ONLY or any(_matches(path, pattern) for pattern in ALLOWED)


def loosens(path: KeyPath, value: object, current: object) -> bool:
    """Whether a value is less strict than what the user has, where that is not allowed."""
    order = STRICTER_ONLY.get(path)
    return order is not None and order.index(value) < order.index(current)


def _matches(path: KeyPath, pattern: KeyPath) -> bool:
    return len(path) == len(pattern) and all(
        part in ("*", name) for name, part in zip(path, pattern, strict=True)
    )

"""Other spellings of keys, from the documents and files of earlier programs."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.settings.keys import KeyPath, camel, is_table

ALIASES: Mapping[KeyPath, KeyPath] = {
    ("services", "session"): ("sessions",),
    ("services", "sessions"): ("sessions",),
    ("services", "snapshots"): ("snapshots",),
    ("services", "compression"): ("compression",),
    ("services", "loopDetection"): ("loopDetection",),
    ("services", "fileDiscovery"): ("fileDiscovery",),
    ("services", "environment"): ("environment",),
    ("chat", "retention"): ("retention",),
    ("retention", "maxSessions"): ("sessions", "maxSessions"),
    ("tools", "allowedTools"): ("tools", "allowed"),
    ("tools", "sandbox", "networkAccess"): ("tools", "network"),
    ("tools", "sandbox", "fileSystemScope"): ("tools", "scope"),
}
"""A key or group, and what it is called here."""

ALIAS_GROUPS: frozenset[KeyPath] = frozenset(
    path[:length] for path in ALIASES for length in range(1, len(path))
) - {("retention",), ("tools",)}
"""Groups that exist only in other spellings."""


def resolved(group: KeyPath, name: str) -> KeyPath:
    """The key that `name` means inside a group; unknown ones come back as they are."""
    path = (*group, name if is_table(group) else camel(name))
    return ALIASES.get(path, path)

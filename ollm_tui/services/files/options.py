"""The options for finding the files of a project."""

from __future__ import annotations

from dataclasses import dataclass

from ollm_tui.settings.schema import FileDiscovery, Settings

_DEFAULTS = FileDiscovery()


@dataclass(frozen=True)
class DiscoveryOptions:
    """How deep to look, whether to follow links, and which files count."""

    max_depth: int = _DEFAULTS.max_depth
    """Levels of folders below the root that are looked into: 0 is the root alone."""
    follow_symlinks: bool = _DEFAULTS.follow_symlinks
    """Whether folders behind links are looked into, each real one once; else links are listed."""
    builtin_ignores: tuple[str, ...] = _DEFAULTS.builtin_ignores
    """Patterns that are ignored everywhere, whatever ignore files say."""
    include: tuple[str, ...] = ()
    """Globs; if there are any, only files count that fit one or lie in a folder that does."""
    exclude: tuple[str, ...] = ()
    """Globs of files and folders that are left out."""

    @classmethod
    def from_settings(cls, settings: Settings) -> DiscoveryOptions:
        """Make the options from the user's settings."""
        return cls(
            max_depth=settings.file_discovery.max_depth,
            follow_symlinks=settings.file_discovery.follow_symlinks,
            builtin_ignores=settings.file_discovery.builtin_ignores,
        )

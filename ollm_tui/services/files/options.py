"""What is looked for in a project."""

from __future__ import annotations

from dataclasses import dataclass

from ollm_tui.settings.schema import FileDiscovery, Settings

_DEFAULTS = FileDiscovery()


@dataclass(frozen=True)
class DiscoveryOptions:
    """How deep, through links or not, and which files."""

    max_depth: int = _DEFAULTS.max_depth
    """Folders below the root that are looked into: 0 is the root alone."""
    follow_symlinks: bool = _DEFAULTS.follow_symlinks
    """Look into folders behind links, each real folder once. Otherwise links are listed only."""
    builtin_ignores: tuple[str, ...] = _DEFAULTS.builtin_ignores
    """Ignored everywhere, whatever ignore files say."""
    include: tuple[str, ...] = ()
    """Globs; with any, only files that fit one, or that lie in a folder that does."""
    exclude: tuple[str, ...] = ()
    """Globs of files and folders that are left out."""

    @classmethod
    def from_settings(cls, settings: Settings) -> DiscoveryOptions:
        """As the user wants it."""
        return cls(
            max_depth=settings.file_discovery.max_depth,
            follow_symlinks=settings.file_discovery.follow_symlinks,
            builtin_ignores=settings.file_discovery.builtin_ignores,
        )

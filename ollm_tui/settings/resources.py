"""Files that come with the program, in a checkout and in an installed package."""

from __future__ import annotations

from pathlib import Path


def default_config() -> Path:
    """Return the file that lists every setting with its default."""
    return resources_root() / "config" / "default.yaml"


def price_table() -> Path:
    """Return the file with the prices and windows of hosted models, and its date."""
    return resources_root() / "config" / "prices.json"


def themes_directory() -> Path:
    """Return the directory of the colour themes."""
    return resources_root() / "themes"


def resources_root(package: Path = Path(__file__).parent.parent) -> Path:
    """Return the directory that holds config/ and themes/."""
    # A wheel carries them inside the package; in a checkout they lie beside it.
    installed = package / "resources"
    return installed if installed.is_dir() else package.parent

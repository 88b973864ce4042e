"""Loading the settings from all sources: default < user < project < environment < arguments.

Nothing in a file or variable can keep the program from starting; what is wrong with them
becomes a warning.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ollm_tui.settings.loaded import Loaded, Trusts
from ollm_tui.settings.locations import Locations, find_locations
from ollm_tui.settings.schema import Settings

VARIABLE_PREFIX = "OLLM_"
_HOME = "OLLM_HOME"


def load_settings(
    environ: Mapping[str, str],
    cwd: Path,
    arguments: Mapping[str, object],
    trusts: Trusts | None = None,
) -> Loaded:
    """Return the effective settings. SettingsError only where there is no home directory.

    `arguments` maps dotted keys ("retention.mode") to values; None means not given. A project's
    file counts only as far as `trusts` says so; without it no project is trusted.
    """
    places = find_locations(environ, cwd)
    if not (_any_file(places) or _any_variable(environ) or arguments):
        return Loaded(Settings(), (), {}, places)
    # Imported late: reading settings takes 10 ms, and most people have none.
    from ollm_tui.settings.gathering import gather

    return gather(places, environ, arguments, trusts)


def _any_file(places: Locations) -> bool:
    files = (places.user_config, places.project_config)
    return any(file is not None and os.path.lexists(file) for file in files)


def _any_variable(environ: Mapping[str, str]) -> bool:
    return any(name.startswith(VARIABLE_PREFIX) and name != _HOME for name in environ)

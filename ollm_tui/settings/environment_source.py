"""Settings from the environment: OLLM_COMPRESSION_THRESHOLD=0.7 and the like."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.settings.given import Assignment, Given, GivenList, GivenText
from ollm_tui.settings.keys import PREFIX, KeyPath, fixed_keys, snake, takes_list, unknown_variable
from ollm_tui.settings.warning import SettingsWarning, dotted

SOURCE = "environment"
_NOT_SETTINGS = ("OLLM_HOME", "OLLM_MODEL_SERVER", "OLLM_PASSPHRASE", "OLLM_SYNC_KEY")
"""Variables of this program that are no settings."""
_TEST_PREFIX = "OLLM_TEST_"


def read_environment(
    environ: Mapping[str, str],
) -> tuple[list[Assignment], list[SettingsWarning]]:
    """Return the keys the environment sets, and warnings about unknown variables."""
    given = {name: value for name, value in sorted(environ.items()) if _is_ours(name)}
    if not given:
        return [], []
    keys = {variable(path): path for path in fixed_keys()}
    found: list[Assignment] = []
    warnings: list[SettingsWarning] = []
    for name, value in given.items():
        path = keys.get(name)
        if path is None:
            problem = unknown_variable(name, keys)
            warnings.append(SettingsWarning(SOURCE, None, dotted((name,)), problem))
        # An empty variable counts as not set, but an empty list is a value.
        elif value or takes_list(path):
            found.append(Assignment(path, name, text_given(path, value), SOURCE))
    return found, warnings


def variable(path: KeyPath) -> str:
    """Return the environment variable of a key."""
    return PREFIX + "_".join(snake(name).upper() for name in path)


def text_given(path: KeyPath, value: str, quoted: bool = False) -> Given:
    """Turn a text into what it gives for a key; items of a list are separated by commas."""
    if not takes_list(path):
        return GivenText(value, quoted)
    return GivenList(tuple(item.strip() for item in value.split(",") if item.strip()))


def _is_ours(name: str) -> bool:
    return (
        name.startswith(PREFIX) and not name.startswith(_TEST_PREFIX) and name not in _NOT_SETTINGS
    )

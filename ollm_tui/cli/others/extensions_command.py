"""`ollm extensions`: lists what is installed, and switches single ones off and on."""

from __future__ import annotations

from argparse import Namespace

from ollm_tui.cli.output import print_json, print_table
from ollm_tui.cli.store import read_settings
from ollm_tui.core.errors import UsageError
from ollm_tui.extension_api import API_VERSION
from ollm_tui.services.extensions.extension_host import installed
from ollm_tui.settings.user_file import set_user_value


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    loaded = read_settings()
    found = installed(loaded.settings.extensions)
    if arguments.command == "list":
        if arguments.json:
            print_json([each._asdict() for each in found])
        elif found:
            rows = [(e.name, "on" if e.enabled else "off", e.package, e.version) for e in found]
            print_table(rows)
        else:
            print(f"No extensions installed (API {API_VERSION}, see docs/extending.md).")
        return 0
    if arguments.name not in {each.name for each in found}:
        known = ", ".join(each.name for each in found) or "none"
        raise UsageError(f"no extension {arguments.name!r}", f"installed: {known}")
    on = arguments.command == "enable"
    path = ("extensions", arguments.name, "enabled")
    set_user_value(loaded.locations.user_config, path, on)
    print(f"{arguments.name} {'enabled' if on else 'disabled'} from the next start.")
    return 0

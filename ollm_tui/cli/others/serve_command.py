"""`ollm serve`: the screens in a browser."""

from __future__ import annotations

import asyncio
import gc
import os
import ssl
import sys
from argparse import Namespace

from ollm_tui.cli.store import load, open_library
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.services.logs import start_logging
from ollm_tui.services.safety.encryption import cipher_for
from ollm_tui.settings.loaded import Loaded

OF_POSIX = ("fcntl", "termios")
READS_ALONG = "not encrypted: others on the network can read and take over (use --cert and --key)"


def run(arguments: Namespace) -> int:
    """Serve until Ctrl+C."""
    try:
        from ollm_tui.web.serving import OWN, SHARED, Place, Served, serve
    except ModuleNotFoundError as error:
        if error.name in OF_POSIX:
            raise OllmError("ollm serve needs a POSIX system", "use WSL") from error
        raise OllmError(f"{error.name} is not installed", "pip install 'ollm-tui[web]'") from error
    tls = _tls(arguments)
    loaded = load()
    start_logging(loaded.locations.home, debug=arguments.debug)
    # A server may run for days. What is loaded by now stays, and need not be looked through again.
    gc.freeze()
    gc.enable()

    def tell(served: Served) -> None:
        if served.is_in_the_open:
            sys.stderr.write(f"ollm: warning: {READS_ALONG}\n")
        if served.address:
            print(f"Open {served.address}")
        if served.shared:
            print(f"{'Share' if served.address else 'Open'} {served.shared} (read-only)")
        print("Ctrl+C stops it.", flush=True)

    views: dict[str, tuple[str, ...]] = {} if arguments.read_only else {OWN: ()}
    if arguments.share or arguments.read_only:
        views[SHARED] = ("--follow", *_shared(loaded, arguments.share))
    title = f"ollm · {loaded.locations.project.name}"
    try:
        asyncio.run(serve(Place(arguments.host, arguments.port, tls), views, title, tell))
    except OSError as error:
        place = f"{visible(arguments.host)}:{arguments.port}"
        why = f"cannot serve at {place}: {visible(error.strerror or str(error))}"
        raise OllmError(why, "try another --port or --host") from error
    return 0


def _shared(loaded: Loaded, wanted: str | None) -> tuple[str, ...]:
    """Return the session that others may see, if one was named. StoreError if there is none;
    OllmError if the passphrase would be asked for in their tabs."""
    cipher_for(loaded.settings, loaded.locations.home, os.environ, None)
    return (open_library(loaded).catalogue.resolve(wanted),) if wanted else ()


def _tls(arguments: Namespace) -> ssl.SSLContext | None:
    if not arguments.cert and not arguments.key:
        return None
    if not arguments.cert or not arguments.key:
        raise UsageError("https needs a certificate and its key", "give both --cert and --key")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(arguments.cert, arguments.key, password="")
    except OSError as error:
        why = f"cannot use the certificate or its key: {visible(error.strerror or str(error))}"
        raise UsageError(why, "both must be PEM files") from error
    return context

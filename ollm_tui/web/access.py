"""Who may see what: a secret in the address, and requests that come from our own page only."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from hmac import compare_digest
from ipaddress import ip_address
from urllib.parse import urlsplit

TOKEN_BYTES = 24
LOOPBACK_NAMES = ("localhost",)


class Access:
    """The secrets of the addresses that were printed, and the names this server is called by."""

    def __init__(self, views: Sequence[str], names: Sequence[str], *, only_loopback: bool) -> None:
        self.tokens: Mapping[str, str] = {
            view: secrets.token_urlsafe(TOKEN_BYTES) for view in views
        }
        """The secret of each view."""
        self._names = frozenset(name.lower() for name in (*names, *LOOPBACK_NAMES))
        self._only_loopback = only_loopback

    def view(self, token: str) -> str | None:
        """Return what a secret gives access to; None if it is not one of ours."""
        found = None
        for view, known in self.tokens.items():  # all of them: the time must not tell which
            if compare_digest(known.encode(), token.encode()):
                found = view
        return found

    def knows_host(self, host: str) -> bool:
        """Return whether a request was sent to this server by a name that is its own.

        A page elsewhere can have its own name resolve to this machine, and would then be allowed
        to read what the server answers. It cannot do that with an address of numbers.
        """
        name = _host_name(host)
        try:
            address = ip_address(name)
        except ValueError:
            return name in self._names
        return address.is_loopback or not self._only_loopback

    def knows_origin(self, origin: str, host: str) -> bool:
        """Return whether a connection was opened by a page of this server."""
        return bool(host) and urlsplit(origin).netloc.lower() == host.lower()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server at an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() in LOOPBACK_NAMES


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""

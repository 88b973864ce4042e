"""Amazon's signature of a request, version 4."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

_ALGORITHM = "AWS4-HMAC-SHA256"
CONTENT_TYPE = "application/json"


class Credentials(NamedTuple):
    """What a request is signed with."""

    access_key: str
    secret_key: str
    token: str | None = None
    expires: datetime | None = None
    """When they end; None if they stay."""


def signed_headers(
    method: str,
    url: str,
    body: bytes,
    credentials: Credentials,
    region: str,
    service: str = "bedrock",
    now: datetime | None = None,
) -> dict[str, str]:
    """Return the headers that sign a request; it has to be sent with just these bytes."""
    moment = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    address = urlsplit(url)
    headers = {"content-type": CONTENT_TYPE, "host": address.netloc, "x-amz-date": moment}
    if credentials.token:
        headers["x-amz-security-token"] = credentials.token
    names = ";".join(sorted(headers))
    query = sorted(parse_qsl(address.query, keep_blank_values=True))
    canonical = "\n".join(
        [
            method,
            # The path is encoded already, and is signed encoded once more.
            quote(address.path or "/", safe="/-_.~"),
            "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in query),
            *(f"{name}:{headers[name]}" for name in sorted(headers)),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{credentials.secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, f"{_ALGORITHM}\n{moment}\n{scope}\n{digest}".encode(), hashlib.sha256)
    headers["authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={names}, Signature={signature.hexdigest()}"
    )
    return headers

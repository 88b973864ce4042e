"""Who is let in: only pages of our own, only with the secret, only by a name of this machine."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ollm_tui.web.access import Access
from ollm_tui.web.web_server import REFUSED
from tests.cli.conftest import Run
from tests.web.conftest import Serve

NAME = "0123456789abcdef" * 2


async def status(address: str, headers: Mapping[str, str] | None = None) -> int:
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answer:
        return answer.status


async def test_without_the_secret_or_from_elsewhere_neither_page_nor_tab_opens(
    serve: Serve,
) -> None:
    served = await asyncio.to_thread(serve)
    page, base = served.address, f"http://{served.host}"
    port = urlsplit(base).port
    tab = f"{page}tab?name={NAME}&size=80x24"
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    assert await status(page) == 200
    assert await status(page, {"Host": f"localhost:{port}"}) == 200
    for wrong in ("/", "/wrong/", "/wrong/page.js", f"/wrong/tab?name={NAME}&size=80x24"):
        assert await status(base + wrong, {"Origin": base}) == 403
    # A name that somebody else has resolve to this machine.
    for host in (f"evil.example:{port}", "evil.example", "", "192.0.2.7"):
        assert await status(page, {"Host": host}) == 403
        assert await status(tab, {**upgrade, "Host": host, "Origin": f"http://{host}"}) == 403
    for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert await status(tab, {**upgrade, **origin}) == 403
    for sizes in ("", "0x1", "80", "-1x3", "9999x9999"):
        wrong_size = f"{page}tab?name={NAME}&size={sizes}"
        assert await status(wrong_size, {**upgrade, "Origin": base}) == 400
    assert served.children() == []  # nothing was started for any of them


async def test_the_page_offers_its_own_files_and_nothing_else(serve: Serve) -> None:
    served = await asyncio.to_thread(serve)
    async with aiohttp.ClientSession() as session, session.get(served.address) as answer:
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert await status(served.address + "xterm/xterm.mjs") == 200
    for path in ("%2e%2e/web_server.py", "..%2fweb_server.py", "xterm/", "xterm", "xterm/LICENSE"):
        assert await status(served.address + path) in (403, 404)


async def test_read_only_has_no_address_to_type_at(serve: Serve) -> None:
    served = await asyncio.to_thread(serve, "--read-only")
    (address,) = served.addresses
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        assert '<body class="read-only">' in await answer.text()


def test_the_secret_is_compared_whole_and_each_view_has_its_own() -> None:
    access = Access(("own", "share"), ("box.lan",), only_loopback=False)
    own, share = access.tokens["own"], access.tokens["share"]
    assert own != share
    assert (access.view(own), access.view(share)) == ("own", "share")
    assert access.view("") is access.view(own[:-1]) is access.view(own + "ä") is None
    assert access.knows_host("BOX.lan:80")
    assert access.knows_host("[fe80::1]:80")
    assert access.knows_host("10.0.0.1")
    assert not access.knows_host("box.lan.evil.example")
    assert not access.knows_host("[fe80")


def certificate(folder: Path) -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return str(files[0]), str(files[1])


async def test_with_a_certificate_it_is_https(serve: Serve, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    served = await asyncio.to_thread(serve, "--cert", cert, "--key", key)
    assert served.address.startswith("https://")
    trusting = ssl.create_default_context(cafile=cert)
    trusting.check_hostname = False
    async with (
        aiohttp.ClientSession() as session,
        session.get(served.address, ssl=trusting) as answer,
    ):
        assert answer.status == 200


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cert", "nowhere.pem"), "https needs a certificate and its key"),
        (("--cert", "nowhere.pem", "--key", "nowhere.pem"), "No such file or directory"),
        (("--port", "70000"), "not a port"),
        (("--host", "192.0.2.7"), "cannot serve at 192.0.2.7"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(
    run_ollm: Run, arguments: tuple[str, ...], words: str
) -> None:
    done = run_ollm("serve", *arguments)
    assert done.returncode != 0
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_words_of_a_refusal_tell_where_the_address_is() -> None:
    assert "ollm serve" in REFUSED

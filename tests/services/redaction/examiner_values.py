"""Fake values of the right alphabet and length, the same at every run."""

import base64
import json
import random
import string
import zlib

LETTERS = string.ascii_letters
WORD = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
UPPER_HEX = "0123456789ABCDEF"
DIGITS = string.digits
BASE32 = string.ascii_uppercase + "234567"
BASE64 = WORD + "+/"
URL64 = WORD + "-_"
Case = tuple[str, str, str]
"""A name, a text, and the secret in it."""
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def fake(alphabet: str, length: int, seed: str = "") -> str:
    """`length` characters of `alphabet`, decided by the seed alone."""
    draw = random.Random(f"{alphabet}:{length}:{seed}")
    return "".join(draw.choice(alphabet) for _ in range(length))


def fake_uuid(seed: str) -> str:
    """A version 4 UUID."""
    digits = fake(HEX, 32, seed)
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def base64_of(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(text.encode()).decode()


def fake_jwt(seed: str) -> str:
    """A signed token in three parts."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": fake(DIGITS, 10, seed), "iat": 1716239022})
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )
    return f"{head}.{body}.{fake(URL64, 43, seed)}"


def with_checksum(prefix: str, seed: str) -> str:
    """The form of GitHub and npm: thirty letters and six of a CRC-32 in base 62."""
    body = fake(WORD, 30, seed)
    alphabet = string.digits + string.ascii_uppercase + string.ascii_lowercase
    rest, tail = zlib.crc32(body.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        tail = alphabet[digit] + tail
    return f"{prefix}{body}{tail}"


def pem(kind: str, seed: str, lines: int = 6) -> str:
    """The armour of a key: a head, lines of base64, a foot."""
    body = "\n".join(fake(BASE64, 64, f"{seed}{n}") for n in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def pem_body(kind: str, seed: str) -> str:
    """One line from the middle of `pem`."""
    return pem(kind, seed).splitlines()[3]


def bare(name: str, secret: str) -> Case:
    """A value that its own form gives away, in a sentence that says nothing about it."""
    return name, f"see {secret} there", secret


def within(name: str, frame: str, secret: str) -> Case:
    """A value in its usual surroundings; `@@` in the frame is where it stands."""
    return name, frame.replace("@@", secret), secret

"""Texts that tokenisers treat differently: ten languages, code, JSON, emoji, base64.

Of each kind there are two, so that what was learnt from one can be tried on the other.
"""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path

PROSE: dict[str, tuple[str, str]] = {
    kind: (first, second)
    for kind, (first, second) in json.loads(
        Path(__file__).with_name("prose.json").read_text(encoding="utf-8")
    ).items()
}
"""Ten languages, and emoji."""

CODE = (
    '''
def merge(left: list[int], right: list[int]) -> list[int]:
    """Join two sorted lists into one."""
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]


class Account:
    def __init__(self, owner: str, balance: float = 0.0) -> None:
        self.owner = owner
        self._balance = balance

    def withdraw(self, amount: float) -> None:
        if amount > self._balance:
            raise ValueError(f"only {self._balance:.2f} left")
        self._balance -= amount
''',
    """
async def fetch_all(urls: Sequence[str], limit: int = 8) -> dict[str, bytes]:
    gate = asyncio.Semaphore(limit)
    async with httpx.AsyncClient(timeout=30) as client:
        async def fetch(url: str) -> tuple[str, bytes]:
            async with gate:
                response = await client.get(url)
                response.raise_for_status()
                return url, response.content
        return dict(await asyncio.gather(*(fetch(url) for url in urls)))


def test_the_cache_forgets_what_is_old():
    cache = Cache(max_items=3)
    for number in range(5):
        cache[f"key-{number}"] = number * 2
    assert list(cache) == ["key-2", "key-3", "key-4"]
    with pytest.raises(KeyError):
        cache["key-0"]
""",
)


def _records(seed: int) -> str:
    chance = random.Random(seed)
    names = ("alice", "bob", "carol", "dmitri", "elena", "farid")
    records = [
        {
            "id": chance.randrange(10**6),
            "user": chance.choice(names),
            "active": chance.random() < 0.5,
            "score": round(chance.random() * 100, 3),
            "tags": chance.sample(("new", "paid", "trial", "beta", "internal"), 2),
            "createdAt": f"2026-0{chance.randrange(1, 9)}-1{chance.randrange(10)}T08:15:00Z",
        }
        for _ in range(8)
    ]
    return json.dumps(records, indent=2)


def _random_base64(seed: int) -> str:
    return base64.b64encode(random.Random(seed).randbytes(700)).decode()


SAMPLES: dict[str, tuple[str, str]] = {
    **PROSE,
    "code": CODE,
    "json": (_records(1), _records(2)),
    "base64": (_random_base64(1), _random_base64(2)),
}

MORE_TEXTS = {
    "dutch": "Wat is het verschil tussen deze programma's en waarom werkt het niet meer?",
    "polish": "Czy możesz mi wyjaśnić, dlaczego ten program nie działa tak, jak powinien?",
    "turkish": "Bu programın neden düzgün çalışmadığını bana açıklayabilir misin?",
    "vietnamese": "Bạn có thể giải thích cho tôi tại sao chương trình này không hoạt động không?",
    "finnish": "Voisitko selittää, miksi tämä ohjelma ei toimi niin kuin sen pitäisi?",
    "greek": "Μπορείς να μου εξηγήσεις γιατί αυτό το πρόγραμμα δεν λειτουργεί όπως πρέπει;",
    "hebrew": "האם אתה יכול להסביר לי למה התוכנית הזאת לא עובדת כמו שצריך?",
    "thai": "คุณช่วยอธิบายให้ฉันฟังได้ไหมว่าทำไมโปรแกรมนี้ถึงไม่ทำงาน",
    "tamil": "இந்த நிரல் ஏன் எதிர்பார்த்தபடி செயல்படவில்லை?",
    "amharic": "ይህ ፕሮግራም ለምን እንደማይሰራ ሊያብራሩልኝ ይችላሉ?",
    "shouting": "PLEASE EXPLAIN TO ME WHY THIS PROGRAM DOES NOT WORK AS EXPECTED ANY MORE.",
    "mathematics": "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−L|<ε; ∑ᵢ₌₁ⁿ i² = n(n+1)(2n+1)/6 ≤ ∞",
    "hexadecimal": random.Random(3).randbytes(300).hex(),
    "hex dump": random.Random(4).randbytes(300).hex(" "),
    "numbers": ",".join(f"{random.Random(n).random() * 1000:.4f}" for n in range(60)),
    "log": "".join(
        f"2026-11-16 07:{n}:12,407 INFO job {n * 7919} took 0.31s\n" for n in range(10, 40)
    ),
    "base32": base64.b32encode(random.Random(5).randbytes(300)).decode(),
}
"""Texts the estimate was not fitted to."""

"""Beside a certain name nearly any value is hidden: words and numbers, as people choose them."""

from __future__ import annotations

import pytest

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor
from tests.cases import every

CHOSEN = ("Grapefruit_9", "HotelLobby_31", "sea_otter_5", "kiwi9", "Winter2024", "oakTree.77")
"""Words and a number: no name of anything, and no random letters."""
WORDS = ("Tangerine_Dream", "ottersRule", "marigold", "48151623")
"""Words or a number alone: hidden where nothing but a value can be."""

WHERE_ONLY_VALUES_ARE = (
    "DB_PASSWORD=@@",
    "password=@@",
    "wpa_passphrase=@@\nproto=RSN",
    "psk=@@",
    'password = "@@"',
    "const dbPass = '@@';",
    "Server=s;Uid=a;Pwd=@@;Encrypt=yes",
    "host=h user=u password=@@ dbname=d",
    "jdbc:sqlserver://h;user=sa;password=@@;encrypt=true",
    "mysql -u root -p@@ shop",
    "sshpass -p @@ ssh h",
    "redis-cli -h cache -a @@ ping",
    "sqlcmd -S h -U sa -P @@",
    "ldapmodify -x -D cn=a -w @@",
    "openssl rsa -passin pass:@@ -in a",
    "wpa_passphrase Home @@",
    "sqlplus scott/@@@orcl",
    "kubectl create secret generic x --from-literal=password=@@",
    '#define PASSWORD "@@"',
)
WHERE_WORDS_ARE_TOO = (
    "password: @@",
    "[db]\npassword = @@\n",
    "- name: DB_PASSWORD\n  value: @@",
    "keytool -storepass @@ -list",
    "tool --password @@",
    "The password is @@.",
    "the password (@@) works",
    "the wifi password: @@",
    "Das Kennwort für den Server ist @@",
    "Das neue Passwort heißt @@",
    "le mot de passe du serveur est @@",
    "La contraseña del servidor es @@",
    "A senha é @@",
    "use @@ as the password",
    "verwende @@ als Passwort",
    "Zugangsdaten: bob / @@",
    "| host | user | pw |\n|---|---|---|\n| h | bob | @@ |",
    "user | Passwort\nbob | @@",
)
IN_QUOTES_AMONG_WORDS = (
    "using password '@@'",
    'setPassword("@@")',
    "fill('#password', '@@')",
    'element(By.ID, "password").send_keys("@@")',
)
HARMLESS = (
    "password: str",
    "password=password",
    "    password: Incomplete\n    username: Incomplete",
    "username: Incomplete\npassword: Incomplete",
    "connect(host=h, password=user_password2)",
    "password = arg1",
    "password = user_name2",
    "password: HashedPassword",
    "'CURLOPT_PASSWORD', 'CURLOPT_READDATA',",
    '#define LN_challengePassword "challengePassword"',
    '"password": "Kennwort"',
    "Das Passwort ist zu kurz.",
    "Le mot de passe est incorrect.",
    "La contraseña es obligatoria.",
    "use bcrypt as the password hash",
    "the password is sha256-hashed",
    "password (optional)",
    "curl -u admin https://api.acme.io",
    "mkdir -p src/app2",
    "/etc/passwd:root:x:0:0:root:/root:/bin/bash",
    'password: "%env(DB_PASSWORD)%"',
    "AKIAIOSFODNN7EXAMPLE",
    'WWW-Authorization: Basic realm="admin"',
)


def shown(frame: str, value: str) -> bool:
    return value in Redactor().redact(frame.replace("@@", value))


@every("frame", WHERE_ONLY_VALUES_ARE)
def test_any_value_is_hidden_where_only_values_are(frame: str) -> None:
    assert [value for value in (*CHOSEN, *WORDS) if shown(frame, value)] == []


@every("frame", WHERE_WORDS_ARE_TOO)
def test_words_with_a_number_are_hidden_where_words_are_too(frame: str) -> None:
    assert [value for value in CHOSEN if shown(frame, value)] == []


@pytest.mark.parametrize("frame", IN_QUOTES_AMONG_WORDS)
def test_what_is_in_quotes_beside_the_name_is_hidden(frame: str) -> None:
    values = (*CHOSEN, "Tangerine_Dream", "ottersRule", "48151623")
    assert [value for value in values if shown(frame, value)] == []


@every("text", HARMLESS)
def test_types_references_and_labels_are_left_alone(text: str) -> None:
    assert Redactor().find(text) == []


@pytest.mark.parametrize(
    "key",
    [
        "nsec1" + "q3w8x7z5" * 7 + "t2",
        "5J" + "3hKp9mQr7" * 5 + "Tz4w",
        "K" + "w3hKp9mQr7" * 5 + "T",
    ],
)
def test_keys_of_wallets_and_nostr_are_hidden(key: str) -> None:
    assert key not in Redactor().redact(f"see {key} here")


@every("frame", [*WHERE_ONLY_VALUES_ARE, *WHERE_WORDS_ARE_TOO, *IN_QUOTES_AMONG_WORDS, *HARMLESS])
def test_a_stream_that_is_cut_anywhere_shows_the_same(frame: str) -> None:
    text = f"first\n{frame.replace('@@', CHOSEN[0])}\nthe next line"
    whole = Redactor().redact(text)
    for cut in range(1, len(text)):
        stream = StreamRedactor(Redactor())
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.end() == whole, text[:cut]

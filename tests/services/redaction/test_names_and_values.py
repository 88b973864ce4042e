"""Whatever stands between the name of a secret and its value: the value is hidden, at any cut."""

from __future__ import annotations

import re

import pytest

from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.redaction.stream_redactor import StreamRedactor
from tests.cases import every

PASSWORDS = ("vK9#mQ2$xL7w", "Fj7kLm2p", "correct-horse-battery-staple", "p4ssw0rd_x")
TOKENS = ("9f86d081884c7d659a2feaa0c55ad015", "hT4mK8xQ2vB9nR3wZ6pL1dF7")

ON_OTHER_LINES = (
    "password: |\n  @@\n",
    "password: >-\n  @@\nuser: app",
    '{"password":\n   "@@"}',
    "Password:\n\n    @@\n",
    "<password>\n  @@\n</password>",
    "<key>password</key>\n<string>@@</string>",
    "password: &main @@",
)
IN_MARKUP = (
    "<ns:password>@@</ns:password>",
    "<password><![CDATA[@@]]></password>",
    '<password type="plain">@@</password>',
    "<b>Password:</b> @@",
    "<td>password</td><td>@@</td>",
)
IN_CODE = (
    "password: process.env.DB ?? '@@',",
    "ENV.fetch('DB_PASSWORD') { '@@' }",
    'pw = os.getenv("DB_PASSWORD") or "@@"',
    'password <- "@@"',
    'Dim password As String = "@@"',
    '"passwords": ["@@"]',
    "login(bob) password=[@@]",
)
IN_COMMANDS = (
    "tool -Password @@ -Force",
    "tool -pw '@@' host",
    "mongo -u app -p @@ --quiet",
    "xfreerdp /u:bob /p:@@ /v:host",
    "echo '@@' | sudo -S true",
    "echo 'bob:@@' | chpasswd",
    "net user bob @@ /add",
    "setx DB_PASSWORD @@",
    "SSHPASS=@@ sshpass -e ssh host",
    "ALTER USER a IDENTIFIED WITH caching_sha2_password BY '@@';",
)
IN_SENTENCES = (
    "the password should be @@ from now on",
    "password remains @@",
    "The password for bob was set to @@ today",
    "the password for the staging host was changed from old to @@",
    "Password ........ @@",
    "pwd is @@",
    "user=bob%26password%3D@@%26x",
)
AFTER_OTHER_WORDS = (
    "Password 2: @@",
    "password for the users of the staging host (eu): @@",
)
IN_TABLES = (
    "| user | password |\n|---|---|\n| amy | - |\n| bob | @@ |\n\nThat is all.",
    "name,password,mail\nbob,@@,b@example.org\n",
    "Username\tPassword\nbob\t@@\n",
    " name  |   password\n-------+------------\n bob   | @@\n(1 row)",
    "Username    Password      Role\nbob         @@    admin\n",
    "INSERT INTO users (name, password, age) VALUES ('amy', 'none', 3), ('bob', '@@', 4);",
)
OF_PASSWORDS = (
    *(*ON_OTHER_LINES, *IN_MARKUP, *IN_CODE),
    *(*IN_COMMANDS, *IN_SENTENCES, *AFTER_OTHER_WORDS, *IN_TABLES),
)
OF_TOKENS = (
    "token: |\n  @@\n",
    "API key (staging) - @@",
    "ApiKey=[@@]",
    "SECRET_SALT=@@",
    "recovery code: @@",
    'signing_key = """@@"""',
    "gatewayKey: '@@'",
    "the key for the payments API is @@",
    "token=secret=@@",
    "Unseal Key 1: @@",
    "tool --token @@",
    "TOKEN_GITHUB=@@",
    "api_key_weather: '@@'",
    "| service | token |\n|---|---|\n| acme | @@ |\n",
    "name,api_key\nacme,@@\n",
)
HARMLESS = (
    "password:\n  type: string\n  minLength: 8",
    "secrets:\n  - db_password\n  - api_key_v2",
    '<label for="password">Password</label>\n<input type="password" name="p1">',
    "<th>Token</th><th>Created</th>",
    "password: user.password || null,",
    "token = self.token or 'none'",
    "| field | password |\n|---|---|\n| type | required |\n| minimum | 8 characters |",
    "name,password,mail\nwords = name,password2,mail",
    '    ("password", "token"),\n    ("user_name2", "user_token2"),',
    "docker run -u 1000 -p 127.0.0.1:8080:80 web",
    "the password should be hashed with argon2id",
    "password must be 8-20 characters",
    "echo 'hello2you' | tee out.txt",
    "username: name\npassword: required",
    "COMPASS=north12 BYPASS=cache01",
    "DB_PASSWORD=postgres",
    "password=string",
    "http://bob:test@host",
    '"keywords": ["password", "generator", "security"],',
    "Signature made with RSA key 4E73B9A65522E072A996DDB042A2B4DE7B74F444",
    "Cache restored from key: pip-ubuntu-22.04-py311-91fb2ce8532ae8fa",
    "use the --password option to be asked",
    "TOKEN_ID=9f86d081884c7d659a2feaa0c55ad015",
    "PASSWORD_STYLE=kiwi9",
    '"secret": "must have eight characters"',
    "passphrase: enter the same one again",
)


def hidden(text: str, secret: str) -> bool:
    shown = re.sub(r"\[REDACTED:[^\]]*\]", "\0", Redactor().redact(text))
    return secret[:8] not in shown and secret[-8:] not in shown


@every("frame", OF_PASSWORDS)
def test_a_password_is_hidden_however_it_is_joined_to_its_name(frame: str) -> None:
    missed = [word for word in PASSWORDS if not hidden(frame.replace("@@", word), word)]
    assert missed == []


@every("frame", OF_TOKENS)
def test_a_token_is_hidden_however_it_is_joined_to_its_name(frame: str) -> None:
    missed = [word for word in TOKENS if not hidden(frame.replace("@@", word), word)]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    (
        "user: bob\npassword: sunflower",
        "log in with pw tulip77x",
        "use password tulip77x",
        "login bob password tulip77x",
        "wifi key: sunflower9",
    ),
)
def test_a_plain_password_is_hidden_where_the_words_before_it_leave_no_doubt(text: str) -> None:
    assert not re.search("sunflower|tulip77x", Redactor().redact(text))


@pytest.mark.parametrize(
    "text",
    (
        "session({ secret: 'purple otter drinks cold tea', resave: false })",
        'passphrase = "my dog Rufus barks at 3"',
        "recovery passphrase: anchor violet tundra mimic solar petal\nWrite it down.",
        'mnemonic: "anchor violet tundra mimic solar petal"',
        "password: >-\n  long winding road to Ballyvaughan 1987\nuser: ciaran",
        "MAIL_PASSWORD: yfhw kqzn oplm trxa",
    ),
)
def test_a_phrase_is_hidden_to_its_last_word(text: str) -> None:
    shown = Redactor().redact(text)
    words = "otter tea dog barks violet petal winding 1987 yfhw trxa"
    assert not re.search("|".join(words.split()), shown)
    for cut in range(1, len(text)):
        stream = StreamRedactor(Redactor())
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.end() == shown


def test_what_can_hardly_be_a_word_is_hidden_further_on_in_the_sentence() -> None:
    for value in ("kQ;7hz/Mu!pV", "vK9#mQ2$xL7w"):
        text = f"A temporary password is generated for root@localhost: {value}"
        assert hidden(text, value)


def test_every_row_of_a_table_is_looked_at() -> None:
    rows = "".join(f"| user{n} | vK{n}#mQ2$xL7w |\n" for n in range(20))
    shown = Redactor().redact(f"| name | password |\n|---|---|\n{rows}")
    assert "xL7w" not in shown and shown.count("[REDACTED:password:") == 20
    assert shown.count("user") == 20


AWKWARD = (
    ('MAIL_PASS="br!ght$Lamp 27"', "br!ght$Lamp 27"),
    ("{ host: 'db', password: 'gr4yFalc0n, really', port: 1 }", "gr4yFalc0n, really"),
    ("COOKIE_SECRET=a-rather-long-line-for-all-the-cookies", "a-rather-long"),
    ("keystore.password=changeit-1987!", "changeit-1987!"),
    ("# keys\nssl.key.password=emma.bovary\nssl.port=1", "emma.bovary"),
    ("<password>Tin&amp;Drum7</password>", "Drum7"),
    ('smtp.login("me@here.org", "qpwl zmvk htre yxcn")', "htre yxcn"),
    ('curl --user "ann.lee:close Sesame!" https://here.org', "close Sesame!"),
    ("smbclient //nas/x -U 'HQ\\svc%Fl0wer-Pot'", "Fl0wer-Pot"),
    ('API_TOKEN="\\\nq7WmZ2kVx9LtRb4NcYp6Hs\\\n"', "q7WmZ2kVx9LtRb4NcYp6Hs"),
    ("| host | user | password |\n|---|---|---|\n| a | b | Ot7er.Falke |", "Ot7er.Falke"),
)
"""A text, and what of it must not be shown."""
NEVER_SECRET = (
    "password=\ntoken=\nsecret=",
    "AWS_SECRET_ACCESS_KEY=\nAWS_REGION=us-east-1",
    "DB_PASSWORD=\n\nDB_HOST=db-7.here.org\n",
    "class Login(Model):\n    email: EmailStr\n    password: SecretStr\n    token: str = ''",
    "what's the sudo password on build-03?",
    """print("Password and confirmation don't match!"); print('no')""",
    "  self.password=form.entry",
)


@every(("text", "secret"), AWKWARD)
def test_a_secret_with_spaces_dots_entities_or_line_ends_in_it_is_hidden(
    text: str, secret: str
) -> None:
    whole = Redactor().redact(text)
    assert secret not in whole
    for cut in range(1, len(text)):
        stream = StreamRedactor(Redactor())
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.end() == whole, text[:cut]


@every("text", NEVER_SECRET)
def test_the_next_setting_a_type_or_a_sentence_is_no_secret(text: str) -> None:
    assert Redactor().find(text) == []


@every("text", HARMLESS)
def test_what_only_looks_like_a_name_and_its_value_is_left_alone(text: str) -> None:
    assert Redactor().find(text) == []


@every("frame", [*OF_PASSWORDS, *OF_TOKENS, *HARMLESS])
def test_a_stream_that_is_cut_anywhere_shows_the_same(frame: str) -> None:
    text = f"first {frame.replace('@@', PASSWORDS[1])} and more\nthe next line"
    whole = Redactor().redact(text)
    for cut in range(1, len(text)):
        stream = StreamRedactor(Redactor())
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.end() == whole, text[:cut]

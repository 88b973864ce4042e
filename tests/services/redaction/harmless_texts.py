"""Texts that look like secrets and are none: what must never be hidden."""

from __future__ import annotations

import base64
import hashlib
import random
import uuid


def _digest(name: str, algorithm: str = "sha256") -> str:
    return hashlib.new(algorithm, name.encode()).hexdigest()


def _base64(size: int) -> str:
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


HARMLESS: tuple[str, ...] = (
    # Hashes, ids, checksums
    f"commit {_digest('a', 'sha1')}",
    f"index {_digest('a')[:7]}..{_digest('b')[:7]} 100644",
    f"sha256:{_digest('image')}",
    f"{_digest('x', 'md5')}  archive.tar.gz",
    f"id: {uuid.UUID(int=2**90 + 12345)}",
    f'"integrity": "sha512-{_base64(64)}",',
    f'"tarball": "x-1.0.0.tgz#{_digest("t", "sha1")}",',
    f'checksum = "{_digest("crate")}"',
    f"--hash=sha256:{_digest('wheel')}",
    f'etag: W/"{_digest("page")[:32]}"',
    f"trace_id={_digest('trace')[:32]} span_id={_digest('span')[:16]}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + _base64(33)[:43] + " me@host",
    "-----BEGIN CERTIFICATE-----\n" + _base64(300) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + _base64(90) + "\n-----END PUBLIC KEY-----",
    "A key starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
    f'<img src="data:image/png;base64,iVBORw0KGgo{_base64(600)}">',
    f"font: url(data:font/woff2;base64,d09GMgABAAAAA{_base64(600)})",
    f"//# sourceMappingURL=data:application/json;base64,{_base64(400)}",
    # Code
    "token = get_token()",
    "token = self.token",
    "token = tokens[i]",
    "const token = await getAccessToken({ scope });",
    "password = os.environ['DB_PASSWORD']",
    'password = getpass.getpass("Password: ")',
    "password = models.CharField(max_length=128)",
    "def login(user: str, password: str) -> Token: ...",
    "password: string;",
    "password: Optional[str] = None",
    "interface Login { user: string; password: string; token?: string }",
    "if password == confirm_password:",
    "apiKey: process.env.OPENAI_API_KEY,",
    "api_key=settings.OPENAI_KEY_2,",
    "secret = hashlib.sha256(data).hexdigest()",
    "key = f'{user_id}:{page}'",
    "cache_key = 'user:123:profile'",
    "for key, value in items.items():",
    "public_key = load_key(path)",
    "primary_key=True, foreign_key='users.id'",
    'KEY_ESCAPE = "escape"',
    "this.password=e.password,this.token=n.token,t.key=r.key",
    '!function(e){var t=e.token||"";return t.length>8?t:null}(window);',
    "password: z.string().min(8).max(64)",
    "'password' => 'required|min:8|confirmed'",
    "password VARCHAR(255) NOT NULL,",
    "let token: Vec<u8> = Vec::new();",
    "assert response.status_code == 401  # no token",
    "max_tokens=4096, prompt_tokens=12, total_tokens: 53211",
    "token_type = bearer",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    "sort_key: created_at_desc_1",
    "secretName: db-credentials",
    "secretKeyRef:\n  name: db\n  key: password",
    ".sk-cube-grid .sk-cube1 { animation-delay: 0.2s } .sk-chasing-dots-before { top: 0 }",
    "--token-color: #a1b2c3d4; --key-width: 12px;",
    '<input type="password" name="password" id="current-password" required>',
    '"password": "Password", "forgot_password": "Forgot your password?"',
    '{"password": {"type": "string", "minLength": 8}}',
    "git clone https://github.com/user/repo.git && cd repo",
    "ssh://git@github.com:22/me/x.git",
    "http://localhost:8080/@me?page=2",
    "docker run -u 1000:1000 --user root:root image",
    # Stand-ins
    'api_key = "<your-api-key>"',
    "API_KEY=your_api_key_here",
    "OPENAI_API_KEY=sk-your-key-here",
    "GITHUB_TOKEN=ghp_" + "x" * 36,
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: ${DB_PASSWORD}",
    "PASSWORD=$(cat /run/secrets/db)",
    "password: '{{ vault_db_password }}'",
    "password: ********",
    "DB_PASSWORD=changeme",
    "SECRET_KEY=replace-me-with-a-random-string",
    "postgres://user:password@localhost/db",
    "https://<user>:<token>@host/path",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "password=example",
    "token = 'EXAMPLE_TOKEN'",
    "password_file: /run/secrets/db_password_1",
    "--password-file=/etc/x/pw.txt --token-ttl 24h",
    # Prose
    "A password should have at least 12 characters; a passphrase of 4 words is easier to keep.",
    "The token is valid for 24 hours. The key is to rotate it. Passwords: see chapter 7.",
    "The password is case-sensitive and is hashed with SHA-256 or argon2id.",
    "Use the --password option to be asked, or the --token argument of version 2.",
    "Bearer authentication (RFC 6750) sends a token in the Authorization header.",
    "Cookie: a small file that a site keeps. Set-Cookie: theme=dark; Path=/",
    "Monkey: 12, turkey: 3, donkey: 44a. Compass: N45, bypass: 2",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.",
    "pass: 34 tests, fail: 0, skip: 2",
    "Secret: v2. Token: 128k. Auth: none.",
    "2026-01-01T00:00:00Z INFO auth: user 42 logged in from 10.0.0.1:51234",
    "version 1.2.3-beta.4+build.567 released as v1.0-rc2",
    "npm_config_color=always npm_lifecycle_event=build",
    "MTBF NDA OT Mj are short words; sk_, pk_ and hf_ are prefixes; SK is a country.",
)

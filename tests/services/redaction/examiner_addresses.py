"""A second examiner's keys, addresses with passwords, and files that hold them."""

from tests.services.redaction.examiner_values import (
    BASE32,
    BASE64,
    HEX,
    LOWER,
    URL64,
    WORD,
    Case,
    bare,
    base64_of,
    fake,
    fake_jwt,
    pem,
    pem_body,
    within,
)


def _keys_and_addresses() -> list[Case]:
    kinds = ("RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY")
    more = ("PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK")
    word = "gravel-77-Toast"
    urls = (
        "postgres://app:@@@db:5432/x",
        "postgresql+asyncpg://app:@@@db/x",
        "mysql://root:@@@127.0.0.1:3306/shop",
        "mongodb+srv://admin:@@@cluster0.ab.mongodb.net/?retryWrites=true",
        "redis://:@@@cache:6379/0",
        "rediss://default:@@@cache:6380",
        "amqp://guest:@@@mq/vhost",
        "clickhouse://default:@@@ch:9000/d",
        "cockroachdb://u:@@@c:26257/bank",
        "mssql+pyodbc://sa:@@@sql/x?driver=ODBC",
        "oracle://scott:@@@ora:1521/xe",
        "neo4j+s://neo4j:@@@g:7687",
        "ldap://cn=admin:@@@ldap:389",
        "ftp://bob:@@@ftp.example.org/f",
        "sftp://bob:@@@h/x",
        "smtp://m:@@@mail:587",
        "https://bob:@@@example.org/a",
        "git clone https://oauth2:@@@gitlab.example.org/a.git",
        "couchdb://a:@@@h:5984",
        "cassandra://c:@@@h:9042/k",
        "http://elastic:@@@es:9200",
        "socks5://p:@@@proxy:1080",
        "nats://n:@@@h:4222",
        "jdbc:postgresql://h/x?user=a&password=@@&ssl=true",
        "jdbc:mysql://h/x?user=a&password=@@",
        "jdbc:sqlserver://h:1433;databaseName=x;user=sa;password=@@;",
        "jdbc:oracle:thin:scott/@@@//h:1521/x",
        "Server=h;Database=x;User Id=sa;Password=@@;Encrypt=True",
        "Server=h;Uid=root;Pwd=@@;",
        "host=h port=5432 dbname=x user=a password=@@ sslmode=require",
        "Driver={ODBC Driver 18};Server=h;UID=sa;PWD=@@",
        "root:@@@tcp(127.0.0.1:3306)/shop?parseTime=true",
    )
    return [
        *[(f"pem {kind}", pem(kind, kind), pem_body(kind, kind)) for kind in (*kinds, *more)],
        (
            "putty key",
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: k\nPublic-Lines: 1\n"
            "AAAA\n"
            f"Private-Lines: 1\n{fake(BASE64, 48, 'ppk')}\nPrivate-MAC: {fake(HEX, 64, 'mac')}",
            fake(BASE64, 48, "ppk"),
        ),
        bare("jwt", fake_jwt("jwt")),
        within("jwt in a url", "wss://h/socket?token=@@&v=1", fake_jwt("url")),
        *[within(f"address {url.split('@@')[0]}", url, word) for url in urls],
        within("netrc", "machine api.example.org\n  login bob\n  password @@\n", word),
        within("netrc one line", "machine h login bob password @@", word),
        within("pgpass", "localhost:5432:mydb:bob:@@\n", word),
        within("pgpass wild", "*:*:*:postgres:@@\n", word),
        within("my.cnf", "[client]\nuser=root\npassword=@@\n", word),
        within("kubeconfig token", "users:\n- name: u\n  user:\n    token: @@\n", fake_jwt("kube")),
        within(
            "kubeconfig key",
            "users:\n- name: u\n  user:\n    client-key-data: @@\n",
            base64_of(pem("RSA PRIVATE KEY", "kube")),
        ),
        within("kubernetes secret", "kind: Secret\ndata:\n  password: @@\n", base64_of(word + "1")),
        within("cookie", "Cookie: sessionid=@@; theme=dark", fake(LOWER, 32, "ck")),
        within("set-cookie", "Set-Cookie: session=@@; Path=/; HttpOnly", fake(URL64, 44, "ck")),
        within("bearer header", "Authorization: Bearer @@", fake(URL64, 40, "br")),
        within("basic header", "Authorization: Basic @@", base64_of("bob:" + word)),
        within("proxy header", "Proxy-Authorization: Basic @@", base64_of("eve:" + word)),
        within("curl header", "curl -H 'Authorization: Bearer @@' https://h/", fake(HEX, 40, "br")),
        within("curl -u", "curl -u bob:@@ https://h/", word),
        within("curl --user", 'curl --user "bob:@@" https://h/', word),
        within(
            "htpasswd apr1",
            "bob:@@",
            "$apr1$" + fake(WORD, 8, "h") + "$" + fake(WORD + "./", 22, "h"),
        ),
        within("htpasswd bcrypt", "bob:@@", "$2y$10$" + fake(WORD + "./", 53, "h")),
        within(
            "shadow",
            "root:@@:19000:0:99999:7:::",
            "$6$" + fake(WORD, 16, "h") + "$" + fake(WORD, 86, "h"),
        ),
        within("wireguard", "[Interface]\nPrivateKey = @@\n", fake(BASE64, 42, "wg") + "8="),
        within("ansible vault password", "ansible_become_pass: @@", word),
        within("maven settings", "<server><id>x</id><password>@@</password></server>", word),
        within("otpauth", "otpauth://totp/a:b?secret=@@&issuer=a", fake(BASE32, 32, "otp")),
        within("wp-config", "define('DB_PASSWORD', '@@');", word),
        within("rails", "secret_key_base: @@", fake(HEX, 128, "rails")),
        within("laravel", "APP_KEY=base64:@@", fake(BASE64, 43, "lara") + "="),
        within(
            "django", "SECRET_KEY = 'django-insecure-@@'", fake(LOWER + "#$%^&*(-_=+)", 50, "dj")
        ),
        within(
            "bitcoin wif",
            "privkey: @@",
            "K" + fake("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 51),
        ),
    ]


KEYS_AND_ADDRESSES: tuple[Case, ...] = tuple(_keys_and_addresses())

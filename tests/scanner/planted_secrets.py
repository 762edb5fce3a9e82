"""Made-up keys of every form that our own rules know. They are put together here, so that no file holds one."""

from collections.abc import Callable, Mapping
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

HEX = digits + "abcdef"
BASE62 = ascii_letters + digits
BASE64 = BASE62 + "+/"
URL_SAFE = BASE62 + "-_"


def key(random: Random, length: int, letters: str = BASE62) -> str:
    """Return random letters, each of them about as often, which never begin or end with a sign."""
    drawn = list((letters * (length // len(letters) + 1))[: max(0, length - 2)])
    if len(letters) > length:
        drawn = random.sample(letters, length - 2)
    random.shuffle(drawn)
    return random.choice(letters[:16]) + "".join(drawn) + random.choice(letters[:16])


def pem(random: Random, kind: str, newline: str) -> str:
    """Return a private key in the form of PEM."""
    lines = [key(random, 64, BASE64) for _ in range(6)]
    return newline.join((f"-----BEGIN {kind}PRIVATE KEY-----", *lines, f"-----END {kind}PRIVATE KEY-----", ""))


def guid(random: Random) -> str:
    """Return a GUID."""
    return "-".join(key(random, length, HEX) for length in (8, 4, 4, 4, 12))


PLANTED: Mapping[str, tuple[Callable[[Random], str], ...]] = {
    "processor-live-key": (
        lambda random: "sk_" + f"live_{key(random, 24)}",
        lambda random: "rk_" + f"live_{key(random, 99)}",
        lambda random: "PROCESSOR=%22sk_" + f"org_live_{key(random, 60)}%22",
        lambda random: '{"env": "A=1\\nrk_' + f'live_{key(random, 24)}"}}',
    ),
    "processor-test-key": (
        lambda random: "sk_" + f"test_{key(random, 24)}",
        lambda random: "rk_" + f"test_{key(random, 99)}",
    ),
    "webhook-signing-secret": (lambda random: "whsec_" + key(random, 32, BASE64),),
    "payment-session": (lambda random: "https://shop.example/thanks?id=cs_" + f"live_{key(random, 58)}",),
    "push-token": (lambda random: "tk_" + key(random, 29, digits + ascii_lowercase),),
    "push-topic": (lambda random: "https://ntfy" + f".sh/{key(random, 24, HEX)}",),
    "url-password": (
        lambda random: "smtp://shop" + f":{key(random, 12)}@mail.example:587",
        lambda random: "https://" + f":{key(random, 40)}@[2001:db8::1]/",
    ),
    "private-key": (
        lambda random: pem(random, "", "\n"),
        lambda random: pem(random, "RSA ", "\r\n"),
        lambda random: pem(random, "OPENSSH ", "\n"),
        lambda random: pem(random, "ENCRYPTED ", "\\n"),
        lambda random: pem(random, "EC ", "\n    "),
        lambda random: pem(random, "EC ", '" +\n  "'),
        lambda random: pem(random, "PGP ", "\n").replace("KEY-----\n", "KEY BLOCK-----\nVersion: 2\n\n", 1),
        lambda random: pem(random, "DSA ", "\n").replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1),
    ),
    "service-account-key": (
        lambda random: f'{{"type": "service_account", "private_key": "{pem(random, "", chr(92) + "n")}"}}',
        lambda random: f'"private_key":"{pem(random, "", chr(92) * 2 + "n")}"',
    ),
    "azure-client-secret": (
        lambda random: f"client_secret={key(random, 3)}8Q" + f"~{key(random, 34, URL_SAFE)}",
        lambda random: f"{key(random, 3)}7Q" + f"~{key(random, 31, URL_SAFE)}",
    ),
    "automation-webhook": (
        lambda random: (
            f"https://{guid(random)}.webhook.we.azure-automation" + f".net/webhooks?token={key(random, 43)}%3d"
        ),
    ),
    "shared-access-signature": (
        lambda random: "https://a.example/b?sv=2024-11-04&se=2027&sp=rl&" + f"sig={key(random, 43)}%3D",
        lambda random: "SharedAccessSignature=sv=2024-11-04;x&amp;" + f"sig={key(random, 43, BASE64)}=",
    ),
    "storage-key": (
        lambda random: "DefaultEndpointsProtocol=https;AccountName=a;Account" + f"Key={key(random, 86, BASE64)}==",
        lambda random: "SharedAccessKeyName=a;SharedAccess" + f"Key={key(random, 43, BASE64)}=",
    ),
    "json-web-token": (
        lambda random: f"ey{'J'}{key(random, 30)}.ey{'J'}{key(random, 200)}.{key(random, 43, URL_SAFE)}",
    ),
    "refresh-token": (
        lambda random: f"0.A{key(random, 40, URL_SAFE)}" + f".AgABAw{key(random, 500, URL_SAFE)}",
        lambda random: f"1.A{key(random, 60, URL_SAFE)}" + f".AQ{key(random, 900, URL_SAFE)}",
        lambda random: "M.C507_BAY" + f".0.U.{key(random, 300)}",
        lambda random: "1//" + f"0{key(random, 60, URL_SAFE)}",
    ),
    "token-cache": (
        lambda random: f'{{"credential_type": "RefreshToken", "secret": "{key(random, 60)}"}}',
        lambda random: f'{{"secret": "{key(random, 60)}",\n  "a": 1, "credential_type": "RefreshToken"}}',
    ),
    "github-token": (
        lambda random: "gh" + f"p_{key(random, 36)}",
        lambda random: "gh" + f"s_{key(random, 36)}",
        lambda random: "github_" + f"pat_{key(random, 22)}_{key(random, 59)}",
    ),
    "password-hash": (lambda random: f'admin_password_hash = "{key(random, 64, HEX)}"',),
    "crypt-hash": (
        lambda random: "owner:$2" + f"b$12${key(random, 53)}",
        lambda random: "$argon2" + f"id$v=19$m=65536,t=3,p=4${key(random, 22, BASE64)}${key(random, 43, BASE64)}",
        lambda random: "root:$6" + f"${key(random, 16)}${key(random, 86)}:19000:0",
        lambda random: "owner:$apr" + f"1${key(random, 8)}${key(random, 22)}",
    ),
    "watch-list-key": (lambda random: f"WATCH_LIST_KEY={key(random, 43, URL_SAFE)}",),
    "authorization-header": (
        lambda random: f"Authorization: Bearer {key(random, 32, BASE62)}",
        lambda random: f"headers={{'Authorization': 'Basic {key(random, 30)}=='}}",
    ),
    "generic-quoted-secret": (
        lambda random: f'client_password = "{key(random, 20)}"',
        lambda random: f"{{'apiKey': '{key(random, 32, HEX)}'}}",
        lambda random: f'"ping-token" : "{key(random, 64, HEX)}",',
        lambda random: f"encryption_key := b`{key(random, 32, BASE64)}`",
    ),
    "generic-bare-secret": (
        lambda random: f"IMAP_PASSWORD={key(random, 10)}7{key(random, 12)}",
        lambda random: f"  export SERVICE_TOKEN={key(random, 20, HEX)}0{key(random, 43, HEX)}",
        lambda random: f"ping_token: {key(random, 10, ascii_uppercase)}3{key(random, 16)}",
    ),
}
"""Each by its rule; what a rule finds by the name of a file is not here."""

"""Our own rules: each finds its keys, whatever stands around them, and none finds what is no secret."""

import re
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.app.settings.variables import secret_names
from orrery.scanner.detectors.secrets import SecretDetector
from orrery.scanner.rules import secret_rules, shipped
from tests.scanner.planted_secrets import BASE62, BASE64, HEX, PLANTED, key
from tests.support.package_copy import ROOT
from tests.support.tables import each_case

RULES = shipped()
DETECTOR = SecretDetector(RULES)
BY_NAME = {"secret-file", "store-file", "key-file"}
"""The rules that find something by the name of a file."""

CASES = [
    pytest.param(rule, plant, id=f"{rule} {number}")
    for rule, plants in PLANTED.items()
    for number, plant in enumerate(plants)
]

UNMISTAKABLE = {"private-key", "service-account-key", "automation-webhook", "json-web-token", "token-cache"}
"""The rules whose form alone says that it is a secret."""

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=40), max_size=5)

RANDOM = Random(18)  # noqa: S311  keys of nothing


def rules_found(text: str, place: str = "a.txt") -> set[str]:
    """Return the rules that find something in a text."""
    return {one.rule for one in DETECTOR.matches(text.encode(), place)}


def test_each_rule_has_a_key() -> None:
    """A rule that finds something in a text is tried below."""
    assert {rule.id for rule in RULES.rules} == PLANTED.keys() | BY_NAME


@pytest.mark.parametrize(("rule", "plant"), CASES)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), before=LINES, after=LINES)
def test_a_planted_key(
    rule: str, plant: Callable[[Random], str], seed: int, before: list[str], after: list[str]
) -> None:
    """It is found in any surroundings."""
    planted = plant(Random(seed))  # noqa: S311  keys of nothing
    start = len("\n".join((*before, "")).encode())
    text = "\n".join((*before, planted, *after)).encode()
    found = [one for one in DETECTOR.matches(text, "a.txt") if one.rule == rule]
    assert [one for one in found if start <= one.start < one.end and one.value.encode() in text[start:]]


@each_case(
    "text",
    [
        "pk_" + "live_" + key(RANDOM, 24),
        "risk_" + "test_" + key(RANDOM, 24),
        "sk_" + "live_" + "x" * 24,
        "sk_" + "test_of_nobody_and_nothing",
        "cs_" + "test_" + key(RANDOM, 58),
        "put the signing secret (whsec_…) there",
        "https://ntfy.sh/app and https://ntfy.sh/publish-as-json",
        "https://ntfy.sh/000000000000000000000000",
        "1//0" + "7" * 60,
        "smtp://shop:password@mail.example",
        "smtp://shop:$MAIL_PASSWORD@mail.example",
        "smtp://shop:{password}@mail.example",
        "https://shop.example:8080/a@b",
        "ssh://git@code.example:22/a.git",
        "-----BEGIN PUBLIC KEY-----\n" + key(RANDOM, 64, BASE64),
        "-----BEGIN CERTIFICATE-----\n" + key(RANDOM, 64, BASE64),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN SSH SIGNATURE-----\n" + key(RANDOM, 64, BASE64),
        "Authorization: Bearer <token>",
        "Authorization: Bearer your-access-token-goes-here",
        "ey" + "J" + key(RANDOM, 400),
        "https://a.example/b?sv=2024-11-04&se=2027&sp=rl&sig=…",
        f"django==5 --hash=sha256:{key(RANDOM, 64, HEX)}",
        f"commit {key(RANDOM, 40, HEX)}",
        f'integrity="sha384-{key(RANDOM, 64, BASE64)}"',
        f"data:image/png;base64,{key(RANDOM, 60, BASE64)}=",
        f"token_uri = 'https://{key(RANDOM, 30)}.test'",
        'password = "$MAIL_PASSWORD_OF_2026"',
        'token = "of-{name}-in-2026-and-later"',
        "private_key: x25519.X25519PrivateKey",
        "ssl_private_key = /etc/ssl/private/shop-2026-of-all-my-websites.key",
        f"PASSWORD=made-up-{key(RANDOM, 24)}",
        'password = "correct-horse-battery-staple-is-made-of-words"',
        'token = os.environ["SERVICE_TOKEN_OF_2026"]',
        'api_key: "{{ secrets.PROCESSOR_API_KEY_2 }}"',
        'password_file = "/etc/orrery/secrets/mail_password2"',
        'secret = "made-up: 0123456789abcdefghij"',
        "PASSWORD=${PASSWORD_OF_2026}",
        "SERVICE_TOKEN=$(openssl rand -hex 32)",
        "secret_name = names.of(SECRETS_2026)",
        "    token_of_a_pool: pool.tokens[0].first_of_all",
        f'session = "{key(RANDOM, 40)}"',
        f"tokens = {key(RANDOM, 11)}",
        BASE62,
    ],
)
def test_what_is_no_secret(text: str) -> None:
    """It looks like one, and is none."""
    assert rules_found(f"before\n{text}\nafter\n") == set()


@each_case(("rule", "plant"), [one.values for one in CASES if one.values[0] not in UNMISTAKABLE])
def test_a_placeholder(rule: str, plant: Callable[[Random], str]) -> None:
    """A text of the form of a key, in which one letter is repeated, is none."""
    text = re.sub(r"(?=[A-Za-z+/_-]*[0-9])[A-Za-z0-9+/_-]{8,}", lambda found: _repeated(found[0]), plant(RANDOM))
    assert rule not in rules_found(text)


def _repeated(letters: str) -> str:
    begun = re.match(r"(?:[a-zA-Z]+[_-])*", letters)
    return (begun[0] if begun else "").ljust(len(letters), "7")


@each_case("name", [*secret_names(), "watch_list_key"])
def test_a_secret_file(name: str) -> None:
    """A file of the folder of secrets is found by its name, in an archive, and as a service manager calls it."""
    places = (name, f"etc/secrets/{name}", f"a.zip!secrets/{name}", f"cockpit_{name}")
    assert [rules_found("\n any value\n", place) for place in places] == [{"secret-file"}] * 4
    assert [rules_found(text, name) for text in ("", "\n", "short")] == [set()] * 3
    assert rules_found("any value\n", f"docs/{name}.md") == set()


@each_case(
    ("name", "rules"),
    [
        (".orrery/orrery.db", {"store-file"}),
        ("a/cockpit.db-wal", {"store-file"}),
        ("home/.ssh/id_ed25519", {"key-file"}),
        ("id_ed25519.pub", set[str]()),
        ("certificates/shop.PFX", {"key-file"}),
        ("docs/pfx.md", set[str]()),
    ],
)
def test_a_file_that_is_a_secret(name: str, rules: set[str]) -> None:
    """A store and a file of keys are found by their names."""
    assert rules_found(name, name) == rules


def test_a_key_is_told_once() -> None:
    """What a rule of its own finds is not also told as a value in quotes."""
    assert rules_found('token = "gh' + f'p_{key(RANDOM, 36)}"') == {"github-token"}


def test_this_repository() -> None:
    """Nothing in it looks like a secret."""
    folders = [ROOT / name for name in ("bench", "deploy", "docs", "src", "tests", "tools")]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    found = [
        (one.rule, str(file))
        for file in [*files, *(file for file in ROOT.iterdir() if file.is_file())]
        for one in DETECTOR.matches(file.read_bytes(), str(file.relative_to(ROOT)))
    ]
    assert found == []


def test_further_rules() -> None:
    """The rules of other files are used beside our own, and what such a file allows is for its own rules."""
    file = ROOT / "tests" / "scanner" / "further_rules.toml"
    detector = SecretDetector(secret_rules(file))
    planted = f"further_{key(RANDOM, 24)} gh" + f"p_{key(RANDOM, 36)}"
    assert {one.rule for one in detector.matches(planted.encode(), "a.txt")} == {"further-key", "github-token"}
    assert {one.rule for one in detector.matches(planted.encode(), "b.allowed")} == {"github-token"}

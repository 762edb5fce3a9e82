"""`orrery setup` from nothing to a shop, with vendors that are the sandbox: by a file of answers, and typed."""

import stat
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from orrery.app.setup.deployment_files import DeploymentFiles
from orrery.app.setup.setting_up import SettingUp
from orrery.app.setup.steps import Question, Step, steps
from tests.journeys.terminal import END_OF_INPUT, INTERRUPT, terminal
from tests.support.deployment import PRICE, SIGNING_SECRET, Deployment, beside_a_sandbox
from tests.support.marked import assert_unmarked
from tests.support.program import Program, typed
from tests.support.sandbox import SESSIONS
from tests.support.soak import SOAKING

PASSWORD = "a long enough password"  # noqa: S105  a test's
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBQ0Vq8yN5wXo2mJmGq2w8l0mN0c8mWq5s0h4n3l1yXk me@here"
SITE = {"origin": "http://localhost:8", "name": "Northwind"}
PRODUCT = {
    "title": "Cloud Navigator",
    "vendor_slug": "northwind",
    "cert_code": "cloud-navigator",
    "price_id": PRICE,
}
SECRETS_WRITTEN = "processor_api_key", "webhook_signing_secret", "access_service_token", "admin_password_hash"
LEFT_OUT = "live", "heartbeat"
NO_TEXT = b"Caf\xe9".decode(errors="surrogateescape")
"""What a terminal in Latin-1 sends."""

TO = "owner@northwind.example"


@dataclass
class Shop:
    """A folder that setup fills, beside the vendors of a deployment that has nothing else."""

    vendors: Deployment
    answers: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Prepare only what leads to this machine: the vendors' addresses and free ports."""
        assert typed("init", str(self.folder), "--no-store").returncode == 0
        public, private, sandbox, smtp = self.vendors.ports
        file = self.folder / "orrery.toml"
        text = file.read_text(encoding="utf-8")
        for before, after in (
            ('"https://api.stripe.com"', f'"http://127.0.0.1:{sandbox}"'),
            ("\nport = 8080", f"\nport = {public}"),
            ("private_port = 8081", f"private_port = {private}"),
        ):
            assert before in text
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")
        self.answers = {
            "sites": [SITE],
            "checkout": {"seller": "Northwind, the team", "products": [PRODUCT]},
            "approvals": {"owner_keys": [KEY]},
            "push": {"url": f"http://127.0.0.1:{sandbox}/push", "topic": "owner"},
            "mail": {"host": "127.0.0.1", "port": smtp, "security": "none", "sender": "shop@northwind.example"},
            "secrets": {
                "processor_api_key": self.vendors.secrets["processor_api_key"],
                "webhook_signing_secret": SIGNING_SECRET,
                "admin_password_hash": PASSWORD,
            },
            "notes": {"mail_to": TO},
        }

    @property
    def folder(self) -> Path:
        return self.vendors.folder / "shop"

    @property
    def settings(self) -> tomlkit.TOMLDocument:
        return tomlkit.parse((self.folder / "orrery.toml").read_text(encoding="utf-8"))

    def exchanged(self, section: str, name: str, answer: object) -> object:
        """Put an answer in the place of another, and return that."""
        before, self.answers[section][name] = self.answers[section][name], answer
        return before

    def written(self) -> dict[Path, bytes]:
        """Return what setup wrote, but for the store."""
        kept = (file for file in self.folder.rglob("*") if file.is_file() and file.parent.name != ".orrery")
        return {file: file.read_bytes() for file in kept}

    def set_up(self) -> tuple[int, str]:
        """Type setup with the answers in a file; return the exit code and what it reports."""
        file = self.vendors.folder / "answers.toml"
        file.touch(mode=0o600)
        file.write_text(tomlkit.dumps(self.answers), encoding="utf-8")
        came = typed("setup", "--config", str(self.folder / "orrery.toml"), "--answers", str(file))
        assert_unmarked(came.stdout + came.stderr)
        return came.returncode, " ".join(came.stderr.split())

    def done(self) -> list[str]:
        return tomllib.loads((self.folder / "setup.toml").read_text(encoding="utf-8")).get("done", [])


WRONG: tuple[tuple[str, str, str, object, str], ...] = (
    (
        "key",
        "secrets",
        "processor_api_key",
        "rk_live_a_key_of_the_other_mode",
        "is a live key, but the mode is test",
    ),
    ("key", "secrets", "processor_api_key", "rk_test_a_key_that_is_unknown", "The processor"),
    ("product", "checkout", "products", [PRODUCT | {"price_id": "price_none"}], "lists no such price for sale"),
    (
        "webhook",
        "secrets",
        "webhook_signing_secret",
        "sk_test_a_key_in_a_wrong_place",
        "put the endpoint's signing",
    ),
    ("signature", "approvals", "owner_keys", ["ssh-ed25519 nonsense"], "approvals"),
    ("mail", "mail", "port", 9, "The mail server cannot be reached"),
)
"""The step, the answer, and what is wrong with it; in the order of the steps."""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """Run the vendors alone."""
    with beside_a_sandbox(Deployment(tmp_path)) as vendors:
        yield Shop(vendors)


def test_a_file_of_answers(shop: Shop) -> None:
    """A wrong answer stops at its own step; corrected, the same command goes on there, to a shop that starts."""
    # Each costs two commands: all of them in `./run soak inputs`.
    for step, section, name, wrong, sentence in WRONG if SOAKING else (WRONG[0], WRONG[3]):
        right = shop.exchanged(section, name, wrong)
        code, said = shop.set_up()
        assert (code, sentence in said, step in shop.done()) == (1, True, False), said
        shop.exchanged(section, name, right)
    code, said = shop.set_up()
    assert (code, "Left: the service does not run." in said) == (1, True), said
    assert shop.settings["sites"] == [SITE]
    assert "# Where answers go" in tomlkit.dumps(shop.settings)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (shop.folder / "secrets").iterdir()}
    assert modes == dict.fromkeys(SECRETS_WRITTEN, 0o600)
    assert PASSWORD not in (shop.folder / "secrets/admin_password_hash").read_text(encoding="utf-8")
    before = shop.written()
    service = Program(("serve", "--config", str(shop.folder / "orrery.toml")), shop.vendors.folder / "serve.log")
    try:
        shop.vendors.await_answer(service, shop.vendors.public)
        code, said = shop.set_up()
    finally:
        service.clear_away()
    assert (code, "ALL GREEN" in said) == (0, True), said
    assert "Left out: The count of visitors, A watch from outside." in said, said
    assert said.count("done before") == len(shop.done()) == len(steps()) - len(LEFT_OUT), said
    assert shop.written() == before
    assert len(shop.vendors.sandbox.mail_to(TO)) == 1


def test_at_a_terminal(shop: Shop) -> None:
    """A pasted key is not shown; what is pasted beyond a line answers nothing; Ctrl-C ends it."""
    before = [step.name for step in steps()][:4]
    (shop.folder / "setup.toml").write_text(tomlkit.dumps({"done": before}), encoding="utf-8")
    untouched = shop.written()
    pasted = '{\n "type": "service_account",\n\n "private_key": "not to be shown"\n}'
    with terminal("setup", "--config", str(shop.folder / "orrery.toml")) as shown:
        for asked, answer in (
            ("y/N. ", NO_TEXT),
            ("not text in UTF-8(?s:.)*y/N. ", "y"),
            ("property_id: ", "G-12"),
            ("property_id: it has digits only(?s:.)*stops here: ", ""),
            ("property_id: ", '"12"\nbeyond the line'),
            ("account_key: ", NO_TEXT),
            ("not text in UTF-8(?s:.)*account_key: ", f"\n\n{pasted}\n\n{pasted}"),
            ("stops here: ", ""),
            ("property_id: ", "12"),
            ("account_key: ", INTERRUPT),  # `input` may miss one at its beginning
        ):
            shown.wait_for(asked)
            shown.type(answer)
        shown.wait_for("Ended. Type the same command again")
        assert shown.end() == 1
        assert "not to be shown" not in shown.shown
        assert "account_key is missing" not in shown.shown
    assert shop.written() == untouched


def test_what_is_refused_is_neither_written_nor_offered(shop: Shop) -> None:
    """A private key that is pasted in the place of its public half does not stay in the settings.

    The output goes to a file, and the questions to the terminal.
    """
    others = [step.name for step in steps() if step.name != "signature"]
    (shop.folder / "setup.toml").write_text(tomlkit.dumps({"done": others}), encoding="utf-8")
    before, setup = shop.written(), ("setup", "--config", str(shop.folder / "orrery.toml"))
    output = shop.vendors.folder / "output"
    with output.open("w") as file, terminal(*setup, output=file.fileno()) as shown:
        shown.wait_for("owner_keys.*: ")
        shown.type("-----BEGIN OPENSSH PRIVATE KEY-----")
        shown.wait_for("stops here: ")
        shown.type("")
        shown.wait_for(r"owner_keys\[\]: ")
        shown.type("")
        shown.wait_for("is missing(?s:.)*stops here: ")
        shown.type("s")
        assert shown.end() == 1
    assert (shop.written(), output.read_text(encoding="utf-8")) == (before, "")


@dataclass
class Interrupted:
    """A person who types Ctrl-C at one question."""

    at: str

    def wants(self, step: Step, *, default: bool) -> bool:
        del step, default
        return True

    def answer(self, question: Question, default: str, choices: Sequence[str]) -> str:
        del choices
        if question.key == self.at:
            raise KeyboardInterrupt
        return default or "1"

    def given(self, question: Question) -> str:
        del question
        return ""

    def again(self, step: Step) -> bool:
        del step
        return False


def test_an_interrupt_at_any_question(shop: Shop) -> None:
    """What was answered and not tried is not kept: the next run asks that step as if for the first time."""
    files = DeploymentFiles(shop.folder / "orrery.toml")
    files.write(
        next(one for step in steps() for one in step.questions if one.secret),
        shop.answers["secrets"]["processor_api_key"],
    )
    assert typed("store", "create", "--config", str(files.settings_file)).returncode == 0
    for number, step in enumerate(steps()):
        files.remember({"done": [one.name for one in steps()[:number]]})
        before = shop.written()
        for question in step.questions:
            if question.what:
                answers = Interrupted(question.key)
                with pytest.raises(KeyboardInterrupt):
                    _ = SettingUp(files, answers, live=False).run()
                assert shop.written() == before, question.key


def test_what_was_left_out_is_asked_for_again(tmp_path: Path) -> None:
    """Enter keeps what is: a part that is configured is not left out by it, and one that is not stays out."""
    files = DeploymentFiles(tmp_path / "orrery.toml")
    _ = files.prepare()
    files.write(next(one for step in steps() for one in step.questions if one.key == "mail.host"), "smtp.example")
    done = [step.name for step in steps() if step.name not in {"push", "mail"}]
    files.remember({"done": done, "not_wanted": ["push"]})
    with terminal("setup", "--config", str(files.settings_file)) as shown:
        for asked, answer in (
            (r"Pushes to you: left out before.(?s:.)*\[y/N\] ", ""),
            (r"left out; the same command asks again(?s:.)*\[Y/n\] ", ""),
            (r"mail.host \[smtp.example\]: ", END_OF_INPUT),
        ):
            shown.wait_for(asked)
            shown.type(answer)
        assert shown.end() == 1
    assert files.memory()["not_wanted"] == ["push"]


def test_a_store_is_not_made_anew_over_sales(shop: Shop) -> None:
    """Where the processor lists a completed session, its store is missing, or the key is of another shop."""
    sandbox = shop.vendors.sandbox
    asked = {
        "mode": "payment",
        "line_items[0][price]": PRICE,
        "line_items[0][quantity]": "1",
        "success_url": "http://localhost:8/success",
    }
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    answer = shop.vendors.client.post(f"{sandbox.base_url}{SESSIONS}", data=asked, headers=headers)
    sold = answer.json()["id"]
    sandbox.pay(sold, TO)
    code, said = shop.set_up()
    assert (code, f"lists a completed session, {sold}" in said, shop.done()) == (1, True, ["site"]), said
    assert not [*shop.folder.rglob("*.db")]

"""Half an answer is half an answer: what is not known is named, the rest is shown, and no library's error escapes.

Each request is struck by each fault in the adapter, each part is missing once in each command; some commands are
run whole. `./run soak cloud` runs each command with each fault at each request.
"""

import gc
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from orrery.adapters.azure.clients import Deadlines
from orrery.adapters.azure.cloud import AzureCloud
from orrery.ports.cloud.errors import CloudError, CloudRefused, CloudUnreachable
from tests.conformance.cloud.half_answers import (
    COMMANDS,
    FAULTS,
    NOT_ASKED,
    PARTS,
    Commands,
    Half,
    Site,
    means_nothing,
)
from tests.support.program import typed
from tests.support.provisioning import Layer, layer_in
from tests.support.soak import SOAKING
from tests.support.tables import each_case

ARGUMENTS: dict[str, tuple[object, ...]] = {
    "alert": ("health",),
    "jobs": (5,),
    "events": (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
}
REFUSED = CloudRefused("It is not allowed.", "Type that.", status=403)
UNREADABLE = CloudUnreachable("It cannot be read.", "Try again.")
STATES = {"not allowed": REFUSED, "unreadable": UNREADABLE}


@pytest.fixture(scope="module")
def module_layer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layer]:
    """A layer that is made, one of whose jobs has failed."""
    with layer_in(tmp_path_factory.mktemp("half"), Deadlines(retries=0), factor=100) as layer:
        assert layer.provisioning.make().succeeded
        layer.box.pull("shutdown")
        layer.box.advance(3600)
        layer.box.fault("cloud_403", "job GET instanceView")
        layer.cloud.call_webhook(layer.uri_file.read_text().strip(), "{}")
        layer.box.advance(600)
        yield layer


@pytest.fixture
def layer(module_layer: Layer) -> Iterator[Layer]:
    """The same without a fault."""
    module_layer.box.clear_faults()
    yield module_layer
    module_layer.box.clear_faults()


@pytest.fixture(scope="module")
def kept() -> dict[Any, Any]:
    """What the cloud answered to whom it answers, and what each command shows then."""
    return {}


def asked(cloud: AzureCloud, subject: str, ids: dict[str, str]) -> object:
    """Make one request; `ids` are those that some methods need."""
    method = PARTS[subject][0]
    given = (ids.get(method, "an-id"),) if method in {"job", "grants"} else ARGUMENTS.get(method, ())
    return getattr(cloud, method)(*given)


def test_each_request_of_the_commands_is_looked_at(layer: Layer) -> None:
    """What they ask, as the sandbox saw it, is what the other tests break."""
    made = set[str]()
    for command in COMMANDS:
        layer.box.advance(60)
        now = layer.box.clock.now().timestamp()
        with closing(another(layer)) as cloud:
            code, _ = Commands(layer, cloud).run(command)
        assert code == (1 if command == "doctor" else 0)  # the job that has failed
        made |= {one["what"] for one in layer.box.known()["requests"] if one["at"] >= now}
    assert made == set(PARTS)


def another(layer: Layer, deadlines: Deadlines | None = None) -> AzureCloud:
    """Return another connection to the cloud, which has not signed in yet and repeats nothing."""
    return AzureCloud(layer.names, layer.box.config.url, layer.trust, deadlines or Deadlines(retries=0))


@pytest.mark.parametrize(("fault", "value"), FAULTS, ids=lambda one: "" if one is None else str(one))
def test_each_request_that_is_answered_by_half_is_one_sentence(
    layer: Layer, fault: str, value: float | None
) -> None:
    """Not allowed names the right and the command that gives it; the rest is unreadable."""
    identity, (job,) = layer.cloud.identity(), layer.cloud.jobs(1)
    ids = {"job": job.id, "grants": identity.principal_id if identity else ""}
    hasty = Deadlines(read=0.2, retries=0) if fault == "cloud_hang" else None
    # A token is kept, and so is an error of the server that gives it.
    with closing(another(layer, hasty)) as cloud, closing(another(layer, hasty)) as unsigned:
        for subject in PARTS:
            if not means_nothing(subject, fault):
                layer.box.fault(fault, subject, count=None, value=value)
                with pytest.raises(CloudError) as raised:
                    asked(unsigned if subject == "GET token" else cloud, subject, ids)
                layer.box.clear_faults()
                expect_in_words(raised.value, subject, fault)


def expect_in_words(error: CloudError, subject: str, fault: str) -> None:
    assert "https://" not in str(error)
    if (subject, fault) == ("GET token", "cloud_html_200"):
        assert str(error).startswith("The cloud gave no token. ")  # a proxy's page is no refusal
    if subject == "GET token" or fault == "cloud_hang":
        return  # on a busy machine the sign-in takes too long, too
    assert isinstance(error, CloudRefused) == (fault == "cloud_403"), (subject, error)
    if fault == "cloud_403":
        assert "/read on /subscriptions/" in error.why
        assert (
            "az role assignment create --assignee 00000000-0000-4000-8000-0000000000ab --role Reader" in error.todo
        )


# Python itself leaves the socket of a connection that is reset before the handshake to the garbage collector:
# `SSLSocket._create` raises for it ahead of the `try` that would close it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_connection_that_is_reset_is_one_sentence(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked of a cloud that hangs up at once."""
    monkeypatch.setenv("PATH", "/nowhere")  # no `az` of this machine
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=reset_all, args=(server,), daemon=True).start()
        expect_unreachable(layer, f"https://localhost:{server.getsockname()[1]}")
    gc.collect()  # with nothing left that holds a connection: what is collected later fails the run


def expect_unreachable(layer: Layer, url: str) -> None:
    with closing(AzureCloud(layer.names, url, layer.trust, Deadlines(retries=0))) as cloud:
        for subject in PARTS.keys() - {"GET token", "GET content"}:
            with pytest.raises(CloudUnreachable):
                asked(cloud, subject, {})


def reset_all(server: socket.socket) -> None:
    """Take each connection, and end it by a reset."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


@each_case("state", STATES)
@each_case("subject", PARTS)
def test_each_command_shows_the_rest(layer: Layer, kept: dict[Any, Any], subject: str, state: str) -> None:
    """Exit 1, the parts that are not known by name, and every other one as it is when all is known.

    Without a sign-in `doctor` reports that once.
    """
    method, parts = PARTS[subject]
    for command in COMMANDS:
        if command not in kept:
            kept[command] = Commands(layer, Half(layer.cloud, kept)).run(command)[1]
        site = Site()
        code, shown = Commands(layer, Half(layer.cloud, kept, method, STATES[state]), site).run(command)
        missing = parts - NOT_ASKED.get(command, frozenset())
        assert code == (1 if missing or command == "doctor" else 0)
        named = {"cloud"} if (command, method) == ("doctor", "sign_in") else missing | derived(command, method)
        assert not_known(command, shown, state) == named
        assert site.taken == ([shown] if command == "report" else [])
        if subject != "GET token":
            before, after = values(command, kept[command]), values(command, shown)
            assert {name for name in before if before[name] != after.get(name)} == LOST[command].get(method, set())


_WHILE = "It cannot be judged while"


def not_known(command: str, shown: Any, state: str) -> set[str]:  # noqa: ANN401  JSON of any shape
    """Return the parts that are reported as unknown for this reason."""
    if command == "doctor":
        return {one["part"] for one in shown if one["why"] == STATES[state].why or _WHILE in one["why"]}
    unknown = (shown["report"] if command == "report" else shown)["unknown"]
    assert {one["state"] for one in unknown} <= {state}
    return {one["part"] for one in unknown}


def derived(command: str, method: str) -> set[str]:
    """Return the findings about parts that are known, and that cannot be judged without another one."""
    return {"identity": {"account", "runbook"}, "webhooks": {"action group"}}.get(method, set()) & (
        {"account", "runbook", "action group"} if command == "doctor" else set()
    )


def values(command: str, shown: Any) -> dict[str, object]:  # noqa: ANN401  JSON of any shape
    """Return all that a command shows, by name."""
    if command == "plan":
        return {one["kind"]: one for one in shown["changes"]}
    if command == "doctor":
        return {one["part"]: one for one in shown}
    found = shown["report"] if command == "report" else shown
    return {name: value for name, value in found.items() if name != "unknown"}


LOST: dict[str, dict[str, set[str]]] = {
    "plan": {
        "identity": {"identity", "account", "role", "runbook"},
        "grants": {"role"},
        "account": {"account"},
        "runbook": {"runbook"},
        "webhooks": {"webhook", "action-group"},
        "action_group": {"action-group"},
        "alert": {"health", "deallocate"},
    },
    "status": {
        "machine": {"power"},
        "health": {"health"},
        "alert": {"health_alert", "deallocate_alert"},
        "webhooks": {"webhook_expires_at"},
        "jobs": {"webhook_calls", "jobs"},
        "job": {"jobs"},
        "minutes_used": {"job_minutes"},
    },
    "doctor": {
        "machine": {"machine"},
        "health": {"machine"},
        "identity": {"identity", "account", "role", "runbook"},
        "grants": {"role"},
        "account": {"account"},
        "runbook": {"runbook"},
        "webhooks": {"webhook", "action group"},
        "action_group": {"action group"},
        "alert": {"health alert", "deallocate alert"},
        "jobs": {"jobs"},
        "job": {"jobs"},
        "minutes_used": {"job-minutes"},
    },
    "report": {
        "machine": {"power"},
        "health": {"health"},
        "alert": {"alerts"},
        "webhooks": {"webhook_expires_at"},
        "jobs": {"jobs", "last_outage"},
        "events": {"last_outage"},
    },
}
"""What a command shows in another way when a method of the port raises."""

WHOLE = [
    ("plan", "GET roles", "cloud_html_200", None),
    ("status", "GET group", "cloud_403", None),
    ("doctor", "GET webhooks", "cloud_empty", None),
    ("timeline", "GET jobs", "cloud_cut", None),
]
ALL = [
    (command, subject, fault, value)
    for command in ("plan", "status", "doctor")
    for subject, (_, parts) in PARTS.items()
    for fault, value in FAULTS
    if fault != "cloud_hang"  # a minute each
    if parts - NOT_ASKED.get(command, frozenset()) and not means_nothing(subject, fault)
]


@pytest.mark.parametrize(("command", "subject", "fault", "value"), ALL if SOAKING else WHOLE)
def test_a_command_as_it_is_typed(
    layer: Layer, command: str, subject: str, fault: str, value: float | None
) -> None:
    """No trace, exit 1, and the reason on the screen."""
    layer.box.fault(fault, subject, count=None, value=value)
    words = [command] if command == "timeline" else ["cloud", command]
    done = typed("gateway", *words, "--config", str(layer.config))
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 1
    assert "cloud" in done.stdout + done.stderr

"""The site of `deploy/edge/` as an owner puts it in place: Debian's nginx takes it, and it gives nothing away."""

import socket
import ssl
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.nginx.edge import HOST, SITE_READ, Edge
from tests.nginx.origin import Origin
from tests.support.nginx import NAME, SITE, Ports, adapted, command, running, write
from tests.support.waiting import IN_CLEAR, PATIENCE, eventually


@pytest.fixture
def ports(origin: Origin) -> Ports:
    """Return free ports before the origin."""
    return Ports.free(origin.port)


@pytest.fixture
def main(tmp_path: Path, ports: Ports) -> Path:
    """Write the site, adapted, with a certificate of its own."""
    _write_certificate(tmp_path)
    return write(tmp_path, adapted(tmp_path, ports))


@pytest.fixture
def visitor(tmp_path: Path, main: Path, ports: Ports) -> Iterator[httpx2.Client]:
    """Run the site with TLS; return a client that trusts its certificate, and sends no one elsewhere."""
    trusted = ssl.create_default_context(cafile=str(tmp_path / "fullchain.pem"))
    with (
        running(main, ports.site),
        httpx2.Client(
            base_url=f"https://127.0.0.1:{ports.site}",
            headers=HOST,
            trust_env=False,
            timeout=PATIENCE,
            verify=trusted,
            event_hooks={"request": [_named]},
        ) as client,
    ):
        yield client


def _named(request: httpx2.Request) -> None:
    request.extensions["sni_hostname"] = NAME


@pytest.fixture
def talkative(edge_with: Callable[[Mapping[str, str]], Edge]) -> Edge:
    """Run an edge that writes its log at once."""
    return edge_with({" buffer=32k flush=5s;": ";"})


def test_nginx_takes_the_site(main: Path) -> None:
    """nginx has nothing to say against the site, not even a warning."""
    result = subprocess.run(command(main, "-t"), capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603  our own command
    lines = result.stderr.strip().splitlines()
    assert (result.returncode, len(lines)) == (0, 2), lines
    assert lines[1].endswith("test is successful")


def test_what_to_adapt_is_all_there_is() -> None:
    """The private listener has no place in the site, and no directive lets a count live for ever."""
    directives = [
        line.split()[0] for line in SITE.read_text().splitlines() if line.split() and "#" not in line[:20]
    ]
    assert "8081" not in "".join(line for line in SITE.read_text().splitlines(keepends=True) if "#" not in line)
    assert "proxy_cache_valid" not in directives
    assert "proxy_cache_revalidate" not in directives


def test_a_read_with_tls(visitor: httpx2.Client) -> None:
    """Over TLS the count is kept like without."""
    assert [visitor.get(SITE_READ).json() for _ in range(2)] == [{"active": 1}] * 2


def test_without_tls_to_tls(visitor: httpx2.Client, ports: Ports) -> None:
    """A visitor without TLS is sent to the site with TLS."""
    address = f"http://127.0.0.1:{ports.redirect}/practice?a=1"
    answer = httpx2.get(address, headers=HOST, trust_env=False, timeout=PATIENCE, verify=IN_CLEAR)
    assert (answer.status_code, answer.headers["location"]) == (301, f"https://{NAME}/practice?a=1")
    assert visitor.get(SITE_READ).is_success


def test_another_name_gets_nothing(visitor: httpx2.Client, ports: Ports, origin: Origin) -> None:
    """Who asks for another name is cut off, without TLS and with it, and the origin hears nothing."""
    in_clear = httpx2.Client(trust_env=False, timeout=PATIENCE, verify=IN_CLEAR)
    for host in ("evil.example", "127.0.0.1", "shop.example.evil.example", "www.shop.example"):
        for client, address in ((in_clear, f"http://127.0.0.1:{ports.redirect}/"), (visitor, "/")):
            with pytest.raises(httpx2.RemoteProtocolError):
                client.get(address, headers={"Host": host})
        with (
            pytest.raises(ssl.SSLError),
            socket.create_connection(("127.0.0.1", ports.site), PATIENCE) as connection,
        ):
            _trusting().wrap_socket(connection, server_hostname=host)
    assert origin.asked == []


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def test_browsers_are_told_to_come_with_tls(visitor: httpx2.Client) -> None:
    """Each answer says it, once: what is kept, what is passed on, and what the edge refuses by itself."""
    for address in (SITE_READ, "/readyz", "/guided/api/access/cs_test_1", "/" + "a" * 9000):
        answer = visitor.get(address)
        assert answer.headers.get_list("strict-transport-security") == ["max-age=31536000"], address


RATES = {"sessions": "5r/s", "checks": "50r/s"}


def asked_by(edge: Edge, addresses: Iterable[str], path: str) -> list[int]:
    """Return the statuses of one request from each address, by the word of a proxy in front."""
    return [edge.read(path, **{"X-Real-IP": address}).status_code for address in addresses]


@pytest.mark.parametrize(
    ("path", "burst"), [("/guided/api/access/cs_test_1", 60), ("/guided/api/access/check", 200)]
)
def test_one_network_asks_so_often_for_access(
    edge_with: Callable[[Mapping[str, str]], Edge], path: str, burst: int
) -> None:
    """Thousands of addresses of one IPv6 /64 are one client, another /64 and each IPv4 address another."""
    slow = {
        f"zone=orrery_{zone}:1m rate={rate}": f"zone=orrery_{zone}:1m rate=1r/m" for zone, rate in RATES.items()
    }
    buffers = "    client_body_buffer_size"
    edge = edge_with(slow | {buffers: f"    set_real_ip_from 127.0.0.1;\n{buffers}"})
    statuses = asked_by(edge, (f"2001:db8:0:1:{number:x}::1" for number in range(burst + 20)), path)
    assert statuses[:burst] == [200] * burst
    assert 429 in statuses
    others = ["2001:db8:0:2::1", "203.0.113.7", "203.0.113.8"]
    assert asked_by(edge, others, path) == [200] * len(others)


def test_the_address_of_the_visitor(edge: Edge, origin: Origin) -> None:
    """The origin is told the address that the edge sees, and not what a stranger claims."""
    edge.read("/guided/api/access/cs_test_1", **{"X-Forwarded-For": "203.0.113.9, 127.0.0.1"})
    assert origin.asked[0].headers["x-forwarded-for"] == "127.0.0.1"


def test_everything_else_is_passed_on_as_it_is(edge: Edge, origin: Origin) -> None:
    """Method, path, query, headers and body of what is not kept arrive unchanged."""
    headers = {"Stripe-Signature": "t=1,v1=00", "Cookie": "a=1", "Host": "shop.example"}
    edge.client.request("POST", "/guided/api/webhook?a=%2F", headers=headers, content=b'{"id": 1}')
    (asked,) = origin.asked
    assert (asked.method, asked.path, asked.query) == ("POST", "/guided/api/webhook", "a=%2F")
    assert asked.body == b'{"id": 1}'
    assert {name: asked.headers[name.lower()] for name in headers} == headers


def test_the_door_behind_the_reads(edge: Edge, origin: Origin) -> None:
    """The address by which the site finds its own reads is not there for visitors."""
    assert edge.read("/orrery-public-read").status_code == 404
    assert origin.asked == []


def test_the_log_holds_operations(talkative: Edge) -> None:
    """The log says what was asked and how it went: no address, no query, no session, no unknown path."""
    asked = [
        "/guided/api/access/cs_test_marked",
        "/api/stats?refresh=marked",
        "/marked/marked@example.org",
        "/live/pill.js",
    ]
    for address in asked:
        talkative.client.post(address, headers={"Authorization": "Bearer marked"})
    lines = eventually(lambda: _expect_lines(talkative, len(asked)))
    assert [line.split()[1:4] for line in lines] == [
        ["POST", "/guided/api/access/*", "200"],
        ["POST", "/api/stats", "200"],
        ["POST", "-", "200"],
        ["POST", "/live/*", "200"],
    ]
    assert not any(word in talkative.log() + talkative.said() for word in ("marked", "127.0.0.1", "?"))


def test_an_outage_is_logged_without_visitors(talkative: Edge, origin: Origin) -> None:
    """Trouble with the origin writes no visitor's address and no query either."""
    origin.stop()
    assert talkative.read("/guided/api/access/cs_test_marked?token=marked").status_code == 502
    assert talkative.read().status_code == 502
    eventually(lambda: _expect_lines(talkative, 1))
    assert not any(word in talkative.log() + talkative.said() for word in ("marked", "127.0.0.1", "realtime"))


def test_no_trouble_is_logged_with_its_request(
    edge_with: Callable[[Mapping[str, str]], Edge], origin: Origin
) -> None:
    """What nginx finds worse than an outage is logged without the session and the visitor's address too."""
    gone = {f"server 127.0.0.1:{origin.port} fail_timeout=4s;": "server unix:/nowhere/orrery;"}
    edge = edge_with(gone | {" buffer=32k flush=5s;": ";"})
    assert edge.read("/guided/api/access/cs_test_marked?token=marked").status_code == 502
    eventually(lambda: _expect_lines(edge, 1))
    assert not any(word in edge.log() + edge.said() for word in ("marked", "127.0.0.1"))


def _expect_lines(edge: Edge, count: int) -> list[str]:
    lines = edge.log().splitlines()
    assert len(lines) == count
    return lines


def _write_certificate(folder: Path) -> None:
    """Write a certificate of the site's name, and its key, under Let's Encrypt's names."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)  # noqa: TID251  the client compares with the machine's clock
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "privkey.pem").write_bytes(private)

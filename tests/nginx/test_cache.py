"""The edge keeps the public reads as long as the origin says (decision 27), and nothing else."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from tests.nginx.edge import COSMOS_READ, SITE_READ, Edge
from tests.nginx.origin import Origin
from tests.support.waiting import eventually

BEARER = "Bearer orrery-test-password"


def test_a_thousand_readers_at_once(edge: Edge, origin: Origin) -> None:
    """A thousand reads of an empty cache, many of them at once, cost the origin one."""
    with ThreadPoolExecutor(16) as readers:
        shown = set(readers.map(edge.active, [SITE_READ] * 1000))
    assert (shown, len(origin.asked)) == ({1}, 1)


def test_each_read_is_kept_on_its_own(edge: Edge, origin: Origin) -> None:
    """The site's and the family's reads are two entries."""
    shown = [edge.active(address) for address in (SITE_READ, COSMOS_READ) * 2]
    assert shown == [1, 2, 1, 2]
    assert [asked.query for asked in origin.asked] == ["realtime=1", "realtime=cosmos"]


def test_a_new_count_follows(edge: Edge, origin: Origin) -> None:
    """When `s-maxage` is over, the origin is asked anew and its newer answer is kept."""
    origin.cache_control = "public, max-age=0, s-maxage=1"
    assert edge.active() == 1
    origin.cache_control = "public, max-age=0, s-maxage=60"
    eventually(lambda: _expect(edge.active(), 2))
    assert [edge.active() for _ in range(20)] == [2] * 20


def test_nothing_is_kept_unasked(edge: Edge, origin: Origin) -> None:
    """An answer without `s-maxage` is not kept: the edge has no time of its own."""
    origin.cache_control = "public, max-age=0"
    assert [edge.active() for _ in range(3)] == [1, 2, 3]


def test_the_old_count_is_served_at_once_while_a_new_one_is_fetched(
    edge_with: Callable[[Mapping[str, str]], Edge], origin: Origin
) -> None:
    """Within `stale-while-revalidate` nobody waits for the origin, and it is asked once."""
    edge = edge_with({"proxy_read_timeout 3s;": "proxy_read_timeout 60s;"})
    origin.cache_control = "public, max-age=0, s-maxage=1, stale-while-revalidate=600"
    assert edge.active() == 1
    origin.open.clear()
    eventually(lambda: _expect(edge.active_alone() and len(origin.asked), 2))
    assert {edge.active_alone() for _ in range(9)} == {1}
    assert len(origin.asked) == 2
    origin.open.set()
    eventually(lambda: _expect(edge.active(), 2))


def test_a_head_request(edge: Edge, origin: Origin) -> None:
    """HEAD is answered from the same entry, with the length and no body, whichever came first."""
    head = edge.client.head(SITE_READ)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "12")
    assert edge.read().json() == {"active": 1}
    assert [asked.method for asked in origin.asked] == ["GET"]


def test_what_the_reader_has_already(edge: Edge, origin: Origin) -> None:
    """If-None-Match with the kept answer's validator gets 304 and its headers, from the edge itself."""
    edge.active()
    for known in ('W/"1-fresh"', '"1-fresh"', '"other", W/"1-fresh"', "*"):
        answer = edge.read(**{"If-None-Match": known})
        assert (answer.status_code, answer.content, len(origin.asked)) == (304, b"", 1), known
        assert answer.headers["etag"] == 'W/"1-fresh"'
        assert answer.headers["access-control-allow-origin"] == "*"


def test_what_the_reader_does_not_have(edge: Edge) -> None:
    """If-None-Match with another validator gets the answer, also when it is the one that fills the cache."""
    assert edge.read(**{"If-None-Match": 'W/"1-fresh"'}).status_code == 304
    assert edge.read(**{"If-None-Match": 'W/"0-fresh"'}).json() == {"active": 1}


def test_any_site_may_read(edge: Edge) -> None:
    """The origin's CORS header passes, on a kept answer too."""
    allowed = {edge.read(Origin="https://other.example").headers["access-control-allow-origin"] for _ in range(2)}
    assert allowed == {"*"}


def test_no_cache_behind_this_one(edge: Edge) -> None:
    """What the origin allows a shared cache is used up here: the answer allows no further one to keep it."""
    for status in ("MISS", "HIT"):
        headers = edge.read().headers
        assert headers["x-cache-status"] == status
        assert headers.get_list("cache-control") == ["public, max-age=0, must-revalidate"]


NOISE = [
    "/api/stats?realtime=1&x=2",
    "/api/stats?realtime=1&",
    "/api/stats?x=2&realtime=1",
    "/api/stats?realtime=cosmos&intel=1",
    "/api/stats?realtime=2",
    "/api/stats?REALTIME=1",
    "/API/stats?realtime=1",
    "/api/stats/?realtime=1",
    "/api//stats?realtime=1",
    "/api/%73tats?realtime=1",
    "/api/stats?realtime=%31",
    "/api/stats",
    "/guided/api/admin/realtime",
    "/guided/api/access/cs_test_1?realtime=1",
]


def test_noise_is_not_kept(edge: Edge, origin: Origin) -> None:
    """Any other spelling and any other address go to the origin as they are, each time, and fill nothing."""
    for asked, address in enumerate(NOISE):
        answered = [edge.active(address) for _ in range(2)]
        assert answered == [2 * asked + 1, 2 * asked + 2], address
        assert {one.query for one in origin.asked[-2:]} == {address.partition("?")[2]}
    assert edge.active() == 2 * len(NOISE) + 1


def test_other_methods_are_not_kept(edge: Edge, origin: Origin) -> None:
    """What is no read goes to the origin each time, whatever is kept for that address."""
    edge.active()
    asked = [method for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH") for _ in range(2)]
    answers = [edge.client.request(method, SITE_READ).json()["active"] for method in asked]
    assert (answers, [one.method for one in origin.asked]) == ([*range(2, 12)], ["GET", *asked])
    assert edge.active() == 1


def test_an_authorization_is_not_kept(edge: Edge, origin: Origin) -> None:
    """A read that carries an Authorization is neither answered from the cache nor kept, and reaches the origin."""
    edge.active()
    given = [credential for credential in (BEARER, "0", "Basic eA==", ":") for _ in range(2)]
    answers = [edge.read(Authorization=credential).json()["active"] for credential in given]
    assert answers == [*range(2, 10)]
    assert [one.headers.get("authorization") for one in origin.asked] == [None, *given]
    assert edge.active() == 1


def test_an_authorization_fills_nothing(edge: Edge) -> None:
    """The answer to an authorized read is not there for the next reader."""
    assert (edge.read(Authorization=BEARER).json(), edge.active()) == ({"active": 1}, 2)


def test_a_reader_changes_nothing_for_others(edge: Edge, origin: Origin) -> None:
    """Nothing of the request that fills the cache reaches the origin: no header, no cookie, no body."""
    headers = {"Cookie": "a=1", "X-Forwarded-For": "203.0.113.9", "Range": "bytes=0-1", "Accept": "text/html"}
    answer = edge.client.request("GET", SITE_READ, headers=headers, content=b"a body")
    asked = origin.asked[0]
    assert (asked.headers, asked.body) == ({"host": "shop.example"}, b"")
    assert answer.is_success
    assert edge.active() == 1


def test_trouble_is_not_kept(edge: Edge, origin: Origin) -> None:
    """An answer that is no 200 is not kept, even if it says for how long it may be."""
    origin.status = 503
    assert [edge.read().status_code for _ in range(2)] == [502, 502]
    origin.status = 200
    assert edge.active() == 3


def _expect(found: int, wanted: int) -> None:
    assert found == wanted

"""`orrery site check`: asks the web server of a site from outside, as visitors do, and finds what leaks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from orrery.checkout.site.cookie import BrowserCookies
from orrery.checkout.site.practice import PracticePages, other_addresses
from orrery.checkout.site.proving import (
    HOSTED_PAGE,
    NOWHERE,
    OTHER,
    PILL,
    Cookie,
    Fault,
    Found,
    VisitorRequest,
    by_extension,
    by_its_extension,
    every_way,
    fault_of_hosted,
    faults_of_opened,
    first_of_each_extension,
    gate_is_wrong,
    is_leak,
    is_refused,
    is_unguarded,
    of_another_product,
    of_gate,
    of_other_address,
    of_second_path,
    plain,
    refusal_is_kept,
    shows_pill,
)
from orrery.ports.clock import Clock
from orrery.ports.web_sites import SiteAnswer, SiteNotReached, SiteRequest, WebSites

AT_ONCE = 8
"""Requests under way at a time."""

_SILENT = SiteAnswer(0)
"""No answer: a web server may cut a strange request off."""


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """Makes the requests, with probes that leave no record of access."""

    web: WebSites
    clock: Clock
    cookies: BrowserCookies = field(repr=False)

    async def run(
        self,
        pages: PracticePages,
        paths: Mapping[str, str] | None = None,
        advance: Callable[[], object] = lambda: None,
    ) -> list[Found]:
        """Return what is wrong with the practice pages of one product: their own path, and further ones.

        A path outside of them may come with that of the page whose bytes are there, too.
        Raises `SiteNotReached` when the site does not answer.
        """
        return await _Run(self, pages).found(paths or {}, advance)

    async def other_addresses(self, origin: str) -> list[str]:
        """Return the other addresses of a site where something answers."""
        addresses = other_addresses(origin)
        answers = await asyncio.gather(*(self._answers(one) for one in addresses))
        return [one for one, answer in zip(addresses, answers, strict=True) if answer]

    async def _answers(self, address: str) -> bool:
        try:
            return bool(await self.web.ask(address, SiteRequest("/")))
        except SiteNotReached:
            return False

    async def answer(self, pages: PracticePages, request: SiteRequest, cookie: Cookie = "none") -> SiteAnswer:
        """Return the answer to a request with a cookie."""
        headers = dict(request.headers)
        if cookie != "none":
            probe = self.cookies.new_probe(pages.product if cookie == "own" else OTHER, self.clock.now())
            headers["Cookie"] = f"{pages.cookie_name}={probe.decode()}"
        return await self.web.ask(pages.origin, replace(request, headers=headers))


class _Run:
    """One check of the pages of one product."""

    def __init__(self, check: SiteCheck, pages: PracticePages) -> None:
        self._check = check
        self._pages = pages
        self._few = asyncio.Semaphore(AT_ONCE)
        self._has_pill = False

    async def found(self, paths: Mapping[str, str], advance: Callable[[], object]) -> list[Found]:
        elsewhere = await self._check.answer(self._pages, NOWHERE)
        own = self._pages.path
        further = [one for one in paths if one != own]
        wanted = first_of_each_extension([own, *filter(self._pages.has, further)])

        async def of(path: str) -> list[Found]:
            if self._pages.has(path):
                found = await self._path(path, elsewhere, in_every_way=path in wanted)
            else:
                found = await self._leaks([of_second_path(path, paths[path])], _SILENT, elsewhere)
            _ = advance()
            return found

        found = [*await self._hosted(), *await self._gate(), *await of(own), *await self._refused()]
        for address in await self._check.other_addresses(self._pages.origin):
            found += await self._at(address, sorted({own, *wanted}))
        of_further = [one for each in await asyncio.gather(*map(of, further)) for one in each]
        if all(one.fault != "open" for one in found):
            of_further = [*map(by_its_extension, of_further)]
        return found + of_further + await self._pill()

    async def _ask(self, request: SiteRequest, cookie: Cookie = "none") -> SiteAnswer:
        async with self._few:
            try:
                return await self._check.answer(self._pages, request, cookie)
            except SiteNotReached:
                return _SILENT

    async def _answers(self, requests: Sequence[VisitorRequest]) -> list[tuple[VisitorRequest, SiteAnswer]]:
        answers = await asyncio.gather(*(self._ask(one.request, one.cookie) for one in requests))
        return [*zip(requests, answers, strict=True)]

    async def _path(self, path: str, elsewhere: SiteAnswer, *, in_every_way: bool) -> list[Found]:
        opened = await self._ask(SiteRequest(path), "own")
        self._has_pill |= shows_pill(self._pages, opened)
        if leak := await self._leaks([plain(path)], opened, elsewhere):
            return leak  # it is seen in every other way, too, and another part of the configuration answers
        more = every_way(path, opened) if in_every_way else []
        leaks = await self._leaks([of_another_product(path), *more], opened, elsewhere)
        faults = faults_of_opened(self._pages, path, opened)
        return leaks + [self._fault(one, path, "with the cookie of its product", opened) for one in faults]

    async def _leaks(
        self, requests: Sequence[VisitorRequest], opened: SiteAnswer, elsewhere: SiteAnswer
    ) -> list[Found]:
        answered = await self._answers(requests)
        return [self._found(one, answer) for one, answer in answered if is_leak(one, answer, opened, elsewhere)]

    async def _at(self, address: str, paths: Sequence[str]) -> list[Found]:
        """Return what leaks of these pages at another address of the site."""
        there = _Run(self._check, replace(self._pages, origin=address))
        elsewhere = await there._ask(NOWHERE)
        found = list[Found]()
        for path in paths:
            opened = await self._ask(SiteRequest(path), "own")
            found += await there._leaks([of_other_address(path, address)], opened, elsewhere)
        return found

    async def _refused(self) -> list[Found]:
        refusal = await self._ask(SiteRequest(self._pages.path))
        if not is_refused(refusal):
            return []
        kept = [self._found(plain(self._pages.path, "cache"), refusal)] if refusal_is_kept(refusal) else []
        answered = await self._answers(by_extension(self._pages))
        return kept + [self._found(one, answer) for one, answer in answered if is_unguarded(answer, refusal)]

    async def _gate(self) -> list[Found]:
        asked = of_gate(self._pages)
        answered = await self._answers([one for one, _ in asked])
        both = zip(answered, asked, strict=True)
        return [self._found(one, answer) for (one, answer), (_, right) in both if gate_is_wrong(answer, right)]

    async def _hosted(self) -> list[Found]:
        answer = await self._ask(HOSTED_PAGE)
        fault = fault_of_hosted(answer)
        return [self._fault(fault, HOSTED_PAGE.path, "without a cookie", answer)] if fault else []

    async def _pill(self) -> list[Found]:
        if not self._has_pill:
            return []
        answer = await self._ask(SiteRequest(PILL))
        return [] if answer.status == HTTPStatus.OK else [self._fault("pill", PILL, "without a cookie", answer)]

    def _found(self, one: VisitorRequest, answer: SiteAnswer) -> Found:
        return self._fault(one.fault, one.request.path, one.how, answer)

    def _fault(self, fault: Fault, path: str, how: str, answer: SiteAnswer) -> Found:
        return Found(fault, self._pages.product.name, path, how, answer.status)

"""What the approvals keep about people: the intents that name a person."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import cast

from orrery.approvals.approvals import Approvals
from orrery.approvals.intent_store import INTENT, STATE, KnownIntent
from orrery.errors import Invalid, NotFound
from orrery.ports.store import StoreEntry
from orrery.runtime.collection import unreadable
from orrery.runtime.privacy import (
    ErasureRequest,
    ErasureRound,
    KeptData,
    PersonalDataSource,
    stored_json,
)
from orrery.runtime.search_terms import SearchTerms

_RELEASE = "Sign, withdraw, settle or close it with `orrery approvals`"


def intents_source(approvals: Approvals) -> PersonalDataSource:
    """Return the intents that name a person: each is kept while something may come of it."""
    return PersonalDataSource(
        "intents",
        50,
        partial(_find_intents, approvals),
        partial(_erase_intents, approvals),
        elsewhere=partial(_elsewhere, approvals),
        prefixes=(INTENT, STATE),
    )


def _elsewhere(approvals: Approvals, found: Sequence[object]) -> Iterable[str]:
    for one in found:
        operation = cast("dict[str, object]", one).get("operation") if isinstance(one, dict) else None
        if remains := approvals.remains(str(operation)):
            yield remains


async def _find_intents(approvals: Approvals, terms: SearchTerms) -> list[object]:
    found: list[object] = [_intent_json(one) for one in await _proposals(approvals, terms)]
    return found + [stored_json(entry) for entry in await _damaged(approvals, terms)]


async def _erase_intents(approvals: Approvals, request: ErasureRequest) -> ErasureRound:
    damaged = await _damaged(approvals, request.terms)
    kept = {entry.key.partition(":")[2]: str(unreadable(entry.key)) for entry in damaged}
    found = False
    for proposal in await _proposals(approvals, request.terms):
        try:
            await approvals.erase(proposal.intent.id, request.reason)
        except NotFound:  # another process has erased it meanwhile
            continue
        except Invalid as error:
            kept[proposal.intent.id] = str(error)
        else:
            found = True
    return ErasureRound(found, [KeptData(f"intent {name}", why, _RELEASE) for name, why in kept.items()])


async def _proposals(approvals: Approvals, terms: SearchTerms) -> list[KnownIntent]:
    proposals = await approvals.proposals()
    return [one for one in proposals if terms.addressed_in(json.dumps(_intent_json(one)).encode())]


async def _damaged(approvals: Approvals, terms: SearchTerms) -> list[StoreEntry]:
    return [one for one in await approvals.unreadable() if terms.addressed_in(one.value)]


def _intent_json(proposal: KnownIntent) -> Mapping[str, object]:
    """Return the content and the progress of an intent, ready for JSON."""
    return proposal.intent.model_dump(mode="json") | {
        "progress": None if proposal.is_void else proposal.progress.model_dump(mode="json")
    }

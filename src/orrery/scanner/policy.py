"""The deployment as a scan sees it: whose data is internal, and what is watched for."""

from dataclasses import dataclass, field

from orrery.scanner.findings import WatchedKind


@dataclass(frozen=True, slots=True)
class Term:
    """One term of the watch-list, as its owner wrote it."""

    kind: WatchedKind
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Policy:
    """What is foreign. Without settings it is empty: then every tenant id is foreign, and no term is known.

    `public_tenants` may be seen by all (that of track B); `internal_tenants` are found in every text (that
    of track A). `addresses` and `domains` are corporate, in lower case.
    """

    public_tenants: frozenset[str] = frozenset()
    internal_tenants: frozenset[str] = field(default=frozenset(), repr=False)
    addresses: frozenset[str] = field(default=frozenset(), repr=False)
    domains: frozenset[str] = field(default=frozenset(), repr=False)
    terms: tuple[Term, ...] = field(default=(), repr=False)

    @property
    def is_blind(self) -> bool:
        """There is a track A, and none of its names is known: then finding nothing proves nothing about them."""
        return bool(self.internal_tenants) and not self.terms

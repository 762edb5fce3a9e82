"""What a simulation assumes: the specification's figures, and what is assumed beyond them."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from orrery.errors import Invalid

Seconds = Annotated[float, Field(ge=0, le=31_536_000)]
Share = Annotated[float, Field(ge=0, le=1)]


def _rising(pair: tuple[Seconds, Seconds]) -> tuple[Seconds, Seconds]:
    if pair[0] > pair[1]:
        raise ValueError("the first of the two is the least")
    return pair


Pair = Annotated[tuple[Seconds, Seconds], AfterValidator(_rising)]
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_STRICT)
class Machine:
    """The gateway's machine, and what starts it again."""

    runs: Pair
    unavailable_after: Seconds
    unknown_share: Share
    deallocated_after: Seconds
    alert_after: Pair
    job_after: Pair
    starts_within: Pair
    poll_every: Annotated[float, Field(gt=0)]
    poll_for: Seconds


@dataclass(frozen=True, config=_STRICT)
class Credentials:
    """How long the gateway's credential is missing after a boot."""

    warm_share: Share
    cold_median: Annotated[float, Field(gt=0)]
    cold_sigma: Annotated[float, Field(ge=0, le=5)]


@dataclass(frozen=True, config=_STRICT)
class Operator:
    """The person who ends what nothing else ends."""

    comes_within: Pair


@dataclass(frozen=True, config=_STRICT)
class Budget:
    """How often systemd starts the service within a time, and how long it waits between."""

    starts: Annotated[int, Field(gt=0)]
    within: Seconds
    every: Annotated[float, Field(gt=0)]

    @property
    def is_exhausted_after(self) -> float | None:
        """How long after the first failed start systemd gives up, if it ever does."""
        spent = self.starts * self.every
        return spent if spent < self.within else None


@dataclass(frozen=True, config=_STRICT)
class Service:
    """The start budgets of the gateway's unit: before layer 2 and with it."""

    previous_budget: Budget
    budget: Budget


@dataclass(frozen=True, config=_STRICT)
class Recovery:
    """Layer 3, as it is specified and as it is built; and the site that is pinged."""

    timer_after: Seconds
    timer_every: Annotated[float, Field(gt=0)]
    flap_fires: Annotated[int, Field(gt=0)]
    flap_within: Seconds
    watch_notices: Seconds
    grace: Seconds


@dataclass(frozen=True, config=_STRICT)
class Parameters:
    """All of it."""

    machine: Machine
    credentials: Credentials
    operator: Operator
    service: Service
    recovery: Recovery


def default_text() -> str:
    """Return the file with the default parameters."""
    return files("orrery.gateway.simulation").joinpath("parameters.toml").read_text(encoding="utf-8")


def read_parameters(path: Path | None = None) -> Parameters:
    """Return the default parameters, with what a file changes of them; raise `Invalid`."""
    tables = tomllib.loads(default_text())
    for name, table in (_given(path) if path else {}).items():
        tables[name] = {**tables.get(name, {}), **table} if isinstance(table, dict) else table
    try:
        found = TypeAdapter(Parameters).validate_python(tables)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        why = _WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
        raise Invalid(f"The parameter {where} is wrong: {why}.") from None
    if found.operator.comes_within[1] >= found.machine.runs[0]:
        raise Invalid("operator.comes_within: an outage must be over before the next one, after machine.runs.")
    return found


_WORDS = {"unexpected_keyword_argument": "there is none of that name", "dataclass_type": "it is a table"}


def _given(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"The parameters cannot be read from {path}: {error}.") from None

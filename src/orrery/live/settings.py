"""The sections `[live]` and `[monitor]` of `orrery.toml`."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from orrery.live.freshness import TICK
from orrery.runtime.section import Address, Section


class PageSettings(Section):
    """A page of the site: its title at the provider, and its path (decision 22)."""

    title: str
    path: str = Field(pattern=r"^/[^\s\\]*$")


class LiveSettings(Section):
    """The live visitor counter (spec 2). Without a property there is nothing to count."""

    property_id: str | None = Field(None, pattern=r"^[0-9]{1,20}$")
    provider_url: Address = "https://analyticsdata.googleapis.com"
    refresh: bool = True
    refresh_interval: int = Field(TICK, ge=1, le=TICK)
    poll_interval: int = Field(45, ge=5, le=3600)
    min_visible: int = Field(1, ge=1)
    window_minutes: int = Field(30, ge=1, le=30)
    planet_dimension: str = Field("streamName", pattern=r"^[A-Za-z0-9_:]{1,100}$")
    tokens_per_hour: int = Field(1750, ge=1)
    tokens_per_day: int = Field(25_000, ge=1)
    pages: tuple[PageSettings, ...] = ()

    def source(self, key_json: str | None) -> str:
        """Return a digest of whom the counter asks, about what and as whom."""
        asked = [self.provider_url.rstrip("/"), self.property_id, self.planet_dimension, _account(key_json)]
        return sha256(json.dumps(asked).encode()).hexdigest()[:16]


class _Account(BaseModel):
    client_email: str


def _account(key_json: str | None) -> str | None:
    """Return the account of a key, or None when it is unknown; a new key of the same account changes nothing."""
    try:
        return _Account.model_validate_json(key_json or "").client_email
    except ValidationError:
        return None


class MonitorSettings(Section):
    """The tracker for issues about a degraded counter (decision 29), and the address of its public reads."""

    base_url: Address | None = None
    tracker: Literal["file", "github"] = "file"
    file: Path = Path(".orrery/realtime-degraded.json")
    github_url: Address = "https://api.github.com"
    repository: str | None = Field(None, pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$")

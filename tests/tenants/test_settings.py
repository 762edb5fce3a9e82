"""Settings that would mix the tracks are refused."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from orrery.tenants.settings import DestinationKind, TenantsSettings
from tests.support.destinations import destination, track

A, B = track("A"), track("B")


def refused(**changed: object) -> str:
    """Return why the settings of both tracks are refused, once those of B are changed."""
    other = {**B.model_dump(), **changed}
    with pytest.raises(ValidationError) as error:
        _ = TenantsSettings.model_validate({"A": A.model_dump(), "B": other})
    return str(error.value)


def test_both_tracks_are_two_tenants() -> None:
    """One tenant for both would make each account one of both; the case of letters does not hide it."""
    assert "both tracks have the same tenant" in refused(tenant=A.tenant.upper())


def test_an_account_is_of_one_track() -> None:
    """However it is written."""
    both = {"A": A.model_dump() | {"accounts": ["ann@lab.example"]}}
    with pytest.raises(ValidationError, match="one track only"):
        _ = TenantsSettings.model_validate({**both, "B": B.model_dump() | {"accounts": ["Ann@LAB.example"]}})


def test_a_destination_is_of_one_track(tmp_path: Path) -> None:
    """A name that both have would not say whose place it is."""
    a = track("A", destination("site", "shared-folder", tmp_path / "a"))
    b = track("B", destination("site", "blog", tmp_path / "b"))
    with pytest.raises(ValidationError, match="two destinations have the same name"):
        _ = TenantsSettings(A=a, B=b)


@pytest.mark.parametrize(("kind", "folder"), [("social", Path("posts")), ("blog", None), ("repository", None)])
def test_a_destination_lies_somewhere_unless_it_is_social(kind: DestinationKind, folder: Path | None) -> None:
    """A social one is text that another tool posts; each other one is a folder."""
    with pytest.raises(ValidationError, match="has a folder, unless its kind is social"):
        _ = destination("place", kind, folder)

"""Stored records live long (decision 45): every release must read what a later one of the same `v` writes."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from orrery.record import RecordPart
from tests.support.modules import folders
from tests.support.reading import KINDS
from tests.support.tables import each_case

SHAPES = Path(__file__).with_name("record_shapes.json")
"""The JSON schema of each stored record when it was first released, by its full name. Never change one: add an
optional field, or raise `v` and keep this release's reader."""

NOT_STORED_ALONE = {
    "orrery.account.account.AccountBody",
    "orrery.account.account.BrandingBody",
    "orrery.account.account.ConfigurationBody",
    "orrery.fraud.records.EntriesBody",
    "orrery.fraud.records.ListedEntry",
}
"""The bodies of intents are stored within the intent that is signed. What is carried out must be known in full, so
that an unknown field in them is refused."""

READ_ONLY = {"orrery.runtime.collection._Versioned"}
"""Reads nothing but the version of another record."""


def classes() -> Iterator[type[BaseModel]]:
    """Yield every pydantic model in the folders of the modules, except those of routes, commands and settings."""
    for folder in folders():
        package = importlib.import_module(f"orrery.{folder}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if (
                not found.name.endswith((".routes", ".schema", ".section", ".settings"))
                and ".cli" not in found.name
            ):
                module = importlib.import_module(found.name)
                for one in vars(module).values():
                    if isinstance(one, type) and issubclass(one, BaseModel) and one.__module__ == found.name:
                        yield one


def name_of(kind: type[BaseModel]) -> str:
    """Return the full name of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


RECORDS = {name_of(kind): kind for kind in classes() if issubclass(kind, RecordPart)}


class Bare(GenerateJsonSchema):
    """Writes no titles and no defaults: neither decides what can be read."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """Give fields no title."""
        del schema
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Leave the default out."""
        return self.generate_inner(schema["schema"])


def shape(kind: type[RecordPart]) -> dict[str, Any]:
    """Return what is stored of a record: each field's schema, and which fields are required."""
    schema = kind.model_json_schema(schema_generator=Bare)
    return {"fields": schema.get("properties", {}), "required": sorted(schema.get("required", []))}


def test_every_stored_model_is_a_record() -> None:
    """A model that drops or refuses unknown fields would end the way back to an older release."""
    others = {name_of(kind) for kind in classes() if not issubclass(kind, RecordPart)}
    assert others == NOT_STORED_ALONE | READ_ONLY


def test_every_record_has_a_first_shape() -> None:
    """A new kind of record is written down here with the release that first stores it."""
    assert set(RECORDS) == set(json.loads(SHAPES.read_text(encoding="utf-8")))


def test_every_record_is_read_by_the_tests_of_old_stores() -> None:
    """Each has a collection that is found in the source, is a part of one that has, or is a file of its own."""
    found = {kind for kinds in KINDS.values() for kind in kinds}
    parts = {part for kind in RECORDS.values() for part in kind.model_json_schema().get("$defs", {})}
    others = {name for name, kind in RECORDS.items() if kind not in found and kind.__name__ not in parts}
    assert others == {"orrery.tenants.sign_in_file.TrackSignIns"}


@each_case("name", sorted(RECORDS))
def test_a_record_only_gains_optional_fields(name: str) -> None:
    """An older release reads what this one writes: no field is gone, changed, or required that was not."""
    first, now = json.loads(SHAPES.read_text(encoding="utf-8"))[name], shape(RECORDS[name])
    assert {field: now["fields"].get(field) for field in first["fields"]} == first["fields"]
    assert now["required"] == first["required"]

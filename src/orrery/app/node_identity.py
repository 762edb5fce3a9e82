"""The name of this service among those that share its store, and digests of what they should have in common."""

import platform
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel

from orrery.app.adapters import Adapters
from orrery.app.settings.secret_observation import HeldSecretFiles
from orrery.app.settings.sections import sections_of
from orrery.runtime.modules import BACKUPS, RUNTIME
from orrery.runtime.nodes import RELEASE, NodeIdentity
from orrery.runtime.settings import ServerSettings
from orrery.secrets.fingerprints import Fingerprints

DIGITS = 4
"""Hexadecimal digits of a digest. Of 65,536 guesses one has the same: a thief of the store and its key cannot
tell from it which short secret is the right one, and a difference is overlooked as seldom.
"""

OF_A_MACHINE = frozenset(one.name for module in (RUNTIME, BACKUPS) for one in module.sections)
"""The sections in which nodes may differ: addresses, folders, and the one place of the store written otherwise."""


def node_identity(adapters: Adapters, store_key: bytes, holder: str) -> NodeIdentity:
    """Return this process among the nodes; the digests are made when they are asked for."""

    @cache
    def common() -> dict[str, str]:
        digest = Fingerprints.of_store(store_key)
        held = HeldSecretFiles(adapters.settings, adapters.secrets).held(digest)
        sections = {
            f"[{name}]": digest(f"[{name}]", _as_text(adapters.settings[kind]))
            for name, kind in sections_of(adapters.settings.role).items()
            if name not in OF_A_MACHINE
        }
        digests = {name: value or "" for name, value in {**held, **sections}.items()}
        return {RELEASE: version("orrery")} | {name: value[:DIGITS] for name, value in digests.items()}

    return NodeIdentity(adapters.settings[ServerSettings].node or _name_of_machine(), holder, common)


def _as_text(section: BaseModel) -> str:
    """Return a section without its paths, which are a machine's own."""
    return section.model_dump_json(exclude={name for name, value in section if isinstance(value, Path)})


def _name_of_machine() -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", platform.node()).lstrip("._-")[:63] or "node"

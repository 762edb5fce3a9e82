"""Two tracks over a sandbox's identity provider: their settings, and their accounts signed in."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from orrery.adapters.microsoft_identity.provider import MicrosoftIdentity
from orrery.adapters.private_files import PrivateFiles
from orrery.ports.identity import DeviceCode
from orrery.sandbox.identity.directory import CLIENT_A, CLIENT_B, TENANT_A, TENANT_B
from orrery.tenants.accounts import resolve
from orrery.tenants.settings import TenantsSettings, TrackSettings
from orrery.tenants.sign_ins import SignIns
from tests.support.identity import IdentityBox

ANN_A, BOB_A, ANN_B = "ann@corp.example", "bob@corp.example", "ann@lab.example"


def track_settings(authority: str, folder: Path, scopes: tuple[str, ...] = ("User.Read",)) -> TenantsSettings:
    """Return both tracks: Ann and Bob of A, Ann of B, whose address track A's tenant knows as a guest."""
    a = TrackSettings(label="Corporate", tenant=TENANT_A, client=CLIENT_A, accounts=(ANN_A, BOB_A), scopes=scopes)
    b = TrackSettings(label="Lab", tenant=TENANT_B, client=CLIENT_B, accounts=(ANN_B,), scopes=scopes)
    return TenantsSettings(directory=folder / "tenants", authority=authority, api=authority, A=a, B=b)


def track_toml(authority: str, folder: Path, ca_file: Path, scopes: Sequence[str] = ("User.Read",)) -> str:
    """Return the same as text of `orrery.toml`; the folder is that of the settings."""
    return f"""
[tls]
ca_file = "{ca_file}"
[cockpit]
store = "{folder / "cockpit.db"}"
[tenants]
directory = "{folder / "tenants"}"
authority = "{authority}"
api = "{authority}"
[tenants.A]
label = "Corporate"
tenant = "{TENANT_A}"
client = "{CLIENT_A}"
accounts = ["{ANN_A}", "{BOB_A}"]
scopes = {json.dumps(scopes)}
[tenants.B]
label = "Lab"
tenant = "{TENANT_B}"
client = "{CLIENT_B}"
accounts = ["{ANN_B}"]
scopes = {json.dumps(scopes)}
"""


@dataclass(frozen=True)
class Tracks:
    """Both tracks of one folder, over one identity provider."""

    box: IdentityBox
    folder: Path
    scopes: tuple[str, ...] = ("User.Read",)

    @property
    def settings(self) -> TenantsSettings:
        return track_settings(self.box.authority, self.folder, self.scopes)

    @property
    def sign_ins(self) -> SignIns:
        return self.with_settings(self.settings)

    def with_settings(self, settings: TenantsSettings) -> SignIns:
        """Return the sign-ins with other settings."""
        identity = MicrosoftIdentity(self.box.authority, self.box.trust)
        return SignIns(settings, identity, PrivateFiles(settings.directory), self.box.clock)

    def approving(self, account: str) -> Callable[[DeviceCode], None]:
        """Return what lets an account approve the code that is shown."""
        return lambda code: self.box.approve(code.code, account)

    def sign_in(self, name: str, as_account: str = "") -> None:
        """Sign in by a device code, as another account than the named one if that is given."""
        _ = self.sign_ins.by_device_code(name, self.approving(as_account or name))

    def copy_sign_ins(self, folder: Path, *names: str) -> None:
        """Let accounts that alone have signed in for their tracks be signed in in another folder, too."""
        (folder / "tenants").mkdir(mode=0o700)
        for name in names:
            file = f"{resolve(self.settings, name).track}.json"
            shutil.copy(self.settings.directory / file, folder / "tenants" / file)

    def kept(self) -> list[str]:
        """Return the names of the files that sign-ins are kept in."""
        folder = self.settings.directory
        return sorted(one.name for one in folder.iterdir()) if folder.exists() else []

"""The bundle: a tar with the files and a script that installs them, for a host without Python.

The same options make the same bytes. Topic and ping token are in none: the script asks for them.
"""

import io
import tarfile
from pathlib import Path

from orrery.gateway.guest.errors import GuestFailed
from orrery.gateway.guest.files import HostFile, conf_path, host_files, template
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.unit_name import UnitName

_EXECUTABLE = 0o755


def bundle_of(unit: UnitName, options: Options) -> bytes:
    """Return the tar: `recovery-NAME/` with `install.sh`, `uninstall.sh`, and the files below `files/`."""
    files = host_files(unit, options)
    folder = bundle_folder(unit)
    scripts = [
        HostFile(f"{folder}/{name}", _filled(name, unit, files), _EXECUTABLE)
        for name in ("install.sh", "uninstall.sh")
    ]
    members = [*scripts, *(HostFile(f"{folder}/files{one.path}", one.text, one.mode) for one in files)]
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for one in members:
            content = one.text.encode()
            tar.addfile(_member(one, len(content)), io.BytesIO(content))
    return written.getvalue()


def bundle_folder(unit: UnitName) -> str:
    """Return the folder in the tar. It does not begin as the unit does, which may be a dash."""
    return f"recovery-{unit.name}"


def write_bundle(path: Path, content: bytes) -> None:
    """Write a bundle over one that is there, whole or not at all."""
    unfinished = path.with_name(f"{path.name}.new")
    try:
        _ = unfinished.write_bytes(content)
        _ = unfinished.replace(path)
    except OSError as error:
        raise GuestFailed(f"{path} cannot be written: {error.strerror}.") from None


def _member(file: HostFile, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(file.path)
    member.size, member.mode = size, file.mode
    member.uname = member.gname = "root"
    return member


def _filled(name: str, unit: UnitName, files: tuple[HostFile, ...]) -> str:
    listed = "\n".join(f"{one.mode:04o} {one.path}" for one in files)
    text = template(name).replace("@FILES@", listed).replace("@CONF@", conf_path(unit))
    return text.replace("@UNIT@", unit.unit).replace("@NAME@", unit.name)

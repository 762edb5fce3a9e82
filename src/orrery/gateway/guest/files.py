"""The files of the recovery, as they are written on the gateway's host. Pure."""

from dataclasses import dataclass
from importlib.resources import files

from orrery.gateway.guest.options import Options, rendered_options
from orrery.gateway.guest.unit_name import UnitName

_UNITS = "/etc/systemd/system"
_EXECUTABLE, _PLAIN = 0o755, 0o644


@dataclass(frozen=True, slots=True)
class HostFile:
    """A file of the recovery: its path on the host, what is in it, and its mode; it belongs to root."""

    path: str
    text: str
    mode: int = _PLAIN


def conf_path(unit: UnitName) -> str:
    """Return the path of the file that keeps the options."""
    return f"{unit.script}-recover.conf"


def host_files(unit: UnitName, options: Options) -> tuple[HostFile, ...]:
    """Return all files, in the order in which they are written: what another needs comes first."""
    return (
        HostFile(conf_path(unit), rendered_options(options)),
        HostFile(f"{unit.script}-recover.lib", template("recover.lib")),
        *(
            HostFile(f"{unit.script}-{what}.sh", template(f"{what}.sh"), _EXECUTABLE)
            for what in ("recover", "watch", "alert")
        ),
        HostFile(f"{_UNITS}/{unit.alert}", _filled("alert.service", unit)),
        HostFile(f"{_UNITS}/{unit.recover_service}", _filled("recover.service", unit, options)),
        HostFile(f"{_UNITS}/{unit.timer}", _filled("recover.timer", unit)),
        HostFile(f"{_UNITS}/{unit.watch}", _filled("watch.service", unit, options)),
        HostFile(f"{unit.drop_in_folder}/cold-boot-retry.conf", _filled("cold-boot-retry.conf", unit)),
    )


def template(name: str) -> str:
    """Return the text of a file in the folder `files`."""
    return files("orrery.gateway.guest").joinpath("files", name).read_text(encoding="utf-8")


def _filled(name: str, unit: UnitName, options: Options | None = None) -> str:
    """Return a filled template; a unit with `options` asks the probe, and a command may need anything."""
    # In a quoted word of ExecStart= systemd reads a backslash as the beginning of an escape.
    script = unit.script.replace("\\", "\\\\")
    hardened = "" if options and options.runs_a_command else template("hardened.conf")
    text = template(name).replace("@HARDENED@", hardened)
    return text.replace("@UNIT@", unit.unit).replace("@NAME@", unit.name).replace("@SCRIPT@", script)

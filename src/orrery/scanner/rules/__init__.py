"""Files of rules for secrets: those that are shipped, and others that are named."""

from pathlib import Path

from orrery.errors import Invalid
from orrery.scanner.detectors.secret_format import RuleFile, read
from orrery.scanner.detectors.secret_rules import RuleSet

MOST_BYTES = 8 * 1024 * 1024
"""Of one file: gitleaks' own has 0.1 MB."""

DEEPEST = 2
"""Files that a file may extend, one through the other, as for gitleaks."""


_SHIPPED = Path(__file__).with_name("orrery.toml")
"""Not by importlib.resources, which takes 20 ms to load: each commit waits for this."""


def secret_rules(*further: Path) -> RuleSet:
    """Return the shipped rules and those of further files; raise `Invalid` for one that cannot be used."""
    return sum(map(rules_of, further), shipped())


def shipped() -> RuleSet:
    """Return our own rules, for the keys that this project handles."""
    return read(_SHIPPED.read_bytes(), _SHIPPED.name).rule_set()


def rules_of(file: Path) -> RuleSet:
    """Return the rules of a file, and of those that it extends; raise `Invalid`."""
    return _with_extended(file, DEEPEST).rule_set()


def _with_extended(file: Path, deepest: int) -> RuleFile:
    found = read(_content(file), str(file))
    if not found.extends:
        return found
    if not deepest:
        raise Invalid(f"{file}: it is extended by {DEEPEST} files, and cannot extend a further one.")
    return found.over(_with_extended(file.parent / found.extends, deepest - 1))


def _content(file: Path) -> bytes:
    try:
        if file.exists() and not file.is_file():
            reason = "it is no file"
        elif file.stat().st_size > MOST_BYTES:
            reason = f"it has more than {MOST_BYTES} bytes"
        else:
            return file.read_bytes()
    except OSError as error:
        reason = error.strerror
    raise Invalid(f"The rules {file} cannot be read: {reason}.")

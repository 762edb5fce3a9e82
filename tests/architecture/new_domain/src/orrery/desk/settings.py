"""The section `[desk]` of `orrery.toml`."""

from orrery.runtime.section import Section


class DeskSettings(Section):
    """What stands on the desk."""

    lamp: str = "off"

"""The parts of the desk."""

from orrery.desk.service import Desk
from orrery.desk.settings import DeskSettings
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime


def build(runtime: Runtime) -> Parts:
    """Return the desk with its lamp, and whether its token is there."""
    lamp, token = runtime.section(DeskSettings).lamp, runtime.secret("desk_token")
    return Parts(
        module="desk", offers={Desk: Desk(f"The lamp is {lamp}; {len(token or '')} characters of a token.")}
    )

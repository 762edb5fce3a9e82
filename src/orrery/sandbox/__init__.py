"""Stand-ins for the vendors, the same in the tests and in `orrery demo`; an extra brings what only they need."""

import sys
from importlib.util import find_spec

from orrery.errors import Invalid

if find_spec("aiosmtpd") is None:
    raise Invalid(f"The sandbox is not installed: type {sys.executable} -m pip install 'orrery[demo]'.")

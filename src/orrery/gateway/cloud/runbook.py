"""The runbook that the cloud runs when an alert fires, with the values of a deployment in it."""

import re
from importlib.resources import files

from orrery.errors import Invalid

_RESOURCE_ID = re.compile(r"(?:/[\w.()-]{1,90}){8}")
"""No quote is part of it, nor one of Unicode that PowerShell takes for one: nothing ends the text in the file."""

_CLIENT_ID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def rendered(vm_id: str, client_id: str) -> str:
    """Return the runbook that starts this machine and signs in as this identity; raise `Invalid`."""
    if not _RESOURCE_ID.fullmatch(vm_id):
        raise Invalid("The id of the gateway's machine is not one of the cloud's: /subscriptions/…/NAME.")
    if not _CLIENT_ID.fullmatch(client_id):
        raise Invalid("The client id of the runbook's identity is not one of the cloud's (a UUID).")
    text = files("orrery.gateway.cloud").joinpath("files", "runbook.ps1").read_text(encoding="utf-8")
    return text.replace("@VM_RESOURCE_ID@", vm_id).replace("@CLIENT_ID@", client_id)

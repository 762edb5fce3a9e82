"""The adapters of the role cloud; the vendor's libraries are an extra that few install."""

from importlib.util import find_spec

from orrery.adapters.secret_file import SecretFile
from orrery.adapters.site_reports import HttpSiteReports
from orrery.adapters.ssh_journal import SshJournals
from orrery.app.adapters import Adapters
from orrery.errors import Invalid
from orrery.gateway.cloud.secrets import WEBHOOK_URI_FILE
from orrery.gateway.cloud.settings import CloudSettings
from orrery.ports.cloud import Cloud, WebhookUri
from orrery.ports.journals import Journals
from orrery.ports.site_reports import SiteReports
from orrery.runtime.settings import SecretFiles


def cloud(adapters: Adapters) -> Cloud:
    """Return the cloud of these settings; raise `Invalid` without the settings or the libraries."""
    settings = adapters.settings[CloudSettings]
    settings.require()
    if find_spec("azure") is None or find_spec("azure.mgmt") is None:
        raise Invalid(
            "The cloud's libraries are not installed: type "
            "`.venv/bin/pip install --require-hashes -r requirements-azure.lock`."
        )
    from orrery.adapters.azure.clients import Names  # noqa: PLC0415  see above
    from orrery.adapters.azure.cloud import AzureCloud  # noqa: PLC0415  the same

    names = Names(
        subscription=settings.subscription or "",
        group=settings.resource_group or "",
        machine_group=settings.machine_resource_group or settings.resource_group or "",
        machine=settings.machine or "",
        location=settings.location or "",
        identity=settings.identity,
        account=settings.account,
        runbook=settings.runbook,
        action_group=settings.action_group,
        alerts={"health": settings.health_alert, "deallocate": settings.deallocate_alert},
        email=settings.email or "",
    )
    return AzureCloud(names, settings.management_url, adapters.trust)


def webhook_uri(adapters: Adapters) -> WebhookUri:
    """Return the webhook's URI, which is kept in the folder of secrets."""
    folder = adapters.settings[SecretFiles].directory
    file = folder / WEBHOOK_URI_FILE if folder else None
    return SecretFile(file, adapters.secrets.reveal(WEBHOOK_URI_FILE) or "")


def site_reports(adapters: Adapters) -> SiteReports:
    """Return where reports go; raise `Invalid` without the site's address or the token of the pings."""
    url, token = adapters.settings[CloudSettings].site_url, adapters.secrets.reveal("gateway_ping_token")
    if url is None:
        raise Invalid("A report needs the site's public address: set `site_url` in [cloud] of the settings.")
    if token is None:
        raise Invalid("A report needs the token of the pings: put it into the secret file gateway_ping_token.")
    return HttpSiteReports(url, token, adapters.trust)


def journals(_: Adapters) -> Journals:
    return SshJournals()

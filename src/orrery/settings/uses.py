"""The use of each secret in this deployment: whether it is needed, and what stops without it."""

from orrery.owner.secret_alerts import SecretUse
from orrery.settings.model import Settings

_NOT_SOLD = "No product is configured."
_NOT_COUNTED = "No analytics property is configured."


def uses_of(settings: Settings) -> dict[str, SecretUse]:
    """Return the use of each secret, by its name."""
    sells = bool(settings.checkout.products)
    counts = settings.live.property_id is not None
    return {
        "processor_api_key": _use(
            "the checkout answers 503 and nobody can buy; nothing is reconciled.", sells, _NOT_SOLD, essential=True
        ),
        "webhook_signing_secret": _use(
            "the webhook answers 503; who pays gets access only when the reconciliation comes round.",
            sells,
            _NOT_SOLD,
            essential=True,
        ),
        "access_service_token": _use(
            "practice sites cannot ask who has access; their pages stay closed.", sells, _NOT_SOLD, essential=True
        ),
        "push_token": _push(settings),
        "mail_password": _mail(settings),
        "admin_password_hash": SecretUse(
            counts,
            "nobody is admitted as the owner: no refresh from outside, no owner's reads, no owner's page.",
            idle="Without it the owner's page admits nobody.",
        ),
        "analytics_service_account_key": _use(
            "the live counter is not refreshed, and is empty after 30 minutes.", counts, _NOT_COUNTED
        ),
        "tracker_token": _use(
            "no issue is opened when the counter degrades.",
            counts and settings.monitor.tracker == "github",
            "No issue is opened with a tracker that wants one.",
        ),
    }


def _use(stops: str, needed: bool, idle: str, *, essential: bool = False) -> SecretUse:  # noqa: FBT001  a private shorthand
    return SecretUse(needed, stops, essential, idle) if needed else SecretUse(needed=False, stops="", idle=idle)


def _push(settings: Settings) -> SecretUse:
    if not (settings.push.url and settings.push.topic):
        return SecretUse(needed=False, stops="", idle="No push server is configured.")
    stops = "pushes are refused by a server that wants it; they wait, this one too, until it is there."
    return SecretUse(needed=False, stops=stops, idle="The push server is asked without one.")


def _mail(settings: Settings) -> SecretUse:
    mail = settings.mail
    if not (mail.host and mail.sender):
        return SecretUse(needed=False, stops="", idle="No mail server is configured.")
    idle = "The mail server is asked without a log-in."
    return _use("e-mails to buyers wait until it is there.", mail.username is not None, idle)

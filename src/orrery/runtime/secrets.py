"""The secrets that every deployment may have: for the store's database, the push and the mail server."""

import re

from orrery.runtime.secret import Form, SecretKind, SecretUse, unused, why_no_password
from orrery.runtime.section import Mode, Sections
from orrery.runtime.settings import MailSettings, PushSettings, StoreSettings

_NTFY_TOKEN = re.compile(r"tk_[A-Za-z0-9]+")


def _push_use(sections: Sections) -> SecretUse:
    push = sections[PushSettings]
    if not (push.url and push.topic):
        return unused("No push server is configured.")
    stops = "pushes are refused by a server that wants it; they wait, this one too, until it is there."
    return SecretUse(needed=False, stops=stops, idle="The push server is asked without one.")


def _push_form(text: str, _mode: Mode) -> Form:
    return Form(note="" if _NTFY_TOKEN.fullmatch(text) else "ntfy's own tokens begin with tk_; this one does not")


def _mail_use(sections: Sections) -> SecretUse:
    mail = sections[MailSettings]
    if not (mail.host and mail.sender):
        return unused("No mail server is configured.")
    if mail.username is None:
        return unused("The mail server is asked without a log-in.")
    return SecretUse(needed=True, stops="e-mails to buyers wait until it is there.")


def _store_use(sections: Sections) -> SecretUse:
    if sections[StoreSettings].address is None:
        return unused("The store is a file.")
    return SecretUse(needed=False, stops="", idle="The store's database is asked without one.")


PUSH_TOKEN = SecretKind(use=_push_use, form=_push_form)

MAIL_PASSWORD = SecretKind(use=_mail_use, unusable=lambda name, text, _: why_no_password(name, text))
"""Some mail services hand out passwords in groups of four; Orrery does not check its characters."""

STORE_PASSWORD = SecretKind(use=_store_use, unusable=lambda name, text, _: why_no_password(name, text))

"""A Django site that receives webhooks with dj-stripe, on SQLite with full durability.

usage: python -m bench.django_site PORT FOLDER PROCESSOR      PROCESSOR is the port of `bench.processor`

For each event it asks the processor for the session and its payment, as dj-stripe does, and keeps both. Nothing is
granted or enqueued: that would be the site's own code.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn

from bench.service import SECRET
from bench.webhook_peers import ENDPOINT

urlpatterns = list[Any]()


def _of(module: str) -> Any:  # noqa: ANN401  Django is there only where something is measured
    return import_module(module)


def configure(folder: Path, processor: int) -> None:
    """Set the site up as the documentation has it; the tables come from the models and not from 60 migrations."""
    durable = "PRAGMA journal_mode = wal; PRAGMA synchronous = full;"
    options = {"init_command": durable, "transaction_mode": "IMMEDIATE", "timeout": 60}
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "django.db", "OPTIONS": options}
    _of("django.conf").settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": database},
        DJSTRIPE_FOREIGN_KEY_TO_FIELD="id",
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "djstripe"],
        LOGGING_CONFIG=None,
        MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
        MIGRATION_MODULES={"djstripe": None},
        ROOT_URLCONF=__name__,
        SECRET_KEY="of a measurement",  # noqa: S106  no secret
        STRIPE_API_HOST=f"http://127.0.0.1:{processor}",
        STRIPE_TEST_SECRET_KEY="sk_test_" + "0" * 24,
        USE_TZ=True,
    )
    _of("django").setup()


def prepare() -> None:
    """Make the addresses, the tables and the endpoint."""
    urls, empty = _of("django.urls"), _of("django.http").HttpResponse
    urlpatterns.append(urls.path("healthz", lambda _request: empty()))  # pyright: ignore[reportUnknownLambdaType]  Django's
    urlpatterns.append(urls.path("stripe/", urls.include("djstripe.urls", namespace="djstripe")))
    _of("django.core.management").call_command("migrate", verbosity=0, run_syncdb=True)
    endpoint = {"id": "we_bench", "djstripe_uuid": ENDPOINT, "secret": SECRET, "enabled_events": ["*"]}
    _of("djstripe.models").WebhookEndpoint.objects.create(livemode=False, **endpoint)


def serve(port: str, folder: str, processor: str) -> None:
    """Serve until it is ended."""
    configure(Path(folder), int(processor))
    prepare()
    app = _of("django.core.asgi").get_asgi_application()
    uvicorn.run(app, port=int(port), loop="uvloop", http="httptools", log_level="error")


if __name__ == "__main__":
    serve(*sys.argv[1:])

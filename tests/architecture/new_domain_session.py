"""Types the commands of a deployment and asks its two listeners, in one process: run with a copy of the package.

usage: new_domain_session.py FOLDER   Prints one JSON object: what came of each step.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx2

from orrery.app.composition import opened
from orrery.app.http_apps import apps_of
from orrery.app.settings.reader import load
from orrery.approvals.approvals import Approvals, IntentDraft
from orrery.runtime.readiness import Readiness
from orrery.syntax.admin_password import hashed
from tests.architecture.typed import typed as run

EMAIL = "ann@buyer.example"


def orrery(*words: str | Path) -> str:
    """Run one command; return its exit code and what it printed."""
    code, printed = run(*words)
    return f"{code} {' '.join(printed.split())}"


def typed(folder: Path) -> dict[str, str]:
    """Type every command that the new domain has a part in."""
    config, secrets = folder / "orrery.toml", folder / "secrets"
    said = {"init": orrery("init", folder), "template": config.read_text()}
    (folder / "mistyped.toml").write_text("[recipes]\nmany = 1\n")
    said["unknown key"] = orrery("recipes", "list", "-c", folder / "mistyped.toml")
    (secrets / "recipes_token").write_text("one value\nanother value\n")
    said["unusable secret"] = orrery("recipes", "list", "-c", config)
    (secrets / "recipes_token").unlink()
    said["without secret"] = orrery("doctor", "--json", "-c", config)
    os.environ["CREDENTIALS_DIRECTORY"] = str(copied(folder))  # noqa: TID251  the service manager's own
    said["add"] = orrery("recipes", "add", EMAIL, "-c", config)
    said["list"] = orrery("recipes", "list", "-c", config)
    said["doctor"] = orrery("doctor", "--json", "-c", config)
    said["secrets"] = orrery("secrets", "check", "-c", config)
    said["export"] = orrery("privacy", "export", EMAIL, "-c", config)
    said["backup"] = orrery("backup", folder / "snapshot.db", "-c", config)
    said["restore"] = orrery("restore", folder / "snapshot.db", "-c", config)
    said["erase"] = orrery("privacy", "erase", EMAIL, "--reason", "asked", "-c", config)
    said["export after"] = orrery("privacy", "export", EMAIL, "-c", config)
    return said


def copied(folder: Path) -> Path:
    """Return a folder with secrets as the unit's `LoadCredential=site:…` copies them."""
    credentials = folder / "credentials"
    credentials.mkdir(mode=0o700)
    (credentials / "site_recipes_token").write_text("a-token-of-the-mirror\n")
    (credentials / "site_admin_password_hash").write_text(f"{hashed(b'open sesame')}\n")
    return credentials


async def asked(folder: Path) -> dict[str, Any]:
    """Ask the listeners for what the new domain shows there, run its job, and propose its operation."""
    said: dict[str, Any] = {}
    async with opened(*load(folder / "orrery.toml")) as orrery:
        public, private = (_client(app) for app in apps_of(orrery))
        wish = {"email": EMAIL}
        for name, client in (("public", public), ("private", private)):
            answer = await client.post("/guided/api/recipes", json=wish)
            said[f"joined {name}"] = answer.status_code
            said[f"counted {name}"] = (await client.get("/recipes")).status_code
        said["count"] = (await private.get("/recipes")).json()
        _ = await orrery[Readiness].run_round()
        said["readyz"] = (await private.get("/readyz")).text
        said["metrics"] = (await private.get("/metrics")).text
        said["owner"] = (await private.get("/owner", auth=("owner", "open sesame"))).text
        said["openapi"] = (await private.get("/openapi.json")).text
        draft = IntentDraft("close-recipes", "recipes", {}, "Close it.", "enough")
        said["proposed"] = (await orrery[Approvals].propose(draft)).operation
        jobs = [job for parts in orrery.modules for job in parts.jobs if parts.module == "recipes"]
        said["counted by the job"] = [await job.run() for job in jobs]
        limit = await public.post("/guided/api/recipes", json={"email": "bob@buyer.example"})
        wrong = await public.post("/guided/api/recipes", json={"email": "no address"})
        said["wrong"] = [wrong.status_code, wrong.json().get("error")]
        said["full"] = [limit.status_code, limit.json().get("error")]
        many = [await public.post("/guided/api/recipes", json=wish) for _ in range(10)]
        said["too many"] = [many[-1].status_code, many[-1].json().get("error")]
    return said


def _client(app: Any) -> httpx2.AsyncClient:  # noqa: ANN401  any application
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1")


if __name__ == "__main__":
    there = Path(sys.argv[1])
    came = typed(there)
    os.environ["ORRERY_RECIPES__MOST"] = "1"  # noqa: TID251  a setting of the new domain
    print(json.dumps(came | asyncio.run(asked(there))))  # noqa: T201  what the test reads

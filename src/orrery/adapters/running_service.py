"""The HTTP client of the owner's commands for the service that runs on this machine."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from orrery.edge.problem import ProblemBody
from orrery.outside import Answer, NoAnswer, Outside
from orrery.ports.running_service import RunningSecrets, ServiceRefusal

SECONDS = 5.0
"""How long one question may take."""

_Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]


class _Secrets(BaseModel):
    keyed_by: _Fingerprint
    secrets: dict[str, _Fingerprint | None]


class HttpRunningService:
    """See `RunningService`."""

    def __init__(self, public_url: str, private_url: str) -> None:
        self._public = public_url
        self._private = private_url
        self._service = Outside("The service", SECONDS)

    async def held_secrets(self) -> RunningSecrets | None:
        answer = await self._ask("GET", f"{self._private}/secrets")
        try:
            found = _Secrets.model_validate_json(answer.content) if answer is not None else None
        except ValidationError:
            return None
        return RunningSecrets(found.keyed_by, found.secrets) if found else None

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServiceRefusal | None:
        written = {"Content-Type": "application/json", **headers}
        answer = await self._ask("POST", self._public + path, body, written)
        if answer is None:
            return None
        try:
            problem = ProblemBody.model_validate_json(answer.content)
        except ValidationError:
            return ServiceRefusal(answer.status_code)
        return ServiceRefusal(answer.status_code, problem.error, problem.message)

    async def _ask(
        self, method: str, url: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer | None:
        try:
            return await self._service.ask(method, url, content=body, headers=headers)
        except NoAnswer:
            return None

"""A running service in memory, as the owner's commands ask it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from orrery.edge.problems import problem_of
from orrery.errors import OrreryError
from orrery.ports.running_service import RunningSecrets, ServiceRefusal
from tests.support.checkout import Shop


@dataclass
class ServiceInMemory:
    """A service that holds `secrets`, None when it does not run, and refuses each body as a shop's webhook does.

    Without a shop nobody answers.
    """

    secrets: RunningSecrets | None = None
    shop: Shop | None = None
    paths: list[str] = field(default_factory=list[str])
    """Where something was posted, in order."""

    async def held_secrets(self) -> RunningSecrets | None:
        """Return the fingerprints."""
        return self.secrets

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServiceRefusal | None:
        """Give the body to the webhook."""
        self.paths.append(path)
        if self.shop is None:
            return None
        try:
            await self.shop.webhook.receive(body, headers["Stripe-Signature"])
        except OrreryError as error:
            problem = problem_of(error)
            return ServiceRefusal(problem.status, problem.tag, problem.message)
        return ServiceRefusal(200)

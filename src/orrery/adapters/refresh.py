"""The refresh operation of a running service over HTTP."""

from orrery.outside import NoAnswer, Outside
from orrery.ports.refresh import DEADLINE, RefreshReply
from orrery.trust import Trust

_LONGEST_ANSWER = 64 * 1024


class HttpRefreshService:
    """The service at one address. The password is in no error."""

    def __init__(self, base_url: str, trust: Trust) -> None:
        self._service = Outside("The service", DEADLINE, trust, _LONGEST_ANSWER)
        self._base_url = base_url

    async def post(self, path: str, password: str) -> RefreshReply:
        """Post to the operation; see the port."""
        try:
            answer = await self._service.ask(
                "POST", self._base_url + path, headers={"Authorization": f"Bearer {password}"}
            )
        except NoAnswer as error:
            if error.status:
                return RefreshReply(error.status)
            return RefreshReply(why=str(error), late=error.late)
        return RefreshReply(answer.status_code, answer.content)

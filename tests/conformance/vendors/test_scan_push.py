"""A leak in a destination as the owner's phone gets it: settings, token and push of the role scan, for real."""

import httpx2
import pytest

from tests.support.plain_commands import plain
from tests.support.running_sandbox import PUSH_TOKEN, Running
from tests.support.scan_user import SECRETS, TRACKS, ScanUser, user
from tests.support.waiting import IN_CLEAR, PATIENCE

__all__ = ["user"]


@pytest.mark.parametrize(("token", "number"), [("another-token", 0), (PUSH_TOKEN, 1)])
def test_a_leak_reaches_the_phone(box: Running, user: ScanUser, token: str, number: int) -> None:
    """One push of priority 5 with the secret file's token; a refused one is reported, and tried again."""
    user.with_list()
    (user.key_file.parent / "push_token").write_text(token)
    (user.here / "a.md").write_text("Northwind\n")
    place = f'[[tenants.B.destinations]]\nname = "blog"\nkind = "blog"\nfolder = "{user.here}"\n'
    user.write(f'{SECRETS}{TRACKS}{place}[push]\nurl = "{box.url}/push"\ntopic = "leaks"\n')
    for _ in range(2):
        code, _, err = user.types(plain("scan"), "--destinations", "--notify")
        assert code == 1
        assert ("tries again" in err) == (number == 0)
    headers = {"Accept": "application/json"}
    pushes = httpx2.get(
        f"{box.url}/push", headers=headers, trust_env=False, timeout=PATIENCE, verify=IN_CLEAR
    ).json()
    assert [(one["priority"], one["title"]) for one in pushes] == [(5, "1 new finding in blog")] * number

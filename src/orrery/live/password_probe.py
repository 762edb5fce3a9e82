"""The probe of the admin password's hash: the password that the owner typed is compared with it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from orrery.runtime.secret_probe import ProbeContext, Remark


@dataclass(frozen=True, slots=True)
class PasswordProbe:
    """Compares the hash with the password, if it was given."""

    is_password: Callable[[bytes], bool]

    async def remarks(self, context: ProbeContext) -> AsyncIterator[Remark]:
        password = (context.password or "").strip()
        if not password:
            yield Remark("the password was not tried")
        elif self.is_password(password.encode()):
            yield Remark("the password matches")
        else:
            yield Remark("the password is another one", "Make a new hash: `orrery admin hash`.")

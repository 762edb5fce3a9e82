"""The adapters of the tracks: sign-ins, the file that keeps them, the API for their tokens, and the tool."""

from orrery.adapters.delegated_api import HttpDelegatedApi
from orrery.adapters.microsoft_identity.provider import MicrosoftIdentity
from orrery.adapters.private_files import PrivateFiles
from orrery.adapters.tool_process import ReplacedProcess
from orrery.app.adapters import Adapters
from orrery.ports.accounts import Accounts
from orrery.ports.delegated import DelegatedApi
from orrery.ports.identity import IdentityProvider, SignInFiles
from orrery.ports.tool import ToolProcess
from orrery.tenants.account_tokens import AccountTokens
from orrery.tenants.settings import TenantsSettings
from orrery.tenants.sign_ins import SignIns


def identity(adapters: Adapters) -> IdentityProvider:
    return MicrosoftIdentity(adapters.settings[TenantsSettings].authority, adapters.trust)


def sign_in_files(adapters: Adapters) -> SignInFiles:
    return PrivateFiles(adapters.settings[TenantsSettings].directory)


def accounts(adapters: Adapters) -> Accounts:
    settings = adapters.settings[TenantsSettings]
    sign_ins = SignIns(settings, adapters.port(IdentityProvider), adapters.port(SignInFiles), adapters.clock)
    return AccountTokens(sign_ins, adapters.clock)


def delegated_api(adapters: Adapters) -> DelegatedApi:
    return HttpDelegatedApi(adapters.settings[TenantsSettings].api, adapters.trust)


def tool_process(_: Adapters) -> ToolProcess:
    return ReplacedProcess()

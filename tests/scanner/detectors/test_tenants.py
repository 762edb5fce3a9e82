"""Foreign tenant ids, and sites of sensitivity labels."""

import json
from base64 import b64encode, urlsafe_b64encode
from uuid import UUID

import pytest

from orrery.scanner.detectors.searching import SearchDetector
from orrery.scanner.detectors.tenants import TenantSearch
from orrery.scanner.policy import Policy
from tests.support.tables import each_case

FOREIGN = "3f2a91c4-7be0-4d16-9a53-c81e64b7f209"
INTERNAL = "b81d05e7-42fa-4c39-8e67-15d0a9c3f4b2"
PUBLIC = "6d4c2ab1-90fe-4873-b5d2-0e17f8c6a394"
DETECTOR = SearchDetector(
    TenantSearch(Policy(public_tenants=frozenset({PUBLIC.upper()}), internal_tenants=frozenset({INTERNAL})))
)
NUMBERS = UUID(FOREIGN)
C_FORM = "{{0x{:08x},0x{:04x},0x{:04x},{{{}}}}}".format(
    *NUMBERS.fields[:3], ",".join(f"0x{octet:02x}" for octet in NUMBERS.bytes[8:])
)


def token(claims: dict[str, object]) -> str:
    """Return an unsigned token with claims."""
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + ".x"


FORMS = [
    *(FOREIGN, FOREIGN.upper(), NUMBERS.hex, f"{{{FOREIGN}}}", f"({FOREIGN})", C_FORM, C_FORM.replace(",", ", ")),
    *(f"urn:uuid:{FOREIGN}", FOREIGN.replace("-", " - "), FOREIGN.replace("-", "‑"), FOREIGN.replace("-", "−")),  # noqa: RUF001  dashes as people type them
    *(f"%7B{FOREIGN}%7D", f"&#123;{FOREIGN}&#x7D;", FOREIGN.replace("-", "%2D"), FOREIGN.replace("-", "_")),
    *(FOREIGN[:9] + "\u200b" + FOREIGN[9:], FOREIGN[:9] + "=\r\n" + FOREIGN[9:]),
]
"""The written forms of a GUID."""

CONTEXTS = [
    *('"tenantId": "{}"', "tenant_id = '{}'", "tid={}", "TENANT-ID: {}", "AZURE_TENANT_ID={}", "aad.tenant.id={}"),
    *("az login --tenant {}", "az login -t {}", "Connect-AzAccount -TenantId {}", "Set-X -Tenant '{}'"),
    *("$tenantId = [guid]'{}'", "<TenantId>{}</TenantId>", '<add key="ida:TenantId" value="{}" />'),
    *('"name": "tenantId", "value": "{}"', '"tenantId": {{\n  "value": "{}"\n}}', "tenantId:\n  - {}"),
    *('variable "tenant_id" {{\n  type = string\n  default = "{}"', 'homeTenantId\\": \\"{}', 'setTenant("{}")'),
    *("tenantId=%7B{}%7D", "tenantId%3D{}", "?a=1&tid={}&b", "Directory (tenant) ID | {}", "tenant `{}`"),
    *("/tenants/{}/x", "https://login.microsoftonline.com/{}/v2.0", "https://sts.windows.net/{}/"),
    *("https://login.microsoftonline.us/{}", "https://login.partner.microsoftonline.cn/{}/oauth2"),
    *("https://login.microsoftonline.de/{}", "https://login.chinacloudapi.cn/{}", "https://x.ciamlogin.com/{}"),
    *('"https://login.microsoftonline.com/" + "{}"', "https%3A%2F%2Flogin.microsoftonline.com%2F{}"),
    *('allowedTenants = [\n "' + PUBLIC + '",\n "{}"]', "'{}'  # the lab tenant", "app " + PUBLIC + "@{}"),
    *('{{"Tid":"{}","Oid":"' + PUBLIC + '"}}', "_tenants_{}", "realm={}"),
]
"""What says that a GUID is a tenant's."""

OTHERS = [
    *(f"id: {FOREIGN}", f'"subscriptionId": "{FOREIGN}"', f"clientid={FOREIGN}", f"partid={FOREIGN}", FOREIGN),
    *(f'"tenantId": "", "id": "{FOREIGN}"', f'"tenantId": "{PUBLIC}", "id": "{FOREIGN}"', f"tenantId: {PUBLIC}"),
    *(f'"tenantId": "{PUBLIC}",\n"appId": "{FOREIGN}"', f"tenant sha {NUMBERS.hex}{NUMBERS.hex}"),
    *(f"the tenant of a customer has a subscription {FOREIGN}", f"tenantId: {FOREIGN}0", f"tenant 0{FOREIGN}"),
    *(
        f'<Site siteId="{FOREIGN}"/>',
        f"tenantId: {{{PUBLIC.upper()}}}",
        f"msip_labels: MSIP_Label_{FOREIGN}_Name=x",
    ),
    *(
        f"MSIP_Label_{FOREIGN}_SiteId={PUBLIC}",
        token({"tid": PUBLIC, "oid": FOREIGN}),
        "eyJhbGciOi.eyJ0aWQiOiJ4In0.x",
    ),
    *(f"tenantId={one}" for one in ("9188040d-6c67-4c5b-b112-36a304b66dad", str(UUID(int=0)), str(UUID(int=1)))),
    *(
        f"tenantId={one}"
        for one in ("11111111-1111-1111-1111-111111111111", "12345678-1234-1234-1234-123456789abc")
    ),
    *(
        f"tenantId={one}"
        for one in ("01234567-89ab-cdef-0123-456789abcdef", "aaaabbbb-0000-cccc-1111-dddd2222eeee")
    ),
    *(
        f"tenantId={one}"
        for one in ("deadbeef-dead-beef-cafe-deadbeefcafe", "12345678-1234-1234-1234-123456789012")
    ),
]
"""GUIDs that are no tenant's, or none that is foreign."""


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.value) for one in DETECTOR.matches(f"zz\nzz {text} zz\n".encode(), "")]


@each_case("form", FORMS)
def test_each_form_of_a_guid_is_found(form: str) -> None:
    """Its value is the one form that all have."""
    assert found(f"tenantId: {form}") == [("tenant-id", FOREIGN)]


@each_case("context", CONTEXTS)
def test_a_context_makes_a_guid_a_tenant(context: str) -> None:
    """In the languages of settings, of shells, and in addresses."""
    assert found(context.format(FOREIGN)) == [("tenant-id", FOREIGN)]


@each_case("text", OTHERS)
def test_other_guids_are_not_found(text: str) -> None:
    """Also not beside the word, and not one that stands for none."""
    assert found(text) == []


@each_case(
    "text",
    [
        *(INTERNAL, UUID(INTERNAL).hex.upper(), f"id: {INTERNAL}", b64encode(UUID(INTERNAL).bytes).decode()),
        *(b64encode(UUID(INTERNAL).bytes_le).decode(), urlsafe_b64encode(UUID(INTERNAL).bytes_le).decode()),
    ],
)
def test_an_internal_tenant_is_found_anywhere(text: str) -> None:
    """Without a context, and in base64."""
    assert found(text) == [("tenant-id", INTERNAL)]


@pytest.mark.parametrize(
    "claims",
    [
        {"tid": FOREIGN, "aud": PUBLIC},
        {"iss": f"https://sts.windows.net/{FOREIGN}/"},
        {"tid": FOREIGN, "padding": "x" * 30_000},
    ],
)
def test_a_token_names_its_tenant(claims: dict[str, object]) -> None:
    """By a claim, in one that is longer than a block, too."""
    assert found(f"Authorization: Bearer {token(claims)}") == [("tenant-id", FOREIGN)]


@each_case(
    "text",
    [
        f'<property name="MSIP_Label_{PUBLIC}_SiteId"><vt:lpwstr>{FOREIGN}</vt:lpwstr></property>',
        f"msip_labels: MSIP_Label_{PUBLIC}_Enabled=True;\n MSIP_Label_{PUBLIC}_SiteId={FOREIGN};",
        f'"MSIP_Label_{PUBLIC}_SiteId": "{FOREIGN.upper()}"',
        f'<clbl:label id="{{{PUBLIC}}}" enabled="1" method="Standard" siteId="{{{FOREIGN}}}" removed="0"/>',
        f'&lt;label id="{{{PUBLIC}}}" siteId="{{{FOREIGN}}}"/&gt;',
    ],
)
def test_a_site_of_a_label_is_found(text: str) -> None:
    """In office files and in mail, as one finding."""
    assert found(text) == [("label-site", FOREIGN)]


def test_without_settings_every_tenant_is_foreign() -> None:
    """Also one that a policy would name public."""
    found = SearchDetector(TenantSearch(Policy())).matches(f"tenantId: {PUBLIC}".encode(), "")
    assert [one.value for one in found] == [PUBLIC]

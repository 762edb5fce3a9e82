"""The checkout as a module."""

from orrery.runtime.module import Command, Module, Named

MODULE = Module(
    "checkout",
    sections=(
        Named("checkout", "orrery.checkout.settings:CheckoutSettings"),
        Named("sites", "orrery.checkout.settings:SitesSettings"),
    ),
    secrets=(
        Named("processor_api_key", "orrery.checkout.secrets:API_KEY"),
        Named("webhook_signing_secret", "orrery.checkout.secrets:SIGNING_SECRET"),
        Named("access_service_token", "orrery.checkout.secrets:SERVICE_TOKEN"),
    ),
    reads=("orrery.runtime.settings:ServerSettings",),
    ports=(
        "orrery.ports.processor:Processor",
        "orrery.ports.processor:ProcessorReads",
        "orrery.ports.processor:ProcessorWrites",
        "orrery.ports.processor:EventReader",
    ),
    needs=("orrery.approvals.approvals:Approvals",),
    provides=(
        "orrery.checkout.build:CheckoutDomain",
        "orrery.ports.seller:Seller",
        "orrery.ports.sessions:SessionFinder",
    ),
    prefixes=(
        "access:",
        "access-end:",
        "access-browsers:",
        "access-by-browser:",
        "access-by-email:",
        "access-by-time:",
        "access-generation",
        "attempt:",
        "checkout-creation-outage",
        "checkout-drift",
        "checkout-untrusted-proxy",
        "erased-session:",
        "event:",
        "imported:",
        "journal:",
        "offer:",
        "offer-address:",
        "own-session:",
        "pending:",
        "preflight:",
        "preflight-left:",
        "receipt:",
        "reconciled",
        "refused-webhooks",
        "taken-back:",
        "unknown-sales",
        "unreadable-event:",
        "verifying:",
    ),
    identity=("checkout.processor_url",),
    commands=(
        Command(
            "today",
            "Show what was sold today, who needs help, and what is broken.",
            "orrery.checkout.cli.today:command",
            whole=True,
        ),
        Command(
            "access",
            "List, show, grant, revoke, change and import access; resend its e-mail.",
            "orrery.checkout.cli.access:group",
        ),
        Command(
            "sales",
            "Show what was sold, what went back, and what is kept, by period and currency.",
            "orrery.checkout.cli.sales:command",
        ),
        Command(
            "checkout",
            "Try, verify and reconcile what is sold at the payment processor.",
            "orrery.checkout.cli.checkout:group",
        ),
        Command(
            "site",
            "Print what the web server of a site needs to keep its practice pages closed.",
            "orrery.checkout.cli.site:group",
        ),
    ),
    build="orrery.checkout.build:build",
)

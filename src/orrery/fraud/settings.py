"""The section `[fraud]` of `orrery.toml`."""

from orrery.runtime.section import Networks, Section


class FraudSettings(Section):
    """Fraud screening (decision 18): addresses and networks of one's own, which are never proposed or blocked."""

    own_addresses: Networks = ()

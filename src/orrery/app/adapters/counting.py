"""The adapters of the live counter, and of what visitors reach."""

from orrery.adapters.ga4 import GoogleAnalytics
from orrery.adapters.public_counter import HttpCounter
from orrery.adapters.public_shop import HttpShops
from orrery.adapters.web_sites import HttpWebSites
from orrery.app.adapters import Adapters
from orrery.live.settings import LiveSettings, MonitorSettings
from orrery.ports.analytics import Analytics
from orrery.ports.counter import Counter
from orrery.ports.shop import Shops
from orrery.ports.tracker import Tracker
from orrery.ports.web_sites import WebSites
from orrery.runtime.settings import ServerSettings


def analytics(adapters: Adapters) -> Analytics:
    live = adapters.settings[LiveSettings]
    return GoogleAnalytics(
        adapters.secrets.reveal("analytics_service_account_key"),
        live.property_id,
        base_url=live.provider_url,
        planet_dimension=live.planet_dimension,
        window_minutes=live.window_minutes,
        clock=adapters.clock,
        trust=adapters.trust,
    )


def counter(adapters: Adapters) -> Counter:
    return HttpCounter(_visitors_address(adapters), adapters.trust)


def shops(adapters: Adapters) -> Shops:
    return HttpShops(_visitors_address(adapters), adapters.trust)


def web_sites(adapters: Adapters) -> WebSites:
    return HttpWebSites(adapters.trust)


def _visitors_address(adapters: Adapters) -> str:
    """Return where visitors reach this deployment: at the public listener, unless another place is named."""
    return adapters.settings[MonitorSettings].base_url or adapters.settings[ServerSettings].address


def tracker(adapters: Adapters) -> Tracker:
    # Each is imported when it is used: a service that does not use it starts sooner and weighs less.
    monitor = adapters.settings[MonitorSettings]
    if monitor.tracker == "github":
        from orrery.adapters.github import GitHubTracker  # noqa: PLC0415  see above

        token = adapters.secrets.reveal("tracker_token")
        return GitHubTracker(monitor.github_url, monitor.repository, token, adapters.trust)
    from orrery.adapters.issue_file import FileTracker  # noqa: PLC0415  see above

    return FileTracker(monitor.file, adapters.clock)

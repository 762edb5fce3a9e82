"""One stand-in of each vendor for a module's tests."""

from tests.support.analytics_provider import module_provider, provider
from tests.support.running_sandbox import box, module_box

__all__ = ["box", "module_box", "module_provider", "provider"]

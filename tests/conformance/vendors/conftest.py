"""The stand-ins that the adapters are held against."""

from tests.sandbox.conftest import box, module_box, module_provider, provider

__all__ = ["box", "module_box", "module_provider", "provider"]

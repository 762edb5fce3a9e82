"""The sandbox's cloud that the adapter and the layer are held against."""

from tests.sandbox.cloud.conftest import by_hand, cloud, layer, made, module_cloud, shared_layer

__all__ = ["by_hand", "cloud", "layer", "made", "module_cloud", "shared_layer"]

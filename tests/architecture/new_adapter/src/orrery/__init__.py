"""The worked example of an adapter, which `./run new adapter` copies."""

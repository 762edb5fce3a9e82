"""The layer outside the gateway's machine: what in the cloud starts a machine that was shut down."""

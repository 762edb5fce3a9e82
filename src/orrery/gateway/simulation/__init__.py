"""What each layer of the gateway's recovery is worth: months of shutdowns, played through in seconds."""

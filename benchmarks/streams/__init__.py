"""One long streamed answer on each protocol, read by the official SDKs and by our wires."""

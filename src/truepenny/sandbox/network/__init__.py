"""The one way out of a sandbox: which addresses may be reached, the proxy, the bridge to it."""

"""The practice cluster: a simulated Kubernetes API with incidents to learn and test on."""

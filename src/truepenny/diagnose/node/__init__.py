"""Reading a node through a debug Job: a privileged pod that enters the node's namespaces."""

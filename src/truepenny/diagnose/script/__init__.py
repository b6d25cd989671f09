"""The tools that run scripts of skills: here, on a host, on a node and in a container."""

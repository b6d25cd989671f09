"""Holding a process by the kernel's Landlock rules and a filter of system calls: no namespaces."""

"""The machine: atomic files, locks, leases, process groups, identity, clock, ids, paths."""

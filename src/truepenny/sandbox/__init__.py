"""Where a process may reach: one plan as data, and the back ends that hold a process to it."""

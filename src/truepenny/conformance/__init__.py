"""The result contract as a suite of cases that any tool which runs commands can be held to."""

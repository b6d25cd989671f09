"""Models: one vocabulary of messages and events, wires, providers, profiles, usage."""

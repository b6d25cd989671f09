"""The agent: the loop, history, sessions, turns, transcript, ledger."""

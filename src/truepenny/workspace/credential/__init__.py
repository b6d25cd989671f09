"""Programs outside of the sandbox that commands may ask for, and the secrets they work with."""

"""The same conversation (N calls of `add`, then an answer) driven by four agent loops."""

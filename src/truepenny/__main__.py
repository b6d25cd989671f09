"""Entry point."""


def main() -> None:
    """Run."""

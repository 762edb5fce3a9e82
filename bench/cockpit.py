"""The cockpit: how long a message's mark-up takes to become text, beside others that do this. Asserts nothing."""

from bench.cockpit_bodies import hostile_bodies
from orrery.runtime.console.terminal import new_console


def main() -> None:
    """Print the parts."""
    console = new_console(soft_wrap=False)
    console.print(hostile_bodies())


if __name__ == "__main__":
    main()

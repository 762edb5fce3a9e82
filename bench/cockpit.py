"""The cockpit: its process, its page, real mailboxes, and mark-up to text beside peers. Asserts nothing."""

from bench.cockpit_bodies import hostile_bodies
from bench.cockpit_mailboxes import of_mailboxes
from bench.cockpit_page import measured
from orrery.runtime.console.terminal import new_console


def main() -> None:
    """Print the parts."""
    console = new_console(soft_wrap=False)
    console.print(measured())
    for table in of_mailboxes():
        console.print(table)
    console.print(hostile_bodies())


if __name__ == "__main__":
    main()

"""`orrery`, and `python -m orrery`."""

from orrery.cli.main import main

if __name__ == "__main__":
    main()

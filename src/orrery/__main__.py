"""`orrery`, and `python -m orrery`."""

from orrery.app.main import main

if __name__ == "__main__":
    main()

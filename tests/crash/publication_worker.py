"""A program that the crash tests start: it publishes in many processes, each killed at another step.

`publication_worker.py file|folder FOLDER BEFORE` publishes into FOLDER/1/blog, FOLDER/2/blog and so on.
"""

import sys
from pathlib import Path, PurePosixPath

from orrery.adapters.published_files import PublishedFiles
from orrery.ports.publications import Material
from tests.crash.killed_steps import kill_at_each_step

CONTENT = b"Hello.\n" * 20_000
FILE = Material({"note.md": CONTENT})
SITE = Material({"a.md": CONTENT, "posts/b.md": CONTENT}, is_folder=True)


def publish(place: Path, what: str) -> None:
    """Publish the file as `posts/note.md`, or the folder as `site`."""
    material, inside = (FILE, "posts/note.md") if what == "file" else (SITE, "site")
    PublishedFiles().write(material, place / "blog", PurePosixPath(inside))


if __name__ == "__main__":
    what, folder, before = sys.argv[1:]
    kill_at_each_step(
        lambda place: publish(place, what), "adapters/published_files.py", Path(folder), Path(before)
    )

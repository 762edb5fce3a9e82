"""The adapter that publishing uses: the files."""

from orrery.adapters.published_files import PublishedFiles
from orrery.app.adapters import Adapters
from orrery.ports.publications import Publications


def publications(_: Adapters) -> Publications:
    return PublishedFiles()

"""Microsoft Graph, wired: its calls, its levers, and what they share."""

from starlette.routing import Route

from orrery.sandbox.graph.api import GraphApi
from orrery.sandbox.graph.calendar import Calendar
from orrery.sandbox.graph.chats import Chats
from orrery.sandbox.graph.levers import Levers
from orrery.sandbox.graph.world import World
from orrery.sandbox.ground import SandboxGround


def graph_routes(ground: SandboxGround, url: str) -> list[Route]:
    """Return the routes; `url` is the address that links in answers begin with."""
    world = World(ground, url)
    chats, calendar = Chats(world), Calendar(world)
    return [*GraphApi(world, chats, calendar).routes(), *Levers(world, chats, calendar).routes()]

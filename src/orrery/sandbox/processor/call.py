"""One checked request to the processor, the argument of every operation."""

from collections.abc import Callable
from dataclasses import dataclass

from orrery.sandbox.processor.forms import Form
from orrery.sandbox.processor.schema import Shape, read_parameters
from orrery.sandbox.processor.world import World
from orrery.sandbox.state import Document


@dataclass(frozen=True, slots=True)
class Call:
    """`params` are typed by the operation's description, `ids` are the path's, `version` is the API version."""

    world: World
    path: str
    ids: dict[str, str]
    params: Document
    version: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One row of the API: `path` has `{names}`; `permission` is what a restricted key must hold."""

    method: str
    path: str
    permission: str
    parameters: Shape
    run: Callable[[Call], Document]


@dataclass(frozen=True, slots=True)
class Pending:
    """A request whose parameters are not checked yet."""

    operation: Operation
    path: str
    ids: dict[str, str]
    form: dict[str, Form]
    version: str

    def read(self, world: World) -> Call:
        """Return the call, or raise the refusal of its first wrong parameter."""
        params = read_parameters(self.operation.parameters, self.form)
        return Call(world, self.path, self.ids, params, self.version)

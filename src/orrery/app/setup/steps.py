"""What `orrery setup` asks, in the order of the modules: each has its questions in `init/setup.toml`."""

import tomllib
from importlib.resources import files

from pydantic import Field

from orrery.app.settings.sections import sections_of
from orrery.runtime.section import Section


class Question(Section):
    """One value: a setting, a secret, or a `note` that only the trials of a step use.

    `setting` is written `section.key`, `section.0.key` in the first of several tables, and `section.key[]` for a
    list. `given` is written without a question, and `random` makes a missing value. `default` and
    `given` may name other settings, as `{sites.0.origin}`. `choices` is a command that lists, as JSON, what may be
    answered; `pattern` is what an answer matches, and `form` its description. `file`: the answer is the name of a
    file with the secret, or at a terminal the text itself; `password`: its hash is kept.
    """

    setting: str = ""
    secret: str = ""
    note: str = ""
    what: str = ""
    where: str = ""
    default: str = ""
    given: str = ""
    pattern: str = ""
    form: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False
    random: bool = False
    file: bool = False
    password: bool = False
    each_mode: bool = False

    @property
    def key(self) -> str:
        """The name of the value in a file of answers."""
        return self.setting or self.secret or self.note

    def asked_in(self, step: "Step", *, live: bool) -> bool:
        """Return whether a pass asks; the live pass asks for what differs between the modes."""
        return not live or self.each_mode or (step.each_mode and bool(self.secret) and not self.random)


class Step(Section):
    """The questions about one part of a deployment, and what must be well once they are answered.

    `wanted` is the question whether the part is wanted at all. `parts` are the beginnings of the parts in the
    findings, and `trials` are commands that must succeed. `each_mode`: live mode has other values. `store`:
    once its questions are answered, the store is made. `secrets`: its secrets are examined at the vendor, too.
    """

    name: str
    title: str
    wanted: str = ""
    before: str = ""
    each_mode: bool = False
    store: bool = False
    secrets: bool = False
    parts: tuple[str, ...] = ()
    trials: tuple[tuple[str, ...], ...] = Field((), alias="try")
    questions: tuple[Question, ...] = Field(alias="ask")


def steps() -> list[Step]:
    """Return the steps of every module; those of no domain come last."""
    packages = dict.fromkeys(kind.__module__.rpartition(".")[0] for kind in sections_of("site").values())
    found: list[Step] = []
    for package in sorted(packages, key=lambda one: one == "orrery.runtime"):
        file = files(package).joinpath("init/setup.toml")
        if file.is_file():
            found += map(Step.model_validate, tomllib.loads(file.read_text(encoding="utf-8"))["step"])
    return found

"""To Do of an account at the sandbox's Microsoft Graph, as its person sees and uses it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.graph import GraphBox
from tests.support.tracks import ANN_A

LISTS = "/me/todo/lists"


@dataclass(frozen=True)
class ToDoAccount:
    """Asks Graph without any library."""

    box: GraphBox
    account: str = ANN_A
    name: str = "Orrery"

    def lists(self) -> list[dict[str, Any]]:
        """Return the lists with the name."""
        with self.box.client(self.account) as web:
            found = web.get(LISTS).raise_for_status().json()["value"]
        return [one for one in found if one["displayName"] == self.name]

    def tasks(self) -> list[dict[str, Any]]:
        """Return the tasks of the lists with the name, with what they are linked with."""
        with self.box.client(self.account) as web:
            return [
                task
                for one in self.lists()
                for task in web.get(
                    f"{LISTS}/{one['id']}/tasks", params={"$expand": "linkedResources", "$top": "1000"}
                )
                .raise_for_status()
                .json()["value"]
            ]

    def complete(self, task_id: str) -> None:
        """Complete a task."""
        with self.box.client(self.account) as web:
            _ = web.patch(
                f"{LISTS}/{self.lists()[0]['id']}/tasks/{task_id}", json={"status": "completed"}
            ).raise_for_status()

    def make(self, title: str, *keys: str) -> None:
        """Make a task by hand, linked with these ids."""
        self.make_all([title], *keys)

    def make_all(self, titles: Sequence[str], *keys: str) -> None:
        """Make tasks by hand, each linked with these ids."""
        path = f"{LISTS}/{self.lists()[0]['id']}/tasks"
        with self.box.client(self.account) as web:
            for title in titles:
                links = [{"externalId": key, "applicationName": "Orrery", "displayName": title} for key in keys]
                _ = web.post(path, json={"title": title, "linkedResources": links}).raise_for_status()

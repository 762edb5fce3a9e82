"""What a git repository holds, and what of it a commit or a push would publish, as sources of the scanner."""

from orrery.adapters.git_objects.history import History
from orrery.adapters.git_objects.hooks_folder import hooks_folder, hooks_folders, main_work_tree
from orrery.adapters.git_objects.message import CommitMessage
from orrery.adapters.git_objects.outgoing import Outgoing
from orrery.adapters.git_objects.staged import Staged

__all__ = ["CommitMessage", "History", "Outgoing", "Staged", "hooks_folder", "hooks_folders", "main_work_tree"]

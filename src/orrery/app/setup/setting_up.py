"""One run of `orrery setup`: asks, writes, tries, and goes on where it was left."""

import re
from collections.abc import Sequence
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.app.settings.reader import load_settings
from orrery.app.setup.answers import AWAY, KEEP, Answers
from orrery.app.setup.deployment_files import DeploymentFiles, random_value
from orrery.app.setup.steps import Question, Step, steps
from orrery.app.setup.trials import OwnCommands, completed_session, has_no_store
from orrery.errors import DependencyFailed, Invalid, OrreryError, words_of
from orrery.runtime.console.tables import note
from orrery.syntax.admin_password import hash_of_new


class SettingUp:
    """`live`: the second pass, which asks for the values that live mode has."""

    def __init__(self, files: DeploymentFiles, answers: Answers, *, live: bool) -> None:
        self.files, self.commands = files, OwnCommands(files)
        self._answers, self._live = answers, live
        self._refused: set[str] = set()

    def run(self) -> str:
        """Do every step that is not done; return the title of the one that is left, or nothing."""
        left_out = self.left_out()
        asked = [step for step in steps() if step.each_mode or not self._live or step in left_out]
        for number, step in enumerate(asked, 1):
            if step.name in self._remembered("done", step):
                if other := self._answered_otherwise(step):
                    note(f"  needs attention  {other}")
                    return step.title
                note(f"[{number}/{len(asked)}] {step.title}: done before.")
            else:
                before = ": left out before." if step.name in self._remembered("not_wanted", step) else ""
                note(f"\n[{number}/{len(asked)}] {step.title}{before}")
                if not self._done(step):
                    return step.title
        return ""

    def left_out(self) -> list[Step]:
        """Return the steps that are asked again because they were not wanted, or not asked yet."""
        return [step for step in steps() if step.wanted and step.name not in self._remembered("done", step)]

    def _done(self, step: Step) -> bool:
        is_configured = bool(self.files.value(step.questions[0]))
        if step.wanted and not self._answers.wants(step, default=is_configured):
            self._remember("not_wanted", step)
            kept = f"{self.files.settings_file} keeps what it has of it, and the" if is_configured else "the"
            note(f"  left out; {kept} same command asks again")
            return True
        if step.before:
            note(self.files.filled(step.before))
        while wrong := self._attempt(step):
            for sentence in wrong:
                note(f"  needs attention  {sentence}")
            if not self._answers.again(step):
                return False
        note("  ok")
        self._remember("done", step)
        return True

    def _attempt(self, step: Step) -> Sequence[str]:
        """Ask and try once; return what is wrong. What was refused, or not tried to the end, is not kept."""
        before = self.files.contents(step.questions)
        wrong: Sequence[str] = ["ended"]
        try:
            wrong = self._asked(step)
            if not wrong:
                # A setting is shown when it is asked for again, and no vendor names which of several was wrong.
                _ = before.pop(self.files.settings_file, None)
                wrong = self._tried(step)
        except OrreryError as error:
            wrong = [str(error)]
        finally:
            if wrong:
                self.files.put_back(before)
                self._refused |= {one.key for one in step.questions if self.files.place(one) in before}
        return wrong

    def _asked(self, step: Step) -> Sequence[str]:
        for question in step.questions:
            self._ask(step, question)
        _ = load_settings(self.files.settings_file)
        if step.store:
            self._make_store()
        secrets = [one.secret for one in step.questions if one.secret and step.secrets]
        return [*self.commands.bad_secrets(secrets), *self.commands.broken(step.parts)]

    def _tried(self, step: Step) -> Sequence[str]:
        if step.store and (when := self.files.memory().get(self._made)):
            # The key with which it was made may have been that of another account.
            self._refuse_sales(f"the store that setup made on {when} has none")
        for words in step.trials:
            ended = self.commands.run(*(self._noted(word) for word in words))
            if ended.code:
                return [ended.sentence]
            note(ended.notes)
        return []

    def _answered_otherwise(self, step: Step) -> str:
        """Return where to change what a file answers otherwise: a wrong value would stop a shop."""
        for question in step.questions:
            given = self._answers.given(question) if question.asked_in(step, live=self._is_live(step)) else ""
            present = self.files.content(question.secret) if question.secret else self.files.value(question)
            if given and ("" if given == AWAY else _kept(question, given)) != present:
                return (
                    f"{question.key}: the file of answers has another value than the one that was tried, "
                    f"and setup changes none of these. Change it in {self.files.place(question)}."
                )
        return ""

    def _ask(self, step: Step, question: Question) -> None:
        present = self.files.value(question)
        if question.given or (question.random and not question.what):
            if not present:
                self.files.write(question, self.files.filled(question.given) or random_value())
            return
        if not question.asked_in(step, live=self._is_live(step)):
            return
        if question.key in self._refused:
            present = ""
        choices = self._choices(question)
        default = self._default(question, present, choices)
        answer = self._answers.answer(self._filled(question), default, choices)
        if not answer:
            if not present and not question.optional:
                raise Invalid(f"{question.key} is missing: {question.what[:1].lower()}{question.what[1:]}.")
            return
        if question.optional and answer == AWAY:
            self.files.take_away(question)
        else:
            self.files.write(question, self._examined(question, answer, choices))
        self._refused.discard(question.key)

    def _examined(self, question: Question, answer: str, choices: Sequence[str]) -> str:
        """Return what is written of an answer; raise `Invalid` for one that cannot be right."""
        if choices and answer not in _ids(choices):
            raise Invalid(f"{question.key}: the processor lists no such price for sale.")
        if question.pattern and not re.fullmatch(question.pattern, answer):
            raise Invalid(f"{question.key}: {question.form}.")
        kept = _kept(question, answer)
        if self._live and self.files.is_of_the_test(question, kept):
            raise Invalid(
                f"{question.key}: this is the value of test mode; live mode has its own, in the same place."
            )
        return kept

    def _default(self, question: Question, present: str, choices: Sequence[str]) -> str:
        default = KEEP if present == "*" else present or self.files.filled(question.default)
        if choices and default not in _ids(choices):
            return ""  # the price of the other mode
        return default or (random_value() if question.random else "")

    def _filled(self, question: Question) -> Question:
        texts = {name: self.files.filled(getattr(question, name)) for name in ("what", "where")}
        return question.model_copy(update=texts)

    def _choices(self, question: Question) -> list[str]:
        if not question.choices:
            return []
        rows = self.commands.listed(*question.choices)
        if not rows:
            raise Invalid("The processor lists no price for sale: make one in its dashboard.")
        return [f"{row['id']} {row['price']} {row.get('product') or ''}".strip() for row in rows]

    def _noted(self, word: str) -> str:
        return word.format(**self.files.memory()) if word.startswith("{") else word

    def _make_store(self) -> None:
        """Make the store of a shop that has sold nothing yet (decision 66)."""
        found = self.commands.run("store", "migrate")
        if found.code == 0:
            return  # it is there
        if not has_no_store(self.files):
            raise DependencyFailed(found.sentence)
        if when := self.files.memory().get(self._made):
            raise Invalid(
                f"The store that setup made on {when} is missing: bring it back with "
                f"{self.files.command('restore SNAPSHOT')}."
            )
        self._refuse_sales("the store of its sales is missing")
        ended = self.commands.run("store", "create")
        if ended.code:
            raise DependencyFailed(ended.sentence)
        self.files.remember({self._made: f"{SystemClock().now():%Y-%m-%d %H:%M} UTC"})
        note(f"  {ended.sentence}")

    @property
    def _made(self) -> str:
        return f"store_{self.files.setting('mode')}"

    def _refuse_sales(self, why: str) -> None:
        if session := completed_session(self.files):
            raise Invalid(
                f"The processor lists a completed session, {session}, and {why}. Bring the store back with "
                f"{self.files.command('restore SNAPSHOT')}; if these sales are not this shop's, type "
                f"{self.files.command('store create')}, or delete the line {self._made} of setup.toml if there "
                "is a store. Then type setup again."
            )

    def _remembered(self, what: str, step: Step) -> list[str]:
        return list(self.files.memory().get(self._list(what, step), []))

    def _remember(self, what: str, step: Step) -> None:
        names = dict.fromkeys([*self._remembered(what, step), step.name])
        self.files.remember({self._list(what, step): list(names)})

    def _list(self, what: str, step: Step) -> str:
        return f"{what}_live" if self._is_live(step) else what

    def _is_live(self, step: Step) -> bool:
        """Return whether a step has values of live mode: the live pass asks whole for others, once left out."""
        return self._live and step.each_mode


def _ids(choices: Sequence[str]) -> set[str]:
    return {one.split()[0] for one in choices}


def _kept(question: Question, answer: str) -> str:
    """Return what is written of an answer."""
    if question.password:
        return hash_of_new(answer)
    if question.file and not answer.startswith("{"):
        try:
            return Path(answer).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(f"{answer} cannot be read: {words_of(error)}.") from None
    return answer

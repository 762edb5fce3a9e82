"""gitleaks' format of rules, read as data. What has no meaning here, or would be lost in silence, is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast, get_args

from orrery.errors import Invalid
from orrery.scanner.detectors.secret_rules import Allowlist, Required, RuleSet, SecretRule, Target
from orrery.scanner.regex import Regex, RegexRefused, of_rule
from orrery.scanner.toml_tables import Table, parsed

_ALL = frozenset({"and", "&&"})
_ANY = frozenset({"", "or", "||"})


@dataclass(frozen=True, slots=True)
class _Need:
    """A rule's need of another, by its id."""

    id: str
    lines: int | None
    columns: int | None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file as it is written: its rules by their ids, each with what it needs, and the file that it extends."""

    name: str
    extends: str = ""
    disabled: tuple[str, ...] = ()
    rules: Mapping[str, SecretRule] = field(default_factory=dict[str, SecretRule])
    needs: Mapping[str, tuple[_Need, ...]] = field(default_factory=dict[str, tuple[_Need, ...]])
    allowlists: tuple[tuple[tuple[str, ...], Allowlist], ...] = ()
    """Each with the ids of the rules that it is for; for all without one."""

    notes: tuple[str, ...] = ()

    def over(self, base: "RuleFile") -> "RuleFile":
        """Return the rules of both files; this one's keys of a rule count before the other one's."""
        missing = [one for one in self.disabled if one not in base.rules]
        kept = {key: rule for key, rule in base.rules.items() if key not in self.disabled}
        rules = kept | {key: _over(rule, kept.get(key)) for key, rule in self.rules.items()}
        notes = [f"{self.name}: the disabled rule {one!a} is not in {base.name}." for one in missing]
        return replace(
            self,
            rules=rules,
            needs={**base.needs, **{key: needs for key, needs in self.needs.items() if needs}},
            allowlists=self.allowlists + base.allowlists,
            notes=(*self.notes, *base.notes, *notes),
        )

    def rule_set(self) -> RuleSet:
        """Return the rules as they are used; raise `Invalid` for one that cannot be."""
        for ids, _ in self.allowlists:
            if missing := next((one for one in ids if one not in self.rules), ""):
                raise Invalid(f"{self.name}: [[allowlists]] is for the rule {missing!a}, which is not there.")
        rules = {key: self._usable(rule) for key, rule in self.rules.items()}
        return RuleSet(tuple(self._with_needs(rule, rules) for rule in rules.values()), self.notes)

    def _usable(self, rule: SecretRule) -> SecretRule:
        where = f"{self.name}: rule {rule.id}"
        if rule.regex is None and rule.path is None:
            raise Invalid(f"{where} has neither a regex nor a path.")
        if rule.regex and rule.group > rule.regex.groups:
            raise Invalid(f"{where} has the secretGroup {rule.group}; its regex has {rule.regex.groups} groups.")
        if rule.regex and rule.regex.search(b""):
            raise Invalid(f"{where} has a regex that an empty text matches.")
        lists = tuple(one for ids, one in self.allowlists if not ids or rule.id in ids)
        return replace(rule, allowlists=rule.allowlists + lists)

    def _with_needs(self, rule: SecretRule, rules: Mapping[str, SecretRule]) -> SecretRule:
        needs = self.needs.get(rule.id, ())
        if missing := next((one.id for one in needs if one.id not in rules), ""):
            raise Invalid(f"{self.name}: rule {rule.id} requires the rule {missing!a}, which is not there.")
        return replace(rule, required=tuple(Required(rules[one.id], one.lines, one.columns) for one in needs))


def read(document: bytes, name: str) -> RuleFile:
    """Return the rules of a file; raise `Invalid`, which names the file and the rule."""
    top = parsed(document, name)
    for ignored in ("title", "description", "minversion"):
        _ = top.text(ignored)
    extends, disabled = _extension(top)
    rules, needs = _rules(top, name)
    lists = [(one.texts("targetrules"), _allowlist(one)) for one in _allowlists(top)]
    top.no_more()
    everywhere = [*(one for _, one in lists), *(one for rule in rules.values() for one in rule.allowlists)]
    notes = [f"{name}: what it allows by commit is not allowed."] if any(one.commits for one in everywhere) else []
    return RuleFile(name, extends, disabled, rules, needs, tuple(lists), tuple(notes))


def _extension(top: Table) -> tuple[str, tuple[str, ...]]:
    extend = top.table("extend")
    if extend is None:
        return "", ()
    if extend.flag("usedefault"):
        raise extend.refusal(
            "has extend.useDefault, which is not known here: name the file itself, by extend.path."
        )
    if extend.text("url"):
        raise extend.refusal("has extend.url, and nothing is fetched: name a file, by extend.path.")
    found = extend.text("path"), extend.texts("disabledrules")
    extend.no_more()
    return found


def _rules(top: Table, name: str) -> tuple[dict[str, SecretRule], dict[str, tuple[_Need, ...]]]:
    rules: dict[str, SecretRule] = {}
    needs: dict[str, tuple[_Need, ...]] = {}
    for number, table in enumerate(top.tables("rules"), 1):
        rule_id = table.text("id").strip()
        if not rule_id:
            raise Invalid(f"{name}: rule number {number} has no id.")
        if not rule_id.isprintable():
            raise Invalid(f"{name}: rule number {number} has an id that cannot be printed.")
        table.where = f"{name}: rule {rule_id}"
        if rule_id in rules:
            raise table.refusal("is there twice.")
        needs[rule_id] = tuple(_need(one) for one in table.tables("required"))
        rules[rule_id] = _rule(rule_id, table)
        table.no_more()
    return rules, needs


def _rule(rule_id: str, table: Table) -> SecretRule:
    _ = table.text("description"), table.texts("tags")
    pattern = table.text("regex")
    keywords = table.texts("keywords")
    return SecretRule(
        rule_id,
        pattern,
        _compiled(table, "regex", pattern),
        _compiled(table, "path", table.text("path")),
        table.count("secretgroup") or 0,
        table.number("entropy"),
        tuple(one.lower().encode() for one in keywords) if all(map(str.isascii, keywords)) else (),
        tuple(_allowlist(one) for one in _allowlists(table)),
        reported=not table.flag("skipreport"),
    )


def _need(table: Table) -> _Need:
    need = _Need(table.text("id"), table.count("withinlines"), table.count("withincolumns"))
    table.no_more()
    return need


def _allowlists(table: Table) -> list[Table]:
    lists = table.tables("allowlists")
    if old := table.table("allowlist"):
        if lists:
            raise table.refusal("has both [allowlist] and [[allowlists]].")
        lists = [old]
    for one in lists:
        one.where = f"{table.where}, allowlist,"
    return lists


def _allowlist(table: Table) -> Allowlist:
    _ = table.text("description")
    condition = table.text("condition").lower()
    if condition not in _ALL | _ANY:
        raise table.refusal("has a condition that is neither AND nor OR.")
    target = table.text("regextarget") or "secret"
    if target not in get_args(Target):
        raise table.refusal("has a regexTarget that is none of secret, match and line.")
    found = Allowlist(
        condition in _ALL,
        _joined(table, "paths"),
        _joined(table, "regexes"),
        cast("Target", target),
        tuple(one.lower().encode() for one in table.texts("stopwords")),
        bool(table.texts("commits")),
    )
    table.no_more()
    if not (found.path or found.regex or found.words or found.commits):
        raise table.refusal("allows nothing: it has no commits, paths, regexes or stopwords.")
    return found


def _joined(table: Table, key: str) -> Regex | None:
    patterns = table.texts(key)
    for pattern in patterns:
        _ = _compiled(table, key, pattern)
    return _compiled(table, key, f"(?:{'|'.join(patterns)})") if patterns else None


def _compiled(table: Table, key: str, pattern: str) -> Regex | None:
    try:
        return of_rule(pattern) if pattern else None
    except RegexRefused as error:
        reason = str(error)
    raise table.refusal(f"cannot be used: its {key} cannot be compiled ({reason}).")


def _over(rule: SecretRule, base: SecretRule | None) -> SecretRule:
    if base is None:
        return rule
    return replace(
        base,
        pattern=rule.pattern or base.pattern,
        regex=rule.regex or base.regex,
        path=rule.path or base.path,
        group=rule.group or base.group,
        entropy=rule.entropy or base.entropy,
        keywords=base.keywords + rule.keywords,
        allowlists=base.allowlists + rule.allowlists,
        reported=base.reported and rule.reported,
    )

"""gitleaks' format of rules: what each key means, and what is refused."""

import os
from pathlib import Path

import pytest

from orrery.errors import Invalid
from orrery.scanner.detectors.secret_format import read
from orrery.scanner.detectors.secret_rules import RuleSet
from orrery.scanner.detectors.secrets import SecretDetector
from orrery.scanner.rules import MOST_BYTES, rules_of
from tests.support.tables import each_case

RULE = '[[rules]]\nid = "key"\nregex = "key_([a-z0-9]{4,})"\n'
OTHER = '[[rules]]\nid = "user"\nregex = "user_([a-z]+)"\n'
ALLOWING = f"{RULE}[[rules.allowlists]]\n"
REQUIRING = f'{OTHER}{RULE}[[rules.required]]\nid = "user"\n'
GLOBAL = "[[allowlists]]\n"


def found(rules: str, text: str, place: str = "a.txt") -> list[str]:
    """Return the rules and secrets that are found in a text."""
    detector = SecretDetector(read(rules.encode(), "rules.toml").rule_set())
    return [f"{one.rule}: {one.value}" for one in detector.matches(text.encode(), place)]


@each_case(
    ("rules", "text", "expected"),
    [
        (RULE, "a key_aaaa and key_bbbb", ["key: aaaa", "key: bbbb"]),
        ('[[rules]]\nid = "whole"\nregex = "key_[a-z]+"\n', "a key_aaaa", ["whole: key_aaaa"]),
        ("[[rules]]\nid = 'lines'\nregex = '\\nkey_[a-z]+\\n'\n", "a\nkey_aaaa\n", ["lines: key_aaaa"]),
        ('[[rules]]\nid = "first"\nregex = "(x)?key_(y)?([a-z]+)"\n', "key_ab", ["first: ab"]),
        ('[[rules]]\nid = "group"\nregex = "(k)ey_([a-z]+)"\nsecretGroup = 2\n', "key_ab", ["group: ab"]),
        (f"{RULE}entropy = 2\n", "key_aabb key_abcd", []),
        (f"{RULE}entropy = 1.9\n", "key_aabb key_abcd", ["key: abcd"]),
        (f'{RULE}keywords = ["OTHER"]\n', "key_aaaa", []),
        (f'{RULE}keywords = ["other", "NO"]\n', "key_aaaa\n\nanOther", ["key: aaaa"]),
        (f'{RULE}keywords = ["Ärger"]\n', "key_aaaa\närger", ["key: aaaa"]),
        (f'{RULE}path = "[.]py$"\n', "key_aaaa", []),
        (f'{RULE}path = "[.]txt$"\n', "key_aaaa", ["key: aaaa"]),
        (f"{RULE}skipReport = true\n", "key_aaaa", []),
        (RULE.replace("regex", "REGEX"), "key_aaaa", ["key: aaaa"]),
        ("[[rules]]\nid = 'wide'\nregex = '(?i)é=\\x{20ac}(\\pL{2})'\n", "É=€àß", ["wide: àß"]),
        ("[[rules]]\nid = 'padded'\nregex = '(?i)[a-z.]{0,9}?key=([a-z]+)'\n", "My.KEY=ab", ["padded: ab"]),
        ("[[rules]]\nid = 'empty'\nregex = '\\n{2}'\n", "a\n\nb", []),
        (
            f"{RULE.replace('key', '(?i)key')}allowlist.stopwords = ['stop']\n",
            "key_STOP key_abcd",
            ["(?i)key: abcd"],
        ),
        ("[[rules]]\nid = 'edges'\nregex = '^key=([a-z]+)$'\n", "key=ab", ["edges: ab"]),
        ("[[rules]]\nid = 'edges'\nregex = '^key=([a-z]+)$'\n", "x\nkey=ab\n", []),
    ],
)
def test_a_rule(rules: str, text: str, expected: list[str]) -> None:
    """A rule finds what its keys say."""
    assert found(rules, text) == expected


@each_case(
    ("allowed", "text", "place", "expected"),
    [
        ('regexes = ["^a+$"]', "key_aaaa key_abaa", "a.txt", ["key: abaa"]),
        ('regexes = ["^y", "^z"]', "key_yaaa key_zaaa key_xaaa", "a.txt", ["key: xaaa"]),
        ('regexes = ["^key_a"]\nregexTarget = "match"', "key_aaaa key_bbbb", "a.txt", ["key: bbbb"]),
        (
            'regexes = ["^no .* way$"]\nregexTarget = "line"',
            "first\nno key_aaaa way\nkey_bbbb",
            "a.txt",
            ["key: bbbb"],
        ),
        ('stopwords = ["STOP"]', "key_astopa key_bbbb", "a.txt", ["key: bbbb"]),
        ('paths = ["^docs/"]', "key_aaaa", "docs/a.txt", []),
        ('paths = ["^docs/"]', "key_aaaa", "src/a.txt", ["key: aaaa"]),
        ('commits = ["a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"]', "key_aaaa", "a.txt", ["key: aaaa"]),
        ('condition = "AND"\npaths = ["docs"]\nregexes = ["^a"]', "key_aaaa", "docs/a", []),
        ('condition = "AND"\npaths = ["docs"]\nregexes = ["^a"]', "key_aaaa", "src/a", ["key: aaaa"]),
        ('condition = "&&"\npaths = ["docs"]\nregexes = ["^a"]', "key_bbbb", "docs/a", ["key: bbbb"]),
        ('condition = "AND"\npaths = ["docs"]\nstopwords = ["b"]', "key_aaaa key_bbbb", "docs/a", ["key: aaaa"]),
        ('condition = "AND"\npaths = ["docs"]\ncommits = ["a94a8fe5cc"]', "key_aaaa", "docs/a", ["key: aaaa"]),
        ('condition = "or"\npaths = ["docs"]\nregexes = ["^a"]', "key_aaaa key_bbbb", "src/a", ["key: bbbb"]),
    ],
)
def test_an_allowlist(allowed: str, text: str, place: str, expected: list[str]) -> None:
    """What an allowlist names is not found: of a rule by its new and its old name, and for all rules."""
    assert found(f"{RULE}[[rules.allowlists]]\n{allowed}\n", text, place) == expected
    assert found(f"{RULE}[rules.allowlist]\n{allowed}\n", text, place) == expected
    assert found(f"{GLOBAL}{allowed}\n{RULE}", text, place) == expected
    assert found(f"[allowlist]\n{allowed}\n{RULE}", text, place) == expected


def test_an_allowlist_for_some_rules() -> None:
    """A list for all rules can name those that it is for."""
    rules = f'{GLOBAL}targetRules = ["key"]\nregexes = ["a"]\n{RULE}{OTHER}'
    assert found(rules, "key_aaaa user_aaaa") == ["user: aaaa"]


@each_case(
    ("nearby", "text", "expected"),
    [
        ("", "key_aaaa", []),
        ("", "key_aaaa\n\n\nuser_a", ["key: aaaa", "user: a"]),
        ("withinLines = 1", "key_aaaa\nuser_a", ["key: aaaa", "user: a"]),
        ("withinLines = 1", "key_aaaa\n\nuser_a", ["user: a"]),
        ("withinColumns = 9", "key_aaaa user_a", ["key: aaaa", "user: a"]),
        ("withinColumns = 9", "key_aaaa  user_a", ["user: a"]),
        ("withinLines = 0\nwithinColumns = 9", "key_aaaa\nuser_a", ["user: a"]),
    ],
)
def test_a_rule_that_requires_another(nearby: str, text: str, expected: list[str]) -> None:
    """It finds what is near enough to a match of the other."""
    assert found(f"{REQUIRING}{nearby}\n", text) == expected


def test_a_required_rule_that_is_not_reported() -> None:
    """It is looked for where another requires it."""
    assert found(REQUIRING.replace(OTHER, f"{OTHER}skipReport = true\n"), "key_aaaa user_a") == ["key: aaaa"]


def test_a_required_rule_for_other_files() -> None:
    """It is looked for in its own files alone."""
    rules = REQUIRING.replace(OTHER, f"{OTHER}path = '[.]py$'\n")
    assert found(rules, "key_aaaa user_a", "a.txt") == []
    assert found(rules, "key_aaaa user_a", "a.py") == ["key: aaaa", "user: a"]


def test_a_rule_for_paths_alone() -> None:
    """It finds a file by its name, once, and a member of an archive by its place."""
    rules = '[[rules]]\nid = "file"\npath = "[.]p12$"\n'
    assert found(rules, "a/b.p12", "a/b.p12") == ["file: a/b.p12"]
    assert found(rules, "its content", "a/b.p12") == []
    assert found(rules, "its content", "a.zip!b.p12") == ["file: a.zip!b.p12"]


def test_a_rule_for_some_paths_and_a_name() -> None:
    """A rule for what is in some files does not search their names; another one does."""
    rules = f'{RULE}path = "key"\n{OTHER}'
    assert found(rules, "key_aaaa_user_b.txt", "key_aaaa_user_b.txt") == ["user: b"]


def test_two_files_with_a_rule_of_the_same_id() -> None:
    """Each of the two finds what it looks for."""
    files = (RULE, RULE.replace("key_", "own_"), f'{RULE.replace("key_", "its_")}keywords = ["no"]\n')
    detector = SecretDetector(sum((read(one.encode(), "rules.toml").rule_set() for one in files), RuleSet()))
    values = [one.value for one in detector.matches(b"own_aaaa key_bbbb its_cccc", "a.txt")]
    assert values == ["aaaa", "bbbb"]


def test_a_generic_rule_gives_way() -> None:
    """What a rule with "generic" in its id finds is told once, where another rule has found it in that line."""
    rules = f'{RULE}[[rules]]\nid = "my-generic-one"\nregex = "=([a-z_]+)"\n'
    assert found(rules, "=key_aaaa") == ["my-generic-one: key_aaaa", "key: aaaa"]
    rules = rules.replace("key_([a-z0-9]{4,})", "key_[a-z0-9]{4,}")
    assert found(rules, "=key_aaaa\n=aaaa") == ["key: key_aaaa", "my-generic-one: aaaa"]


@each_case(
    ("rules", "said"),
    [
        ("a = ", "rules.toml is not TOML (at end of document)."),
        (f"a = {'[' * 5000}", "rules.toml is not TOML"),
        ("\udcff", "rules.toml is not TOML"),
        ("rules = 1", "rules.toml has a wrong rules: it must be tables: [[rules]]."),
        ("rules = [1]", "rules.toml has a wrong rules"),
        (
            "[extend]\nuseDefault = true",
            "rules.toml has extend.useDefault, which is not known here: name the file itself",
        ),
        ("[extend]\nurl = 'x'", "rules.toml has extend.url, and nothing is fetched"),
        ("[extend]\npathh = 'x'", "rules.toml has the unknown key pathh."),
        ("[wrong]", "rules.toml has the unknown key wrong."),
        ('[[rules]]\nregex = "x"', "rules.toml: rule number 1 has no id."),
        (RULE.replace('"key"', '"a\\u001b"'), "rules.toml: rule number 1 has an id that cannot be printed."),
        (RULE + RULE, "rules.toml: rule key is there twice."),
        ('[[rules]]\nid = "x"', "rules.toml: rule x has neither a regex nor a path."),
        (f"{RULE}extra = 1", "rules.toml: rule key has the unknown key extra."),
        (f"{RULE}Regex = 'a'", "rules.toml: rule key has a key twice, in upper and lower case."),
        (f"{RULE}entropy = 'high'", "rules.toml: rule key has a wrong entropy: it must be a number from 0."),
        (f"{RULE}entropy = nan", "rules.toml: rule key has a wrong entropy"),
        (f"{RULE}secretGroup = true", "rules.toml: rule key has a wrong secretgroup"),
        (f"{RULE}secretGroup = 2", "rules.toml: rule key has the secretGroup 2; its regex has 1 groups."),
        (f"{RULE}keywords = 'x'", "rules.toml: rule key has a wrong keywords: it must be a list of strings."),
        (f"{RULE}keywords = [1]", "rules.toml: rule key has a wrong keywords"),
        (f"{RULE}skipReport = 1", "rules.toml: rule key has a wrong skipreport: it must be true or false."),
        (f"{RULE}path = 1", "rules.toml: rule key has a wrong path: it must be a string."),
        (
            RULE.replace("key_", "(?=hidden)"),
            "rules.toml: rule key cannot be used: its regex cannot be compiled (inv",
        ),
        (f"{RULE}path = '('", "rules.toml: rule key cannot be used: its path cannot be compiled (missing ))."),
        (
            RULE.replace("key_", "(?:x{999}){999}"),
            "rules.toml: rule key cannot be used: its regex cannot be compiled",
        ),
        (RULE.replace("key_", "x{2000}"), "rules.toml: rule key cannot be used: its regex cannot be compiled"),
        ("[[rules]]\nid = 'x'\nregex = 'x*'", "rules.toml: rule x has a regex that an empty text matches."),
        (
            f"{RULE}[rules.allowlist]\npaths = ['a']\n{ALLOWING[len(RULE) :]}paths = ['a']",
            "has both [allowlist] and",
        ),
        (f"{RULE}allowlist = 1", "rules.toml: rule key has a wrong allowlist: it must be a table"),
        (ALLOWING, "rules.toml: rule key, allowlist, allows nothing"),
        (f"{ALLOWING}condition = 'XOR'\npaths = ['a']", "has a condition that is neither AND nor OR."),
        (
            f"{ALLOWING}regexTarget = 'file'\npaths = ['a']",
            "has a regexTarget that is none of secret, match and line",
        ),
        (
            f"{ALLOWING}regexes = ['[']",
            "rules.toml: rule key, allowlist, cannot be used: its regexes cannot be compiled",
        ),
        (f"{ALLOWING}paths = ['a']\ntargetRules = ['key']", "has the unknown key targetrules."),
        (
            f"{GLOBAL}targetRules = ['no']\npaths = ['a']",
            "[[allowlists]] is for the rule 'no', which is not there.",
        ),
        (
            f"{RULE}[[rules.required]]\nid = 'no'",
            "rules.toml: rule key requires the rule 'no', which is not there.",
        ),
        (f"{REQUIRING}withinLines = -1", "has a wrong withinlines: it must be a whole number from 0."),
        (f"{REQUIRING}within = 1", "rules.toml: rule key has the unknown key within."),
    ],
)
def test_what_is_refused(rules: str, said: str) -> None:
    """What has no meaning is refused, with the file and the rule, and without what the rule looks for."""
    with pytest.raises(Invalid) as refused:
        _ = read(rules.encode(errors="surrogateescape"), "rules.toml").rule_set()
    assert said in str(refused.value)
    assert "hidden" not in f"{refused.value}{refused.value.__cause__}"


def written(folder: Path, **texts: str) -> Path:
    """Write files of rules, and return the first."""
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    return folder / f"{next(iter(texts))}.toml"


def extended(folder: Path, own: str, base: str, text: str) -> list[str]:
    """Return what is found in a text by a file of rules that extends another."""
    file = written(folder, own=f'[extend]\npath = "base.toml"\n{own}', base=base)
    return [one.value for one in SecretDetector(rules_of(file)).matches(text.encode(), "a.txt")]


def test_a_file_that_extends_another(tmp_path: Path) -> None:
    """The rules of both count, but for those that the file names."""
    base = OTHER + OTHER.replace("user", "name")
    assert extended(tmp_path, f'disabledRules = ["user"]\n{RULE}', base, "key_aaaa user_b name_c") == ["aaaa", "c"]


MORE = "[[rules.required]]\nid = 'user'\n"


@each_case(
    ("own", "base", "text", "expected"),
    [
        ("", "", "key_aaaa", ["aaaa"]),
        ("regex = 'own_([a-z]+)'", "", "key_aaaa own_bbbb", ["bbbb"]),
        ("entropy = 1.5", "entropy = 3", "key_aabb key_abcd", ["abcd"]),
        ("", "entropy = 1.5", "key_aabb key_abcd", ["abcd"]),
        ("path = '[.]txt$'", "path = '[.]py$'", "key_aaaa", ["aaaa"]),
        ("regex = '(k)ey_([a-z]+)'\nsecretGroup = 2", "secretGroup = 1", "key_aaaa", ["aaaa"]),
        ("keywords = ['no']", "keywords = ['other']", "key_aaaa no", ["aaaa"]),
        ("keywords = ['no']", "keywords = ['other']", "key_aaaa other", ["aaaa"]),
        ("skipReport = true", "", "key_aaaa", []),
        ("", "skipReport = true", "key_aaaa", []),
        ("allowlist.regexes = ['a']", "allowlist.regexes = ['b']", "key_aaaa key_bbbb key_cccc", ["cccc"]),
        (MORE, "", "key_aaaa", []),
        ("", MORE, "key_aaaa", []),
        (f"{GLOBAL}regexes = ['a']", f"{GLOBAL}regexes = ['b']", "key_aaaa key_bbbb key_cccc", ["cccc"]),
    ],
)
def test_a_rule_in_both_files(tmp_path: Path, own: str, base: str, text: str, expected: list[str]) -> None:
    """What the file itself says of a rule counts before what the other one says; lists are added."""
    both = extended(tmp_path, f'[[rules]]\nid = "key"\n{own}', f"{OTHER}{RULE}{base}", text)
    assert both == expected


def test_files_that_extend_further_ones(tmp_path: Path) -> None:
    """A file extends two further ones, one through the other, and no third."""
    chain = {f"f{number}": f'[extend]\npath = "f{number + 1}.toml"\n' for number in range(3)}
    rules = rules_of(written(tmp_path, **{**chain, "f2": RULE}))
    assert [one.id for one in rules.rules] == ["key"]
    with pytest.raises(Invalid, match="cannot extend a further one"):
        _ = rules_of(written(tmp_path, **chain, f3=RULE))


def test_what_has_no_effect_is_told(tmp_path: Path) -> None:
    """A commit cannot be allowed, and a rule that is not there cannot be left out: the summary says so."""
    own = f'[extend]\npath = "base.toml"\ndisabledRules = ["no"]\n{ALLOWING}commits = ["a94a8fe5cc"]\n'
    file = written(tmp_path, own=own, base=OTHER)
    assert rules_of(file).notes == (
        f"{file}: what it allows by commit is not allowed.",
        f"{file}: the disabled rule 'no' is not in {tmp_path / 'base.toml'}.",
    )


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A file that is missing or huge is refused by its name, and so are a folder and a pipe."""
    (tmp_path / "huge.toml").write_bytes(b"#" * (MOST_BYTES + 1))
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    for name in ("missing.toml", "folder", "huge.toml", "pipe.toml"):
        with pytest.raises(Invalid, match=f"^The rules {tmp_path / name} cannot be read: "):
            _ = rules_of(tmp_path / name)

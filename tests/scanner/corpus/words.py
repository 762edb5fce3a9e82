"""What the corpus is searched for: a made-up watch-list, and two made-up tenants."""

from orrery.scanner.policy import Policy, Term

INTERNAL = "3f1c9a52-7d4e-4b60-9a1f-2c5e8d7b6a90"
PUBLIC = "00000000-0000-4000-8000-0000000000b0"
FOREIGN = "b7e0c3d4-12ab-4f5e-8c9d-0a1b2c3d4e5f"
LABEL = "5d7c1f08-66a2-4e8b-b3f4-9e0d1c2b3a4f"

POLICY = Policy(
    public_tenants=frozenset({PUBLIC}),
    internal_tenants=frozenset({INTERNAL}),
    addresses=frozenset({"ann@corp.example"}),
    domains=frozenset({"corp.example"}),
    terms=(
        Term("person", "Ada Quillfeather"),
        Term("person", "Þóra Sigurðardóttir"),
        Term("person", "Иван Петренко"),
        Term("person", "山田太郎"),
        Term("customer", "Northwind Traders"),
        Term("customer", "Zeltha"),
        Term("customer", "Müller & Söhne"),
        Term("project", "Blue Heron"),
        Term("domain", "quasarnet.example"),
        Term("address", "ada@quillfeather.example"),
    ),
)

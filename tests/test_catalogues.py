"""Every message exists in every language, and the compiled catalogues are those of the written ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from catalogues import LANGUAGES, Domain, compiled, domains, problems, template

EACH = [
    pytest.param(domain, language, id=f"{domain.package}-{language}") for domain in domains() for language in LANGUAGES
]


@pytest.mark.parametrize(("domain", "language"), EACH)
def test_a_catalogue_has_no_message_untranslated_unused_or_with_other_places(domain: Domain, language: str) -> None:
    """`python tests/support/catalogues.py` brings the entries up to date; the words are for a person."""
    assert list(problems(domain, language)) == []


@pytest.mark.parametrize(("domain", "language"), EACH)
def test_the_compiled_catalogue_is_current(domain: Domain, language: str) -> None:
    """What the program reads is what was written."""
    if len(template(domain)):
        assert domain.mo(language).read_bytes() == compiled(domain, language)


@pytest.mark.parametrize("domain", [pytest.param(domain, id=domain.package) for domain in domains()])
def test_every_message_is_a_literal_so_that_it_can_be_extracted(domain: Domain) -> None:
    """A message that is put together, or formatted before it is looked up, has no translation."""
    assert list(_not_literal(domain)) == []


def _not_literal(domain: Domain) -> Iterator[str]:
    for path in sorted(domain.folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"_", "N_", "n_"}:
                first = node.args[0] if node.args else None
                ready_made = isinstance(first, ast.Attribute) and first.attr == "msgid"
                if path.name != "messages.py" and not ready_made and not isinstance(first, ast.Constant):
                    yield f"{path.relative_to(domain.folder)}:{node.lineno}"


@pytest.mark.parametrize("domain", [pytest.param(domain, id=domain.package) for domain in domains()])
def test_no_message_stands_inside_a_formatted_string(domain: Domain) -> None:
    """There it is not seen by what extracts them."""
    hidden = [
        f"{path.relative_to(domain.folder)}:{call.lineno}"
        for path in sorted(domain.folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"_", "N_", "n_"}
    ]
    assert hidden == []

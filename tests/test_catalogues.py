"""Every message exists in every language, and the compiled catalogues are those of the written ones."""

from __future__ import annotations

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

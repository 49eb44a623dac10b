"""The core's own embedder, without any model: texts are alike where they share words and parts of words.

Words and their runs of 3 and 4 letters are counted in 512 places that a checksum chooses (feature hashing, Weinberger
et al. 2009). Nothing is learned and no word is known, but for those of Italian and English that say nothing alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from zlib import crc32

from myclaw_core.embedding.embedder import prepared
from myclaw_core.embedding.vector import Vector
from myclaw_core.types.text import Text

__all__ = ["HashedEmbedder"]

_DIMENSION = 512
_SIZES = (3, 4)
_WORD_WEIGHT = 0.5
_WORD = re.compile(r"[^\W_]+")
_SCRAMBLE = 0x9E3779B1
"""An odd number (Knuth's multiplicative hashing): sign and place are taken from bits that a checksum mixes little."""
_SILENT = frozenset(
    """
    a about all an and any are as at be been by can could did do does each every for from had has have he her his how i
    if in into is it its me my no not of on or our out over per she so some than that the their them then there these
    they this those to up was we were what when where which who will with would you your
    abbiamo ad agli ai al alla alle allo che chi ci come con cosa cui da dagli dai dal dalla dalle dei del dell della
    delle dello di dove e ed era gli ha hai hanno ho i il in la le li lo ma mi mia mie miei mio ne nei nel nell nella
    nelle nello non o od ogni per piu quale quali quando quanta quante quanti quanto quella quelle quelli quello questa
    queste questi questo se si sono su sua sue sugli sui sul sulla sulle suo suoi ti tra tu tua tuo un una uno vi
    """.split()  # noqa: SIM905 - prose is read more easily than a list
)
_WORDS_KEPT = 500


class HashedEmbedder:
    """Compares by letters; knows no synonyms and no translations."""

    name = "core"
    model = "core/hashed-1"
    dimension = _DIMENSION
    similar_from = 0.64

    def missing(self) -> Text | None:
        """Return `None`: nothing is needed."""
        return None

    async def embed_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of `texts`, in order; all 0 for a text without a word that says something."""
        return [self._vector(text) for text in texts]

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the same as `embed_queries`."""
        return await self.embed_queries(texts)

    async def close(self) -> None:
        """Do nothing."""

    def _vector(self, text: str) -> Vector:
        numbers = [0.0] * _DIMENSION
        for word in _words(prepared(text)):
            for part, weight in _parts(word):
                mixed = crc32(part.encode()) * _SCRAMBLE & 0xFFFFFFFF
                numbers[mixed >> 16 & (_DIMENSION - 1)] += weight if mixed >> 31 else -weight
        return Vector.of(self.model, numbers)


def _words(text: str) -> Sequence[str]:
    """Return the words that say something, without case and accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return [word for word in _WORD.findall(plain) if word not in _SILENT][:_WORDS_KEPT]


def _parts(word: str) -> Iterator[tuple[str, float]]:
    """Yield the word and its runs of letters with their weights; a long word counts little more than a short one."""
    yield f"={word}", _WORD_WEIGHT
    edged = f" {word} "
    runs = [edged[start : start + size] for size in _SIZES for start in range(len(edged) - size + 1)]
    for run in runs:
        yield run, len(runs) ** -0.5

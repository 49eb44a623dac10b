"""A signature stands for exactly these bytes under exactly this key."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from signed_neurons import KEY, neuron_files

from myclaw_core.errors import StoreError
from myclaw_core.neurons.normal import NEURON_FILES
from myclaw_core.neurons.signing import digest_of, framed, neuron_key, sign, verify

DATA = st.binary(max_size=40)
TRIPLES = st.tuples(DATA, DATA, DATA)
SETS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), DATA, max_size=4)


def triple(data: tuple[bytes, bytes, bytes]) -> dict[str, bytes]:
    return dict(zip(NEURON_FILES, data, strict=True))


@given(TRIPLES, TRIPLES)
@example((b"ab", b"", b""), (b"a", b"b", b""))
@example((b"", b"x", b""), (b"", b"", b"x"))
def test_no_two_different_neurons_give_the_same_input(
    one: tuple[bytes, bytes, bytes], other: tuple[bytes, bytes, bytes]
) -> None:
    """Nor does moving bytes from one file to the next."""
    assert (framed(triple(one)) == framed(triple(other))) == (one == other)


@given(DATA, st.data())
def test_bytes_moved_between_files_give_another_input(data: bytes, draw: st.DataObject) -> None:
    """The concatenation is the same each time, the input never."""
    cuts = st.tuples(*2 * [st.integers(0, len(data))]).map(sorted)
    one, other = draw.draw(cuts), draw.draw(cuts)
    inputs = {framed(triple((data[:a], data[a:b], data[b:]))) for a, b in (one, other)}
    assert len(inputs) == (1 if one == other else 2)


@given(SETS, SETS)
@example({"ab": b""}, {"a": b"b"})
@example({"a": b"", "b": b""}, {"a": b"\0" * 7 + b"\1b" + b"\0" * 8})
def test_names_are_part_of_the_input(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    """Any set of files, also one that is no neuron."""
    assert (framed(one) == framed(other)) == (one == other)


@given(SETS)
def test_the_input_can_be_taken_apart_again(files: dict[str, bytes]) -> None:
    """So it is the input of these files only."""
    rest, parts = framed(files).removeprefix(b"myclaw neuron signature 1\n"), []
    while rest:
        end = 8 + int.from_bytes(rest[:8], "big")
        parts.append(rest[8:end])
        rest = rest[end:]
    assert {name.decode(): data for name, data in zip(parts[::2], parts[1::2], strict=True)} == files


def test_the_signature_is_the_hmac_of_the_input() -> None:
    """Whatever order the files come in; the digest needs no key."""
    files = neuron_files()
    backwards = dict(reversed(files.items()))

    assert sign(files, KEY) == hmac.digest(KEY, framed(files), "sha256").hex() == sign(backwards, KEY)
    assert digest_of(files) == hashlib.sha256(framed(files)).hexdigest()
    assert digest_of(files) == digest_of(backwards)


@pytest.mark.parametrize("wrong", ["", "0" * 64, "é" * 64, "\udcff", "x" * 10_000])
def test_only_the_signature_itself_verifies(wrong: str) -> None:
    """Any other text is just wrong."""
    files = neuron_files()

    assert verify(files, sign(files, KEY), KEY)
    assert not verify(files, wrong, KEY)
    assert not verify(files, sign(files, KEY).upper(), KEY)
    assert not verify(files, sign(files, KEY), bytes(32))
    assert not verify({**files, "body.py": b""}, sign(files, KEY), KEY)


@pytest.mark.parametrize("key", [b"", KEY[:-1], KEY + b"\0"])
def test_a_key_of_another_length_signs_nothing(key: bytes) -> None:
    """A zero more would give the same HMAC."""
    with pytest.raises(ValueError, match="32 bytes"):
        sign(neuron_files(), key)


def test_the_key_is_made_at_its_first_use(tmp_path: Path) -> None:
    """32 random bytes, for its owner only, the same from then on."""
    key = neuron_key(tmp_path)
    path = tmp_path / "neuron.key"

    assert (len(key), path.stat().st_mode & 0o777) == (32, 0o600)
    assert neuron_key(tmp_path) == key == path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["neuron.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610, 0o601])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    """It may be known to them."""
    neuron_key(tmp_path)
    (tmp_path / "neuron.key").chmod(mode)

    with pytest.raises(StoreError, match="read by others"):
        neuron_key(tmp_path)


@pytest.mark.parametrize("data", [b"", b"k" * 31, b"k" * 33, b"k" * 1_000])
def test_a_key_of_a_wrong_length_is_refused_and_kept(tmp_path: Path, data: bytes) -> None:
    """Nothing is put in its place."""
    path = tmp_path / "neuron.key"
    path.write_bytes(data)
    path.chmod(0o600)

    with pytest.raises(StoreError, match="not a key of 32 bytes"):
        neuron_key(tmp_path)
    assert path.read_bytes() == data


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_no_key(tmp_path: Path, is_there: bool) -> None:
    """Nor is one made where it points to."""
    target = tmp_path / "target"
    if is_there:
        target.write_bytes(KEY)
        target.chmod(0o600)
    (tmp_path / "neuron.key").symlink_to(target)

    with pytest.raises(StoreError, match=r"neuron\.key"):
        neuron_key(tmp_path)
    assert target.exists() == is_there

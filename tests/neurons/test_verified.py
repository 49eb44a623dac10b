"""The bytes that come back as verified are bytes that were signed, whatever happens meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signed_neurons import BODY, KEY, MANIFEST, neuron_files, write_neuron

from myclaw_core.errors import EffectChangedError, UsageError
from myclaw_core.neurons.signing import digest_of
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, neuron_names, verified, verify_folders

LOADS = 2_000


def reason_of(found: VerifiedNeuron | Quarantined) -> str:
    assert isinstance(found, Quarantined)
    return str(found.reason)


def test_a_signed_neuron_comes_with_its_bytes(tmp_path: Path) -> None:
    """They cannot be changed on the way to where they are executed."""
    found = verified(write_neuron(tmp_path / "neurons" / "word_count"), KEY)

    assert isinstance(found, VerifiedNeuron)
    assert (found.name, found.manifest.version) == ("word_count", "1.0.0")
    assert found.files == neuron_files()
    assert found.digest == digest_of(neuron_files())
    with pytest.raises(TypeError):
        found.files["body.py"] = b""  # type: ignore[index]


def test_a_home_behind_a_link_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The links that are refused are those among the neurons; the folder may be given from where one stands, too."""
    write_neuron(tmp_path / "real" / "neurons" / "word_count")
    (tmp_path / "home").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path)

    assert isinstance(verified(Path("home/neurons/word_count"), KEY), VerifiedNeuron)


def swap_until(stop: threading.Event, folder: Path, bodies: tuple[bytes, ...]) -> None:
    """Put other bodies in place, and after each the signed one: by renaming, by writing into the file, by a link."""
    aside, target = folder.parent.parent / "aside", folder / "body.py"

    def rename(body: bytes) -> None:
        aside.write_bytes(body)
        aside.replace(target)

    def linger() -> None:
        """Leave the signed body there for a load or two."""
        for _ in range(20):
            target.stat()

    while not stop.is_set():
        for body in bodies:
            rename(body)
            rename(BODY)
            linger()
            target.write_bytes(body)
            target.write_bytes(BODY)
            linger()
        aside.symlink_to("/etc/hostname")
        aside.replace(target)
        rename(BODY)


def test_no_unsigned_byte_is_ever_verified_while_a_thread_swaps_the_body(tmp_path: Path) -> None:
    """2,000 loads: some see the signed body, none another one as verified."""
    folder = write_neuron(tmp_path / "neurons" / "word_count")
    evil = (BODY.replace(b"len", b"eva"), b"import os\n" + BODY, BODY[:-1], b"")
    stop = threading.Event()
    swapper = threading.Thread(target=swap_until, args=(stop, folder, evil))
    swapper.start()
    try:
        loads = [verified(folder, KEY) for _ in range(LOADS)]
    finally:
        stop.set()
        swapper.join()

    seen = [load.files for load in loads if isinstance(load, VerifiedNeuron)]
    assert [files for files in seen if files != neuron_files()] == []
    assert len(loads) == LOADS
    assert 0 < len(seen) < LOADS
    assert isinstance(verified(folder, KEY), VerifiedNeuron)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"capabilities: []", b"capabilities: []\ncapabilities: [llm]", "the key capabilities stands twice"),
        (b"capabilities: []", b"capabilities: !!python/object/apply:os.system [id]", "tags such as"),
        (b"capabilities: []", b"capabilities: &a []\nmay_call: *a", "anchors and aliases"),
        (b"capabilities: []", b"capabilities: []\non: []", "must stand in quotes"),
        (b"capabilities: []", b"capabilities: [no]", "could mean something else"),
        (b"capabilities: []", b"capabilities: [root]", "no capability"),
        (b"capabilities: []", b"capabilities: []\nadmin: true", "unknown key admin"),
        (b"capabilities: []", b"capabilities: " + b"[" * 500 + b"]" * 500, "too deep or too long"),
        (b"name: word_count", b"name: Word_count", "must have this form: 3 to 41 lower-case letters, digits and _"),
        (
            b"name: word_count",
            "name: word_c\u043eunt".encode(),
            "must have this form: 3 to 41 lower-case letters, digits and _",
        ),
        (b"name: word_count", b"name: line_count", "differs from the folder's"),
        (b"version: 1.0.0\n", b"", "the key version is missing"),
        (b"{type: object}", b"{$ref: 'file:///etc/passwd'}", "refers to another place"),
        (b"Count words.", b"\xff", "not UTF-8"),
    ],
)
def test_a_hostile_manifest_is_put_aside_even_when_signed(tmp_path: Path, old: bytes, new: bytes, problem: str) -> None:
    """A signature says who, not what; one line says where the manifest is wrong."""
    assert old in MANIFEST
    files = {**neuron_files(), "manifest.yaml": MANIFEST.replace(old, new, 1)}

    assert problem in reason_of(verified(write_neuron(tmp_path / "neurons" / "word_count", files), KEY))


def test_a_manifest_that_is_not_signed_is_not_even_read(tmp_path: Path) -> None:
    """What nobody vouches for reaches no parser."""
    folder = write_neuron(tmp_path / "neurons" / "word_count")
    (folder / "manifest.yaml").write_bytes(b"a: &a [*a, *a]")

    assert "signature does not match" in reason_of(verified(folder, KEY))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["body.py", "test_birth.py", "manifest.yaml", "signature.hmac"]), st.binary(max_size=90))
def test_other_bytes_in_any_file_are_never_verified(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes
) -> None:
    """Whatever they are, there is a reason and no error."""
    folder = write_neuron(tmp_path_factory.mktemp("any") / "neurons" / "word_count")
    (folder / name).write_bytes(data)

    assert reason_of(verified(folder, KEY))


def test_every_entry_of_the_folder_is_told(tmp_path: Path) -> None:
    """Sorted by name, also what is no folder; no folder of neurons is none."""
    neurons, key = tmp_path / "neurons", tmp_path / "neuron.key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    assert neuron_names(neurons) == list(verify_folders(neurons, key)) == []
    write_neuron(neurons / "word_count")
    write_neuron(neurons / "line_count")
    (neurons / "stray").write_bytes(b"")

    found = list(verify_folders(neurons, key))
    assert [(each.name, isinstance(each, VerifiedNeuron)) for each in found] == [
        ("line_count", True),
        ("stray", False),
        ("word_count", True),
    ]
    assert [each.name for each in verify_folders(neurons, key, "word_count")] == ["word_count"]
    with pytest.raises(UsageError, match="there is no neuron other"):
        list(verify_folders(neurons, key, "other"))


def test_without_a_usable_key_nothing_is_verified_and_none_is_made(tmp_path: Path) -> None:
    """A new key would vouch for nothing; a key that others can read vouches for nothing either."""
    neurons, key = tmp_path / "neurons", tmp_path / "neuron.key"
    write_neuron(neurons / "word_count")

    assert "there is no key" in reason_of(next(verify_folders(neurons, key)))
    assert not key.exists()
    key.write_bytes(KEY)
    key.chmod(0o644)
    assert "can be read by others" in reason_of(next(verify_folders(neurons, key)))
    key.write_bytes(KEY[:-1])
    key.chmod(0o600)
    assert "not a key" in reason_of(next(verify_folders(neurons, key)))
    key.unlink()
    key.symlink_to("nowhere")
    assert "neuron.key" in reason_of(next(verify_folders(neurons, key)))


def test_a_linked_folder_of_neurons_is_not_looked_into(tmp_path: Path) -> None:
    """It could be changed where nobody watches."""
    write_neuron(tmp_path / "elsewhere" / "word_count")
    (tmp_path / "neurons").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(EffectChangedError, match="is now a link"):
        neuron_names(tmp_path / "neurons")

"""Whatever is done to the folder of a neuron puts it aside with the reason (security.md, row 5)."""

from __future__ import annotations

import hmac
import os
import py_compile
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from signed_neurons import BODY, KEY, MANIFEST, neuron_files, signature_of, write_neuron

from myclaw_core.neurons.signing import digest_of, sign
from myclaw_core.neurons.types import VerifiedNeuron
from myclaw_core.neurons.verified import Quarantined, verified

FILES = ("body.py", "test_birth.py", "manifest.yaml", "signature.hmac")
MISMATCH = "the signature does not match"
FOREIGN = "does not belong there"
NO_SIGNATURE = "is no signature"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a signed neuron, beside another one."""
    write_neuron(tmp_path / "neurons" / "line_count")
    return write_neuron(tmp_path / "neurons" / "word_count")


def signature(folder: Path) -> bytes:
    return (folder / "signature.hmac").read_bytes()


def flip(name: str, at: int) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[at] ^= 1
        (folder / name).write_bytes(data)

    return tamper


def append(name: str, more: bytes) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes() + more)

    return tamper


def put(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(data) and None


def take(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def swap_files(folder: Path) -> None:
    body, tests = (folder / "body.py").read_bytes(), (folder / "test_birth.py").read_bytes()
    (folder / "body.py").write_bytes(tests)
    (folder / "test_birth.py").write_bytes(body)


def move_bytes_between_files(folder: Path) -> None:
    """Keep the concatenation of the files the same."""
    body, tests = (folder / "body.py").read_bytes(), (folder / "test_birth.py").read_bytes()
    (folder / "body.py").write_bytes(body + tests)
    (folder / "test_birth.py").write_bytes(b"")


def take_files_of_the_other(folder: Path) -> None:
    for name in FILES:
        shutil.copy(folder.parent / "line_count" / name, folder / name)


def take_signature_of_the_other(folder: Path) -> None:
    shutil.copy(folder.parent / "line_count" / "signature.hmac", folder)


def plant_stale_bytecode(folder: Path) -> None:
    """As measured: same time and size as body.py, other code; the importer would run it."""
    evil = folder.parent / "evil.py"
    evil.write_bytes(b"X = 1\n".ljust(len(BODY), b"#"))
    status = (folder / "body.py").stat()
    os.utime(evil, ns=(status.st_atime_ns, status.st_mtime_ns))
    py_compile.compile(str(evil), str(folder / "__pycache__" / "body.cpython-311.pyc"))


def link_file(name: str) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        (folder / name).rename(folder.parent / "aside")
        (folder / name).symlink_to(folder.parent / "aside")

    return tamper


def link_folder(folder: Path) -> None:
    folder.rename(folder.parent.parent / "aside")
    folder.symlink_to(folder.parent.parent / "aside")


def link_neurons(folder: Path) -> None:
    folder.parent.rename(folder.parent.parent / "aside")
    folder.parent.symlink_to(folder.parent.parent / "aside")


def hard_link(name: str) -> Callable[[Path], None]:
    return lambda folder: os.link(folder / name, folder.parent / "second")


def fifo(name: str) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return tamper


def unix_socket(folder: Path) -> None:
    (folder / "body.py").unlink()
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{opened}/body.py")  # a path of its own may be too long
    os.close(opened)


def file_as_folder(name: str) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).mkdir()

    return tamper


def rename(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: (folder / old).rename(folder / new) and None


def folder_is_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(BODY)


def sign_with_another_key(folder: Path) -> None:
    (folder / "signature.hmac").write_bytes(signature_of(neuron_files(), bytes(32)))


def rotate(folder: Path) -> None:
    """Sign again with the next key while the one in force is still the old one."""
    again = sign(neuron_files(), b"n" * 32)
    (folder / "signature.hmac").write_bytes(again.encode() + b"\n")


def sign_crlf(folder: Path) -> None:
    write_neuron(folder, neuron_files(body=BODY.replace(b"\n", b"\r\n")))


def sign_trailing_blanks(folder: Path) -> None:
    write_neuron(folder, neuron_files(body=BODY.replace(b":\n", b": \n")))


def sign_another_name(folder: Path) -> None:
    write_neuron(folder, neuron_files("line_count"))


def upper_case_signature(folder: Path) -> None:
    (folder / "signature.hmac").write_bytes(signature(folder).upper())


def many_files(folder: Path) -> None:
    for number in range(300):
        (folder / f"f{number:03}").touch()


def sparse(name: str, size: int) -> Callable[[Path], None]:
    """A file that is as long as nobody wants to read, and takes no place."""
    return lambda folder: os.truncate(folder / name, size)


def links_of_a_journal(folder: Path) -> None:
    """The runtime would write into the other file."""
    (folder.parent / "elsewhere").write_bytes(b"x")
    os.link(folder.parent / "elsewhere", folder / "journal.sqlite")


def sign_plainly(folder: Path) -> None:
    """Sign the files one after the other, without their names and lengths."""
    made = hmac.new(KEY, b"".join(neuron_files().values()), "sha256").hexdigest()
    (folder / "signature.hmac").write_bytes(made.encode() + b"\n")


def sign_digest(folder: Path) -> None:
    """Put what needs no key in place of what does."""
    (folder / "signature.hmac").write_bytes(digest_of(neuron_files()).encode() + b"\n")


def sign_other_names(folder: Path) -> None:
    """Sign the same bytes under the names of each other."""
    body, tests, manifest = neuron_files().values()
    (folder / "signature.hmac").write_bytes(
        signature_of({"body.py": tests, "test_birth.py": body, "manifest.yaml": manifest})
    )


def sign_a_part(folder: Path) -> None:
    """Sign the manifest and the tests only."""
    files = neuron_files()
    del files["body.py"]
    (folder / "signature.hmac").write_bytes(signature_of(files))


def sign_a_long_body(folder: Path) -> None:
    write_neuron(folder, neuron_files(body=BODY + b"#" * (64 << 10)))


def sign_another_encoding(folder: Path) -> None:
    write_neuron(folder, neuron_files(manifest=MANIFEST.decode().encode("utf-16")))


def sign_an_empty_manifest(folder: Path) -> None:
    write_neuron(folder, neuron_files(manifest=b""))


def sign_two_manifests(folder: Path) -> None:
    write_neuron(folder, neuron_files(manifest=MANIFEST + b"---\n" + MANIFEST))


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a flipped bit in the body": (flip("body.py", 20), MISMATCH),
    "a flipped bit in the tests": (flip("test_birth.py", 20), MISMATCH),
    "a flipped bit in the manifest": (flip("manifest.yaml", 50), MISMATCH),
    "a flipped bit in the signature": (flip("signature.hmac", 3), "signature"),
    "a byte more": (append("body.py", b"\n"), MISMATCH),
    "a NUL more": (append("body.py", b"\0"), MISMATCH),
    "an empty body": (put("body.py", b""), MISMATCH),
    "a body of another": (put("body.py", b"def run(ctx, args):\n    return 1\n"), MISMATCH),
    "swapped files": (swap_files, MISMATCH),
    "the same bytes split otherwise": (move_bytes_between_files, MISMATCH),
    "line ends changed": (put("body.py", BODY.replace(b"\n", b"\r\n")), MISMATCH),
    "the files of another neuron": (take_files_of_the_other, "differs from the folder's"),
    "the signature of another neuron": (take_signature_of_the_other, MISMATCH),
    "a signature with another key": (sign_with_another_key, MISMATCH),
    "a rotated key": (rotate, MISMATCH),
    "no signature": (take("signature.hmac"), "not signed"),
    "an empty signature": (put("signature.hmac", b""), NO_SIGNATURE),
    "a truncated signature": (put("signature.hmac", b"ab" * 16 + b"\n"), NO_SIGNATURE),
    "a signature without its line end": (put("signature.hmac", b"a" * 64), NO_SIGNATURE),
    "a signature with more behind it": (append("signature.hmac", b"\n"), NO_SIGNATURE),
    "a signature in other digits": (put("signature.hmac", "١".encode() * 32 + b"\n"), NO_SIGNATURE),
    "a signature in upper case": (upper_case_signature, NO_SIGNATURE),
    "a signature of 1 MB": (put("signature.hmac", b"a" * 1_000_000), "has more than"),
    "a signature that is a folder": (file_as_folder("signature.hmac"), "no ordinary file"),
    "no body": (take("body.py"), "body.py is missing"),
    "no tests": (take("test_birth.py"), "test_birth.py is missing"),
    "no manifest": (take("manifest.yaml"), "manifest.yaml is missing"),
    "a manifest of 1 MB": (put("manifest.yaml", b"#" * 1_000_000), "manifest.yaml has more than"),
    "a further file": (put("json.py", b""), FOREIGN),
    "a hidden file": (put(".bandit", b""), FOREIGN),
    "a file beside the journal": (put("journal.sqlite.py", b""), FOREIGN),
    "a further folder": (file_as_folder("lib"), FOREIGN),
    "stale byte code": (plant_stale_bytecode, "__pycache__ does not belong there"),
    "byte code beside the body": (put("body.pyc", b""), FOREIGN),
    "many files": (many_files, FOREIGN),
    "another case": (rename("body.py", "Body.py"), "Body.py does not belong there"),
    "another case besides": (put("BODY.PY", BODY), FOREIGN),
    "a trailing dot": (put("body.py.", BODY), FOREIGN),
    "a trailing blank": (put("body.py ", BODY), FOREIGN),
    "a name in full width": (put("ｂody.py", BODY), "\\uff42ody.py does not belong there"),
    "a decomposed name": (put("re\u0301sume\u0301.py", BODY), "re\\u0301sume\\u0301.py does not belong there"),
    "a name with an escape": (put("a\x1b[2J", b""), "a\\x1b[2J does not belong there"),
    "a name of raw bytes": (put("b\udcffdy.py", b""), FOREIGN),
    "a linked body": (link_file("body.py"), "body.py is a link"),
    "a linked signature": (link_file("signature.hmac"), "signature.hmac is a link"),
    "a dangling link": (lambda folder: (folder / "journal.sqlite").symlink_to("nowhere"), "journal.sqlite is a link"),
    "a linked folder": (link_folder, "a link or a file, not a folder"),
    "a linked folder of neurons": (link_neurons, "is now a link"),
    "a hard link": (hard_link("body.py"), "hard link"),
    "a hard link to the signature": (hard_link("signature.hmac"), "hard link"),
    "a pipe": (fifo("body.py"), "body.py is no ordinary file"),
    "a pipe as journal": (fifo("journal.sqlite-wal"), "journal.sqlite-wal is no ordinary file"),
    "a socket": (unix_socket, "body.py is no ordinary file"),
    "a folder as body": (file_as_folder("body.py"), "body.py is no ordinary file"),
    "a file as folder": (folder_is_a_file, "a link or a file, not a folder"),
    "no folder": (shutil.rmtree, "no such folder"),
    "another name in the manifest": (sign_another_name, "differs from the folder's, word_count"),
    "signed with other line ends": (sign_crlf, "body.py is not in its normal form"),
    "signed with blanks at the end of a line": (sign_trailing_blanks, "body.py is not in its normal form"),
    "the bits of the body turned round": (put("body.py", BODY[::-1]), MISMATCH),
    "the signature with a line end of DOS": (append("signature.hmac", b"\r"), NO_SIGNATURE),
    "the signature behind a blank": (put("signature.hmac", b" " + signature_of(neuron_files())), NO_SIGNATURE),
    "the signature behind a mark": (
        put("signature.hmac", b"\xef\xbb\xbf" + signature_of(neuron_files())),
        NO_SIGNATURE,
    ),
    "the signature before a NUL": (append("signature.hmac", b"\0"), NO_SIGNATURE),
    "the signature twice": (append("signature.hmac", signature_of(neuron_files())), NO_SIGNATURE),
    "a signature of zeros": (put("signature.hmac", b"0" * 64 + b"\n"), MISMATCH),
    "a digest as signature": (sign_digest, MISMATCH),
    "a signature without names and lengths": (sign_plainly, MISMATCH),
    "a signature under other names": (sign_other_names, MISMATCH),
    "a signature of a part": (sign_a_part, MISMATCH),
    "a body that is longer than can be": (sparse("body.py", 1 << 40), "body.py has more than"),
    "a signature that is longer than can be": (sparse("signature.hmac", 1 << 40), "signature.hmac has more than"),
    "a body cut short": (sparse("body.py", 10), MISMATCH),
    "signed and longer than can be": (sign_a_long_body, "body.py has more than"),
    "signed in another encoding": (sign_another_encoding, "manifest.yaml:1: this is not UTF-8 text"),
    "signed with an empty manifest": (sign_an_empty_manifest, "manifest.yaml:1: "),
    "signed with two manifests": (sign_two_manifests, "manifest.yaml:"),
    "another case of the manifest": (rename("manifest.yaml", "Manifest.yaml"), FOREIGN),
    "another ending of the manifest": (rename("manifest.yaml", "manifest.yml"), FOREIGN),
    "another ending of the signature": (rename("signature.hmac", "signature.HMAC"), FOREIGN),
    "what an editor leaves": (put("body.py~", BODY), FOREIGN),
    "what an editor keeps open": (put(".body.py.swp", BODY), FOREIGN),
    "what a merge leaves": (put("body.py.orig", BODY), FOREIGN),
    "what a file manager leaves": (put(".DS_Store", b""), FOREIGN),
    "a repository": (file_as_folder(".git"), FOREIGN),
    "a package": (put("__init__.py", b""), FOREIGN),
    "a module that is imported at the start": (put("sitecustomize.py", b""), FOREIGN),
    "a path of modules": (put("body.pth", b"import os\n"), FOREIGN),
    "a compiled module": (put("body.cpython-311-x86_64-linux-gnu.so", b""), FOREIGN),
    "a name with a line end": (put("body.py\n", BODY), "body.py\\n does not belong there"),
    "a name with a blank in front": (put(" body.py", BODY), FOREIGN),
    "a name that runs from right to left": (put("yp.\u202eydob", BODY), "yp.\\u202eydob does not belong there"),
    "a name with a space that is none": (put("bo\u200bdy.py", BODY), "bo\\u200bdy.py does not belong there"),
    "a linked manifest": (link_file("manifest.yaml"), "manifest.yaml is a link"),
    "linked tests": (link_file("test_birth.py"), "test_birth.py is a link"),
    "a hard link to the tests": (hard_link("test_birth.py"), "hard link"),
    "a hard link to the manifest": (hard_link("manifest.yaml"), "hard link"),
    "a journal that is a hard link": (links_of_a_journal, "journal.sqlite"),
    "a journal that is a folder": (file_as_folder("journal.sqlite"), "journal.sqlite is no ordinary file"),
    "a pipe as signature": (fifo("signature.hmac"), "signature.hmac is no ordinary file"),
    "a pipe as manifest": (fifo("manifest.yaml"), "manifest.yaml is no ordinary file"),
}


@pytest.mark.parametrize(("tamper", "reason"), CASES.values(), ids=CASES)
def test_a_folder_that_was_tampered_with_is_put_aside(
    folder: Path, tamper: Callable[[Path], object], reason: str
) -> None:
    """With one line that says what is wrong."""
    assert isinstance(verified(folder, KEY), VerifiedNeuron)
    tamper(folder)

    found = verified(folder, KEY)
    assert isinstance(found, Quarantined)
    assert found.name == "word_count"
    assert reason in str(found.reason)
    assert "\n" not in str(found.reason)


@pytest.mark.skipif(os.geteuid() != 0, reason="a device can only be made by root")
def test_a_device_is_never_opened(folder: Path) -> None:
    """Not even to look at it."""
    (folder / "body.py").unlink()
    try:
        os.mknod(folder / "body.py", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices cannot be made here")

    found = verified(folder, KEY)
    assert isinstance(found, Quarantined)
    assert "body.py is no ordinary file" in str(found.reason)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_is_named(folder: Path, name: str) -> None:
    """So that its mode can be mended."""
    (folder / name).chmod(0)

    found = verified(folder, KEY)
    assert isinstance(found, Quarantined)
    assert str(found.reason) == f"{name} cannot be read: Permission denied"


@pytest.mark.parametrize("name", ["wc", "Word_count", "word-count", "word_count.", "w" * 42, "mo\u0308bel", "_word"])
def test_a_folder_with_a_name_of_another_form_is_put_aside(tmp_path: Path, name: str) -> None:
    """Whatever its manifest says."""
    found = verified(write_neuron(tmp_path / "neurons" / name), KEY)

    assert isinstance(found, Quarantined)
    assert "the name of the folder" in str(found.reason)


def test_an_older_version_that_was_signed_is_not_the_approved_one(folder: Path) -> None:
    """Its signature holds, so the digest of the last approval decides."""
    old = verified(folder, KEY)
    write_neuron(folder, neuron_files(body=BODY + b"# new\n"))
    new = verified(folder, KEY)
    assert isinstance(old, VerifiedNeuron)
    assert isinstance(new, VerifiedNeuron)
    write_neuron(folder)

    found = verified(folder, KEY, digest=new.digest)
    assert isinstance(found, Quarantined)
    assert "not the version that was approved last" in str(found.reason)
    assert verified(folder, KEY, digest=old.digest) == old


def test_the_journal_that_the_runtime_writes_belongs_there(folder: Path) -> None:
    """With the companions that the database makes beside it."""
    for name in ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "journal.sqlite-journal"):
        (folder / name).write_bytes(b"x")

    assert isinstance(verified(folder, KEY), VerifiedNeuron)

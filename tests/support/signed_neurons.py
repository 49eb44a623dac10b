"""Neurons written and signed by hand, for tests of what is verified."""

from __future__ import annotations

from pathlib import Path

from myclaw_core.neurons.signing import sign

__all__ = ["BODY", "KEY", "MANIFEST", "TESTS", "neuron_files", "signature_of", "write_neuron"]

KEY = bytes(range(32))
BODY = b"async def run(ctx, args):\n    return {'n': len(args['text'].split())}\n"
TESTS = b"async def test_one(run):\n    assert await run({'text': 'a'}) == {'n': 1}\n"
MANIFEST = b"""\
schema_version: "1.0"
name: word_count
version: 1.0.0
purpose: Count words.
input_schema: {type: object}
output_schema: {type: object}
capabilities: []
"""


def neuron_files(name: str = "word_count", body: bytes = BODY, manifest: bytes = MANIFEST) -> dict[str, bytes]:
    """Return the three files of a neuron."""
    return {"body.py": body, "test_birth.py": TESTS, "manifest.yaml": manifest.replace(b"word_count", name.encode())}


def signature_of(files: dict[str, bytes], key: bytes = KEY) -> bytes:
    """Return the bytes of `signature.hmac`."""
    return sign(files, key).encode() + b"\n"


def write_neuron(folder: Path, files: dict[str, bytes] | None = None, key: bytes = KEY) -> Path:
    """Write a signed neuron; the name in its manifest is that of the folder unless `files` say otherwise."""
    files = files or neuron_files(folder.name)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in {**files, "signature.hmac": signature_of(files, key)}.items():
        (folder / name).write_bytes(data)
    return folder

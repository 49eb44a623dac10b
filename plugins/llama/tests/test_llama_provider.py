"""What the agent does with a process that holds a model, whatever that process does; no model is needed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from myclaw_llama.plugin import myclaw_models
from myclaw_llama.provider import LlamaProvider

from myclaw_core.clock import SystemClock
from myclaw_core.runtime.local import LocalProvider
from myclaw_core.runtime.model import ModelError, ModelRequest, ToolSpec
from myclaw_core.runtime.types import Message, Usage
from myclaw_core.testing import FakeClock

Make = Callable[..., LlamaProvider]
Ask = Callable[..., ModelRequest]


def nothing(_text: str) -> None:
    """Hear nothing."""


def pids(model: str) -> Sequence[int]:
    """Return the processes that were started for a model, the oldest first."""
    path = Path(model).with_suffix(".pids")
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def runs(pid: int) -> bool:
    """Return whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def fails(provider: LlamaProvider, request: ModelRequest) -> ModelError:
    """Return the error of a call that must fail."""
    with pytest.raises(ModelError) as caught:
        await provider.complete(request, nothing)
    return caught.value


async def test_an_answer_comes_in_pieces_and_with_its_tokens(make: Make, model: str, ask: Ask) -> None:
    """Each piece is passed on as it comes."""
    heard: list[str] = []
    reply = await make().complete(ask(model, "say a b c"), heard.append)

    assert heard == ["a", "b", "c"]
    assert reply.message == Message(role="assistant", text="abc")
    assert (reply.stop_reason, reply.model) == ("end_turn", model)
    assert reply.usage == Usage(input_tokens=5, cached_tokens=2, output_tokens=3)


async def test_a_score_is_the_odds_of_yes(make: Make, model: str) -> None:
    """No text is made for it."""
    score = await make().score(model, "Is it true?", "The sky is blue.")

    assert (score.log_odds, score.model) == (1.5, model)
    assert score.usage == Usage(input_tokens=5, cached_tokens=2, output_tokens=0)


async def test_nothing_runs_before_the_first_call_and_one_process_serves_all(make: Make, model: str, ask: Ask) -> None:
    """Calls that come together wait for each other."""
    provider = make()
    assert (provider.missing(), provider.lacks(model), pids(model)) == (None, None, [])
    replies = await asyncio.gather(*(provider.complete(ask(model, f"say {n}"), nothing) for n in range(5)))

    assert [reply.message.text for reply in replies] == ["0", "1", "2", "3", "4"]
    assert len(pids(model)) == 1


async def test_another_model_takes_the_place_of_the_first(make: Make, model: str, ask: Ask) -> None:
    """Two at a time would take the memory of both."""
    other = Path(model).with_name("other.gguf")
    other.write_bytes(b"GGUF")
    provider = make()
    await provider.complete(ask(model, "say a"), nothing)
    await provider.complete(ask(str(other), "say b"), nothing)

    assert not runs(pids(model)[0])
    assert runs(pids(str(other))[0])


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (f"signal {signal.SIGILL:d}", r"\(SIGILL\): llama-cpp-python was built for another processor; build it again"),
        (f"signal {signal.SIGSEGV:d}", r"ended \(SIGSEGV: GGML_ASSERT\(so it is\) failed\); it is started again"),
        (f"signal {signal.SIGKILL:d}", r"\(SIGKILL\), as the kernel does where memory ends; use a smaller model"),
        ("exit 3", r"ended \(exit 3\); it is started again"),
        ("garbage", r"the process of the model tiny.gguf"),
    ],
)
async def test_a_process_that_dies_fails_its_call_only(make: Make, model: str, ask: Ask, end: str, says: str) -> None:
    """The next call starts another one."""
    provider = make()
    error = await fails(provider, ask(model, end))
    reply = await provider.complete(ask(model, "say fine"), nothing)

    assert error.kind == "connection"
    with pytest.raises(ModelError, match=says):
        raise error
    assert reply.message.text == "fine"
    assert len(pids(model)) == 2
    assert not runs(pids(model)[0])


async def test_a_process_that_keeps_dying_is_left_alone_for_a_while(
    make: Make, model: str, ask: Ask, clock: FakeClock
) -> None:
    """Meanwhile no call reaches it, and another model may be asked instead."""
    provider = make()
    for _ in range(2):
        assert (await fails(provider, ask(model, "exit 1"))).kind == "connection"
    refused = await fails(provider, ask(model, "say a"))
    clock.advance(seconds=2)

    assert refused.kind == "unreachable"
    assert "tiny.gguf ended 2 times in a row; it is started again in 2 s at the earliest" in str(refused)
    assert (await provider.complete(ask(model, "say a"), nothing)).message.text == "a"
    assert len(pids(model)) == 3


async def test_a_call_that_is_cancelled_ends_its_process_at_once(make: Make, model: str, ask: Ask) -> None:
    """Native code listens to nobody; it is no fault of the model's, so the next call starts another one."""
    provider, begun = make(), asyncio.Event()
    running = asyncio.create_task(provider.complete(ask(model, "hang"), lambda _text: begun.set()))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not runs(pids(model)[0])
    assert len(pids(model)) == 1
    assert (await provider.complete(ask(model, "say fine"), nothing)).message.text == "fine"


async def test_a_call_that_only_waits_is_cancelled_without_harm(make: Make, model: str, ask: Ask) -> None:
    """The call before it goes on."""
    provider, begun = make(), asyncio.Event()
    first = asyncio.create_task(provider.complete(ask(model, "hang"), lambda _text: begun.set()))
    await begun.wait()
    second = asyncio.create_task(provider.complete(ask(model, "say b"), nothing))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second

    assert not first.done()
    assert runs(pids(model)[0])
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_call_that_takes_too_long_ends_with_the_setting_to_raise(make: Make, model: str, ask: Ask) -> None:
    """So does its process."""
    provider = make(clock=SystemClock(), timeout_s=0.5)
    error = await fails(provider, ask(model, "hang"))

    assert error.kind == "timeout"
    assert "did not answer within 0.5 s; raise timeout_s in [llama]" in str(error)
    assert not runs(pids(model)[0])


async def test_whoever_listens_and_fails_leaves_no_half_answer_behind(make: Make, model: str, ask: Ask) -> None:
    """What was left of the answer would be taken for that of the next call."""
    provider = make()
    with pytest.raises(ZeroDivisionError):
        await provider.complete(ask(model, "say a b"), lambda _text: print(1 / 0))

    assert (await provider.complete(ask(model, "say c"), nothing)).message.text == "c"


@pytest.mark.parametrize(
    ("refusal", "kind", "says"),
    [
        ("error too_long 9000", "request", "of 9000 tokens does not fit into 4096; raise context_tokens in [llama]"),
        ("error schema odd", "request", "the schema of the answer cannot be held to by tiny.gguf (odd)"),
        ("error template odd", "request", "the chat template of tiny.gguf does not take this conversation (odd)"),
        ("error vocabulary odd", "request", "tiny.gguf cannot be asked for yes or no (odd)"),
    ],
)
async def test_a_call_that_is_refused_leaves_the_process(
    make: Make, model: str, ask: Ask, refusal: str, kind: str, says: str
) -> None:
    """It has only said no."""
    provider = make()
    error = await fails(provider, ask(model, refusal))
    await provider.complete(ask(model, "say fine"), nothing)

    assert (error.kind, error.may_have_spent) == (kind, False)
    assert says in str(error)
    assert len(pids(model)) == 1


async def test_a_call_that_failed_inside_is_followed_by_a_fresh_process(make: Make, model: str, ask: Ask) -> None:
    """Nobody knows what state it left."""
    provider = make()
    error = await fails(provider, ask(model, "error failed RuntimeError: llama_decode returned -3"))
    await provider.complete(ask(model, "say fine"), nothing)

    assert "the model tiny.gguf failed (RuntimeError: llama_decode returned -3); ask again" in str(error)
    assert len(pids(model)) == 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("load-error_library_libgomp", "llama-cpp-python cannot be loaded (libgomp); install it again"),
        ("load-error_model_ValueError", "cannot be loaded (ValueError); use another one"),
        ("load-exit_1", "ended (exit 1)"),
    ],
)
async def test_a_model_that_cannot_be_loaded_is_not_loaded_again_and_again(
    make: Make, tmp_path: Path, ask: Ask, name: str, says: str
) -> None:
    """The third try in a row has to wait."""
    path = tmp_path / f"{name}.gguf"
    path.write_bytes(b"GGUF")
    provider = make()
    errors = [str(await fails(provider, ask(str(path), "say a"))) for _ in range(3)]

    assert says in errors[0]
    assert "ended 2 times in a row; it is started again in 2 s" in errors[2]
    assert not any(map(runs, pids(str(path))))


async def test_a_process_that_ended_between_two_calls_is_simply_replaced(make: Make, model: str, ask: Ask) -> None:
    """Where memory ends, the kernel takes this process first."""
    provider = make()
    await provider.complete(ask(model, "say a"), nothing)
    os.kill(pids(model)[0], signal.SIGKILL)
    texts = []
    while len(texts) < 1:
        try:
            texts.append((await provider.complete(ask(model, "say b"), nothing)).message.text)
        except ModelError as error:
            assert "SIGKILL" in str(error)  # noqa: PT017 - the end was noticed in the middle of the call

    assert texts == ["b"]


async def test_closing_ends_the_process_and_may_be_done_twice(make: Make, model: str, ask: Ask) -> None:
    """Nothing is left behind."""
    provider = make()
    await provider.complete(ask(model, "say a"), nothing)
    await provider.close()
    await provider.close()

    assert not runs(pids(model)[0])


async def test_the_process_is_not_given_the_keys_of_services(
    make: Make, model: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model file is data of somebody else, read by native code."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("LLAMA_API_KEY", "secret")
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")
    names = json.loads((await make().complete(ask(model, "environment"), nothing)).message.text)

    assert not {"ANTHROPIC_API_KEY", "LLAMA_API_KEY"} & set(names)
    assert {"GGML_VK_VISIBLE_DEVICES", "PATH"} <= set(names)


async def test_tools_are_refused_with_what_to_do(make: Make, model: str, ask: Ask) -> None:
    """A model that cannot act would only claim that it did."""
    tool = ToolSpec(name="fs_read", description="Read.", schema={"type": "object"})
    error = await fails(make(), ask(model, "say a", tools=(tool,)))

    assert error.kind == "request"
    assert "calls no tools; name it in [agent] local" in str(error)
    assert pids(model) == []


async def test_without_the_library_one_line_says_what_to_install(
    clock: FakeClock, model: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process is started for that."""
    monkeypatch.setattr("myclaw_llama.provider._LIBRARY", "surely_not_installed")
    provider = LlamaProvider(clock=clock)
    error = await fails(provider, ask(model, "say a"))

    assert error.kind == "unreachable"
    assert error.text == provider.missing()
    assert "needs the package llama-cpp-python: install it with" in str(error)


def package(folder: Path, name: str, *files: str) -> None:
    """Make an importable package that must not be imported."""
    (folder / name / "data").mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported')")
    for file in files:
        (folder / name / "data" / file).write_bytes(b"GGUF")


async def test_a_model_is_found_inside_a_package_that_is_not_run(
    make: Make, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such packages import whole frameworks."""
    package(tmp_path, "with_one", "model.gguf", "notes.txt")
    monkeypatch.syspath_prepend(tmp_path)
    reply = await make().complete(ask("with_one", "say a"), nothing)

    assert reply.model == "with_one"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("/no/such/model.gguf", "the model file /no/such/model.gguf cannot be read: No such file or directory"),
        ("models/a.gguf", "write the whole path of the model models/a.gguf, from / or ~ on"),
        ("not_installed_package", "not_installed_package is neither a path ending in .gguf nor an installed package"),
        ("os.path", "os.path is neither a path ending in .gguf nor an installed package"),
        ("__main__", "__main__ is neither"),
        ("with_two", "the package with_two carries 2 GGUF files; give the path of one"),
        ("with_none", "the package with_none carries no GGUF file"),
        ("json", "the package json carries no GGUF file"),
        ("{folder}/notes.txt", "notes.txt is no GGUF file; give a model in that format"),
        ("{folder}/", "cannot be read: Is a directory"),
    ],
)
async def test_a_model_that_is_not_there_is_told_in_one_line(
    make: Make, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, says: str
) -> None:
    """Another model may be asked instead."""
    package(tmp_path, "with_two", "a.gguf", "b.gguf")
    package(tmp_path, "with_none")
    (tmp_path / "notes.txt").write_text("Hello")
    monkeypatch.syspath_prepend(tmp_path)
    provider, name = make(), model.format(folder=tmp_path)
    error = await fails(provider, ask(name, "say a"))

    assert says in str(error)
    assert error.kind == "unreachable"
    assert provider.lacks(name) == error.text


async def test_a_conversation_goes_out_as_texts_of_alternating_roles(make: Make, model: str, ask: Ask) -> None:
    """Templates take nothing else."""
    from myclaw_llama.messages import spoken

    talk = (
        Message(role="user", text="a"),
        Message(role="user", text=" "),
        Message(role="tool", text="b", tool_call_id="1"),
        Message(role="assistant", text=" c\n"),
    )

    assert spoken(" ", talk) == [{"role": "user", "content": "a\n\nb"}, {"role": "assistant", "content": "c"}]
    assert spoken("s", talk)[0] == {"role": "system", "content": "s"}


def test_hook_myclaw_models_offers_a_free_provider_that_scores() -> None:
    """It costs nothing, and that is known."""
    host: Any = type("Host", (), {"clock": FakeClock(), "config": {"threads": 1}})()
    (provider,) = myclaw_models(host)

    assert (provider.name, provider.free) == ("llama", True)
    assert isinstance(provider, LocalProvider)

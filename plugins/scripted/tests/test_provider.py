"""Playing a script."""

import json
from pathlib import Path

import pytest
from myclaw_scripted import plugin
from myclaw_scripted.provider import ScriptedProvider
from myclaw_scripted.script import ScriptedCall, ScriptedReply

from myclaw_core.host import Host
from myclaw_core.paths import Home
from myclaw_core.runtime.model import ModelError, ModelRequest
from myclaw_core.runtime.types import Message, StopReason, ToolCall, Usage
from myclaw_core.testing import FakeClock


def request(text: str = "hello") -> ModelRequest:
    message = Message(role="user", text=text)
    return ModelRequest(model="any-model", system="", tools=(), messages=(message,), max_output_tokens=100)


def ignore(_: str) -> None:
    pass


async def test_replies_are_played_in_order_with_calls_numbered_over_the_whole_script() -> None:
    write = ScriptedCall(tool="fs_write", args={"path": "a"})
    provider = ScriptedProvider(
        [
            ScriptedReply(text="I write.", tool_calls=(write, write), usage=Usage(input_tokens=5)),
            ScriptedReply(tool_calls=(write,)),
            ScriptedReply(text="Done."),
        ]
    )

    first, second, third = [await provider.complete(request(), ignore) for _ in range(3)]

    assert [call.id for reply in (first, second) for call in reply.message.tool_calls] == ["call-1", "call-2", "call-3"]
    assert first.message.tool_calls[0] == ToolCall(id="call-1", tool="fs_write", args={"path": "a"})
    assert first.usage == Usage(input_tokens=5)
    assert [reply.stop_reason for reply in (first, second, third)] == ["tool_use", "tool_use", "end_turn"]
    assert third.message == Message(role="assistant", text="Done.")
    assert third.model == "any-model"


async def test_text_is_streamed_in_a_few_pieces_that_join_to_the_whole() -> None:
    pieces: list[str] = []

    await ScriptedProvider([ScriptedReply(text="one two three")]).complete(request(), pieces.append)

    assert len(pieces) == 3
    assert "".join(pieces) == "one two three"


async def test_a_reply_without_text_streams_nothing() -> None:
    pieces: list[str] = []

    await ScriptedProvider([ScriptedReply()]).complete(request(), pieces.append)

    assert pieces == []


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "pause_turn"])
async def test_a_given_stop_reason_is_played(reason: StopReason) -> None:
    provider = ScriptedProvider([ScriptedReply(text="…", stop_reason=reason)])

    assert (await provider.complete(request(), ignore)).stop_reason == reason


async def test_a_script_that_is_over_says_so() -> None:
    provider = ScriptedProvider([ScriptedReply(text="only")], path="demo.json")
    await provider.complete(request(), ignore)

    with pytest.raises(ModelError, match=r"the script demo\.json has no reply left after 1; add one") as over:
        await provider.complete(request(), ignore)

    assert over.value.kind == "malformed"


async def test_an_expectation_that_is_not_met_names_the_entry_and_what_came_instead() -> None:
    provider = ScriptedProvider([ScriptedReply(text="hi", expect="hello"), ScriptedReply(expect="bye")], path="s.json")
    await provider.complete(request("hello there"), ignore)

    with pytest.raises(ModelError, match=r"s\.json, entry 2, expects 'bye' in the last message: 'what\?'"):
        await provider.complete(request("what?"), ignore)


async def test_an_unmet_expectation_keeps_the_reply_for_a_message_that_meets_it() -> None:
    provider = ScriptedProvider([ScriptedReply(text="hi", expect="hello")])
    with pytest.raises(ModelError):
        await provider.complete(request("what?"), ignore)

    assert (await provider.complete(request("hello"), ignore)).message.text == "hi"


async def test_a_file_is_read_at_first_use(tmp_path: Path) -> None:
    """The provider may be made before the file is there."""
    path = tmp_path / "script.json"
    provider = ScriptedProvider.from_file(str(path))
    assert "cannot be read" in str(provider.missing())
    path.write_text(json.dumps([{"text": "from a file"}]), encoding="utf-8")

    assert provider.missing() is None
    assert (await provider.complete(request(), ignore)).message.text == "from a file"


async def test_without_a_file_one_line_says_what_to_set() -> None:
    provider = ScriptedProvider.from_file("")

    assert str(provider.missing()) == (
        "no script for the model provider 'scripted': set file in [scripted], or another provider in [agent]"
    )
    with pytest.raises(ModelError, match="no script for the model provider"):
        await provider.complete(request(), ignore)


async def test_close_may_be_called_twice() -> None:
    provider = ScriptedProvider([])
    await provider.close()
    await provider.close()


def host(home: Home, file: str) -> Host:
    return Host(plugin="scripted", config={"file": file}, home=home, clock=FakeClock(), emit=ignore)


def test_hook_myclaw_config_describes_the_file() -> None:
    schema = plugin.myclaw_config()

    assert (schema.section, [(key.name, key.default) for key in schema.keys]) == ("scripted", [("file", "")])


async def test_hook_myclaw_models_reads_a_relative_path_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('[{"text": "found"}]', encoding="utf-8")

    [provider] = plugin.myclaw_models(host(Home.at(tmp_path), "script.json"))

    assert (provider.name, provider.free) == ("scripted", True)
    assert (await provider.complete(request(), ignore)).message.text == "found"


def test_hook_myclaw_models_without_a_file_offers_a_provider_that_says_what_is_missing(tmp_path: Path) -> None:
    [provider] = plugin.myclaw_models(host(Home.at(tmp_path), ""))

    assert "set file in [scripted]" in str(provider.missing())

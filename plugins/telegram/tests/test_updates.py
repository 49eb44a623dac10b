"""From any JSON to something said, something pressed, or nothing to act on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from myclaw_telegram.api import Me
from myclaw_telegram.updates import Ignored, Pressed, Said, read_update

from myclaw_core.policy.taint import typed_part

ME = Me(id=42, username="house_bot")
ADA = {"id": 7, "is_bot": False, "first_name": "Ada", "last_name": "L.", "username": "owner"}
CHAT = {"id": 7, "type": "private"}
GROUP = {"id": -100, "type": "supergroup"}


def said(**changes: Any) -> dict[str, Any]:
    message = {"message_id": 1, "date": 2, "chat": CHAT, "from": ADA, "text": "hello", **changes}
    return {"update_id": 5, "message": {key: value for key, value in message.items() if value is not None}}


def pressed(below: Any = None, /, **changes: Any) -> dict[str, Any]:
    shown = {"message_id": 3, "date": 2, "chat": CHAT, "from": {"id": 42, "is_bot": True}, **(below or {})}
    press = {"id": "77", "from": ADA, "message": shown, "data": "y:1", **changes}
    return {"update_id": 5, "callback_query": {key: value for key, value in press.items() if value is not None}}


def test_a_private_message_is_said_by_the_number_of_its_author() -> None:
    assert read_update(said()) == Said(update_id=5, chat_id=7, user_id=7, text="hello", name="Ada L.")


def test_a_press_has_what_is_needed_to_judge_it() -> None:
    assert read_update(pressed(), me=ME) == Pressed(
        update_id=5, press_id="77", chat_id=7, message_id=3, user_id=7, data="y:1"
    )


def test_a_caption_counts_as_text() -> None:
    read = read_update(said(text=None, caption="what is this?", photo=[{}]))
    assert isinstance(read, Said)
    assert read.text == "what is this?"


@pytest.mark.parametrize("kind", ["blockquote", "expandable_blockquote", "pre"])
@pytest.mark.parametrize("where", ["text", "caption"])
def test_lines_that_telegram_shows_as_quoted_are_marked_as_such(kind: str, where: str) -> None:
    """What was pasted with its formatting was not typed here and now; places are counted in UTF-16 units."""
    text = "\U0001f600 look\nsend it\n\nto eve\nplease"
    entity = {"type": kind, "offset": 8, "length": 15}
    entities = "entities" if where == "text" else "caption_entities"
    read = read_update(
        said(**{"text": None, where: text, entities: [{"type": "bold", "offset": 0, "length": 2}, entity]})
    )
    assert isinstance(read, Said)
    assert read.text == "\U0001f600 look\n> send it\n> \n> to eve\nplease"
    assert typed_part(read.text).split() == ["\U0001f600", "look", "please"]


@pytest.mark.parametrize("entity", [{"type": "pre"}, {"type": "pre", "offset": "0", "length": 1}])
def test_a_quotation_that_does_not_say_where_it_is_covers_all(entity: Any) -> None:
    read = read_update(said(entities=[entity, 3, None, {"type": []}]))
    assert isinstance(read, Said)
    assert read.text == "> hello"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"from": None}, "a message of nobody"),
        ({"from": {**ADA, "id": "7"}}, "a message of nobody"),
        ({"from": {**ADA, "id": 7.0}}, "a message of nobody"),
        ({"from": {**ADA, "id": True}}, "a message of nobody"),
        ({"from": {**ADA, "id": 0}}, "a message of nobody"),
        ({"from": {**ADA, "id": -7}}, "a message of nobody"),
        ({"from": {**ADA, "id": 7 + 2**64}}, "a message of nobody"),
        ({"from": {"is_bot": False, "username": "owner"}}, "a message of nobody"),
        ({"from": [7]}, "a message of nobody"),
        ({"from": {**ADA, "is_bot": True}}, "a message of a bot"),
        ({"from": {"id": 7}}, "a message of a bot"),
        ({"chat": None}, "a message in no chat"),
        ({"chat": {"id": "7", "type": "private"}}, "a message in no chat"),
        ({"chat": {"id": 8, "type": "private"}}, "a message in somebody else's chat"),
        ({"chat": {"id": 7, "type": "supergroup"}}, "a message in the group 7"),
        ({"chat": GROUP}, f"a message in the group {GROUP['id']}"),
        ({"chat": {"id": -100, "type": "channel"}}, "a channel post"),
        ({"chat": {"id": 7}}, "a channel post"),
        ({"chat": {"id": 7, "type": []}}, "a channel post"),
        ({"sender_chat": GROUP}, "a channel post"),
        ({"via_bot": {"id": 9, "is_bot": True}}, "a message through another bot"),
        ({"forward_origin": {"type": "user"}}, "a forwarded message"),
        ({"forward_from": ADA}, "a forwarded message"),
        ({"forward_date": 3}, "a forwarded message"),
        ({"is_automatic_forward": True}, "a forwarded message"),
        ({"text": None}, "a service message"),
        ({"text": None, "pinned_message": {}}, "a service message"),
        ({"text": 3}, "a service message"),
        ({"text": None, "voice": {}}, "a message without text"),
        ({"text": None, "sticker": {}}, "a message without text"),
        ({"text": " \n", "photo": []}, "a message without text"),
        ({"text": "/help@other_bot"}, "a command for another bot"),
    ],
)
def test_what_was_not_said_here_and_now_by_a_person_is_ignored(changes: dict[str, Any], why: str) -> None:
    """Row 14: names, forwards, other bots, channels, groups and odd identifiers."""
    read = read_update(said(**changes), me=ME)
    assert isinstance(read, Ignored)
    assert read.why == why
    assert not read.is_press


@pytest.mark.parametrize("kind", ["edited_message", "channel_post", "inline_query", "my_chat_member", "nothing"])
def test_other_kinds_of_updates_are_ignored(kind: str) -> None:
    assert read_update({"update_id": 5, kind: said()["message"]}) == Ignored(update_id=5, why="another kind of update")


@pytest.mark.parametrize("update_id", [None, "5", 5.0, True, -1, 2**63])
def test_an_update_without_a_number_is_ignored(update_id: Any) -> None:
    assert read_update({**said(), "update_id": update_id}) == Ignored(update_id=None, why="an update without a number")


@pytest.mark.parametrize(
    ("message", "changes", "why"),
    [
        ({}, {"from": None}, "a message of nobody"),
        ({}, {"from": {**ADA, "id": "7"}}, "a message of nobody"),
        ({}, {"from": {**ADA, "id": 2**52}}, "a message of nobody"),
        ({}, {"message": None, "inline_message_id": "x"}, "a press without a message"),
        ({}, {"message": 3}, "a press without a message"),
        ({"chat": {"id": 8, "type": "private"}}, {}, "a message in somebody else's chat"),
        ({"chat": GROUP}, {}, f"a message in the group {GROUP['id']}"),
        ({"forward_origin": {"type": "user"}}, {}, "a forwarded message"),
        ({"via_bot": {"id": 9}}, {}, "a message through another bot"),
        ({"from": {"id": 43, "is_bot": True}}, {}, "a press below somebody else's message"),
        ({"from": {"id": 42}}, {}, "a press below somebody else's message"),
        ({"message_id": "3"}, {}, "a press without a message"),
        ({}, {"id": 77}, "a press without a number"),
        ({}, {"id": ""}, "a press without a number"),
        ({}, {"data": None, "game_short_name": "x"}, "a press without data that a button can have"),
        ({}, {"data": "x" * 65}, "a press without data that a button can have"),
        ({}, {"data": "é" * 33}, "a press without data that a button can have"),
    ],
)
def test_a_press_that_is_not_of_a_button_of_ours_is_ignored(message: Any, changes: dict[str, Any], why: str) -> None:
    """Rows 14 and 15."""
    read = read_update(pressed(message, **changes), me=ME)
    assert isinstance(read, Ignored)
    assert read.why == why
    assert read.is_press


def test_a_press_below_a_message_too_old_to_be_shown_is_passed_on() -> None:
    update = pressed()
    update["callback_query"]["message"] = {"chat": CHAT, "message_id": 3, "date": 0}
    assert isinstance(read_update(update, me=ME), Pressed)


def test_a_group_that_is_allowed_is_read_and_others_are_not() -> None:
    read = read_update(said(chat=GROUP), groups={-100})
    assert isinstance(read, Said)
    assert (read.chat_id, read.private) == (-100, False)
    assert isinstance(read_update(said(chat={**GROUP, "id": -101}), groups={-100}), Ignored)
    assert isinstance(read_update(pressed({"chat": GROUP}), groups={-100}), Pressed)


def test_only_a_person_in_their_own_chat_is_told() -> None:
    assert read_update(said(forward_origin={})) == Ignored(update_id=5, why="a forwarded message", user_id=7, chat_id=7)
    in_group = read_update(said(chat=GROUP, text=None, voice={}), groups={-100})
    assert in_group == Ignored(update_id=5, why="a message without text", user_id=7)


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("/help", "/help"),
        ("/help@house_bot now", "/help now"),
        ("/HELP@House_Bot", "/help"),
        ("/revoke_trust a b", "/revoke-trust a b"),
        ("/home_folder is full", "/home_folder is full"),
        ("/etc/hosts", "/etc/hosts"),
        ("  /help", "/help"),
        ("tell /help@house_bot", "tell /help@house_bot"),
    ],
)
def test_commands_have_our_spelling(text: str, ours: str) -> None:
    read = read_update(said(text=text), me=ME, commands={"/help", "/revoke-trust"})
    assert isinstance(read, Said)
    assert read.text == ours


def test_text_and_name_can_be_stored_whatever_they_hold() -> None:
    read = read_update(said(text="a\ud800b", **{"from": {**ADA, "first_name": "\u202eA\ud800\n" + "x" * 200}}))
    assert isinstance(read, Said)
    read.text.encode()
    read.name.encode()
    assert "\u202e" not in read.name
    assert len(read.name) <= 64


KEYS = st.sampled_from(
    ["update_id", "message", "callback_query", "from", "chat", "id", "is_bot", "type", "text", "data", "via_bot",
     "message_id", "caption", "first_name", "forward_origin", "photo"]
)  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.sampled_from(["private", "group", "/start", 7, 42])
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=30)
REAL = st.builds(lambda changes: said(**changes), st.dictionaries(KEYS, JSON)) | st.builds(
    lambda message, changes: pressed(message, **changes),
    st.dictionaries(KEYS, JSON),
    st.dictionaries(KEYS.filter(lambda key: key != "message"), JSON),
)


@given(update=JSON | REAL)
def test_no_json_makes_it_raise_or_lets_anything_but_a_whole_number_be_a_person(update: Any) -> None:
    read = read_update(update, me=ME, groups={-100}, commands={"/help"})
    if isinstance(read, Ignored):
        return
    content = update["message"] if isinstance(read, Said) else update["callback_query"]
    message = content if isinstance(read, Said) else content["message"]
    assert type(content["from"]["id"]) is int
    assert content["from"]["id"] == read.user_id > 0
    assert not {"forward_origin", "via_bot"} & set(message)

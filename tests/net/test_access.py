"""Network access that is pinned to judged hosts and checked addresses."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import define, field
from spoken import untranslatable

from myclaw_core.errors import EffectChangedError, ToolFailure
from myclaw_core.net.access import PinnedNetwork, system_lookup
from myclaw_core.paths import Home
from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.runtime.tool import NoNetwork
from myclaw_core.types.effect import Effect, EffectKind

PUBLIC = "93.184.216.34"


@define
class Names:
    """Answers look-ups and remembers them."""

    answers: dict[str, Sequence[str]] = field(factory=dict)
    asked: list[tuple[str, int]] = field(factory=list)

    async def lookup(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.answers[host]


@pytest.fixture
def names() -> Names:
    """No name leads anywhere yet."""
    return Names()


@pytest.fixture
def pinned(tmp_path: Path, names: Names):
    """Make an access for judged scopes."""

    def made(*scopes: str, kind: EffectKind = "network_out", allowed: Sequence[str] = ()) -> PinnedNetwork:
        effects = tuple(
            Effect(kind=kind, scope=scope, target=scope, reversibility="reversible_with_cost") for scope in scopes
        )
        places = ForbiddenPlaces(Home.at(tmp_path), tmp_path, allowed_hosts=allowed)
        return PinnedNetwork(effects=effects, forbidden=places.address, lookup=names.lookup)

    return made


@pytest.mark.parametrize("kind", ["network_in", "network_out"])
async def test_a_judged_host_is_looked_up_once_and_its_addresses_are_given_in_order(pinned, names, kind) -> None:
    names.answers["a.test"] = [PUBLIC, "2606:4700::1111", PUBLIC]
    assert await pinned("a.test", kind=kind).resolve("A.test.", 443) == (PUBLIC, "2606:4700::1111")
    assert names.asked == [("a.test", 443)]


@pytest.mark.parametrize(
    ("scope", "host", "port"),
    [
        ("a.test", "b.test", 443),
        ("a.test", "sub.a.test", 443),
        ("a.test", "a.test", 8080),
        ("a.test:8080", "a.test", 443),
        ("a.test:8080", "a.test", 8081),
        ("a.test", "a.test:443@b.test", 443),
        ("a.test", "", 443),
        ("a.test", "a.test", 99999),
        ("xn--strae-oqa.test", "strasse.test", 80),
    ],
)
async def test_another_host_or_port_is_not_even_looked_up(pinned, names, scope, host, port) -> None:
    with pytest.raises(EffectChangedError):
        await pinned(scope).resolve(host, port)
    assert names.asked == []


@pytest.mark.parametrize(
    ("scope", "port"), [("a.test", 80), ("a.test", 443), ("a.test:443", 443), ("a.test:8080", 8080)]
)
async def test_a_scope_covers_its_port_or_both_ports_of_the_web(pinned, names, scope, port) -> None:
    names.answers["a.test"] = [PUBLIC]
    assert await pinned(scope).resolve("a.test", port) == (PUBLIC,)


async def test_only_network_effects_open_the_network(pinned) -> None:
    with pytest.raises(EffectChangedError):
        await pinned("a.test", kind="fs_read").resolve("a.test", 80)
    with pytest.raises(EffectChangedError):
        await NoNetwork().resolve("a.test", 80)


@pytest.mark.parametrize("bad", ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1%1"])
@pytest.mark.parametrize("first", [True, False])
async def test_one_forbidden_address_refuses_them_all(pinned, names, bad, first) -> None:
    """Which of them a connection would take is not ours to guess."""
    names.answers["a.test"] = [bad, PUBLIC] if first else [PUBLIC, bad]
    with pytest.raises(ToolFailure, match=r"^a\.test leads to") as refused:
        await pinned("a.test").resolve("a.test", 80)
    assert untranslatable(refused.value.text) == []


async def test_a_listed_name_leads_into_the_home_network_but_never_to_metadata(pinned, names) -> None:
    network = pinned("nas.home", allowed=["nas.home"])
    names.answers["nas.home"] = ["192.168.1.7"]
    assert await network.resolve("nas.home", 80) == ("192.168.1.7",)
    names.answers["nas.home"] = ["169.254.169.254"]
    with pytest.raises(ToolFailure, match="metadata"):
        await network.resolve("nas.home", 80)


@pytest.mark.parametrize(
    ("host", "address"),
    [(PUBLIC, PUBLIC), ("2606:4700::1111", "2606:4700::1111"), ("[2606:4700::1111]", "2606:4700::1111")],
)
async def test_an_address_is_its_own_answer(pinned, names, host, address) -> None:
    scope = f"[{address}]" if ":" in address else address
    assert await pinned(scope).resolve(host, 443) == (address,)
    assert names.asked == []


async def test_a_literal_private_address_is_checked_too(pinned) -> None:
    with pytest.raises(ToolFailure, match="private network"):
        await pinned("127.0.0.1").resolve("2130706433", 80)
    with pytest.raises(ToolFailure, match="private network"):
        await pinned("[::1]").resolve("::1", 80)


async def test_a_name_without_an_address_is_one_line(pinned, names) -> None:
    with pytest.raises(
        ToolFailure, match=r"^no address was found for gone.test: Name or service not known$"
    ) as refused:
        await pinned("gone.test").resolve("gone.test", 80)
    assert untranslatable(refused.value.text) == []
    names.answers["empty.test"] = []
    with pytest.raises(ToolFailure, match=r"^no address was found for empty.test$"):
        await pinned("empty.test").resolve("empty.test", 80)


async def test_a_call_that_is_over_reaches_nothing_more(pinned, names) -> None:
    network = pinned("a.test")
    network.close()
    with pytest.raises(ToolFailure, match="over"):
        await network.resolve("a.test", 80)
    assert names.asked == []


async def test_the_system_finds_this_machine() -> None:
    assert "127.0.0.1" in await system_lookup("127.0.0.1", 80)

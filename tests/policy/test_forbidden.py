"""Paths and hosts that are closed to every tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myclaw_core.policy.forbidden import ForbiddenPlaces
from myclaw_core.policy.places import PlaceMap, ancestors


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh",
        "~/.ssh/authorized_keys",
        "~/.gnupg/x",
        "~/.aws/credentials",
        "~/private/diary.md",
        "~/.bashrc",
        "~/.zshrc",
        "~/.mozilla/firefox/a/cookies.sqlite",
        "~/.config/systemd/user/a.service",
        "/etc/shadow",
        "/proc/self/environ",
        "/sys/x",
        "/dev/sda",
        "/etc/cron.d/x",
        "/var/spool/cron/crontabs/me",
        "~/.local/share/myclaw/workspace/state/events.db",
        "~/.local/share/myclaw/workspace/.audit/a.jsonl",
    ],
)
def test_a_built_in_place_is_closed(world: Any, path: str) -> None:
    places = ForbiddenPlaces(world.home, world.user_home)
    assert places.path(path.replace("~", str(world.user_home))) is not None


@pytest.mark.parametrize("path", ["~", "~/.sshx", "~/notes/a.md", "~/.local/share/myclaw/workspace/a", "/etc/hosts"])
def test_an_ordinary_place_is_open(world: Any, path: str) -> None:
    places = ForbiddenPlaces(world.home, world.user_home)
    assert places.path(path.replace("~", str(world.user_home))) is None


def test_the_configuration_adds_places_and_takes_none_away(world: Any) -> None:
    places = ForbiddenPlaces(
        world.home,
        world.user_home,
        extra_paths=["~/taxes", "~/.ssh/", "/srv/../opt"],
        allowed_hosts=["169.254.169.254"],
    )
    assert "configuration" in str(places.path(f"{world.user_home}/taxes/2025.pdf"))
    assert places.path("/opt/x") is not None
    assert places.path(f"{world.user_home}/.ssh/id") is not None
    assert places.host("169.254.169.254") is not None


def test_a_place_that_is_a_link_is_closed_where_it_leads_to_too(world: Any, tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (world.user_home / ".ssh").symlink_to(tmp_path / "keys")
    places = ForbiddenPlaces(world.home, world.user_home)
    assert places.path(str(tmp_path / "keys/id_ed25519")) is not None


def test_a_folder_above_a_forbidden_place_says_so(world: Any) -> None:
    places = ForbiddenPlaces(world.home, world.user_home)
    assert places.beneath(str(world.home.workspace)) is not None
    assert places.beneath("/") is not None
    assert places.beneath(str(world.home.workspace / "notes")) is None


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "app.localhost:3000",
        "127.0.0.1",
        "10.1.2.3:8080",
        "192.168.1.1",
        "169.254.1.1",
        "100.64.0.1",
        "0.0.0.0",
        "[::1]",
        "[fe80::1]:80",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::a00:1]",
        "[2002:0a00:0001::]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "metadata.google.internal",
        "224.0.0.1",
    ],
)
def test_a_private_address_is_closed(world: Any, host: str) -> None:
    assert ForbiddenPlaces(world.home, world.user_home).host(host) is not None


@pytest.mark.parametrize("host", ["example.com", "example.com:8443", "8.8.8.8", "[2606:4700::1111]", "1.1.1.1.example"])
def test_a_public_host_is_open(world: Any, host: str) -> None:
    assert ForbiddenPlaces(world.home, world.user_home).host(host) is None


PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "192.168.1.1",
    "169.254.1.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "fd00::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "2002:a00:1::",
    "2001::1",
]
METADATA = [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "2002:a9fe:a9fe::",
    "fd00:ec2::254",
    "fd00:ec2::254%eth0",
    "100.100.100.200",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_that_leads_to_a_private_address_is_closed_unless_the_name_is_listed(world: Any, address: str) -> None:
    """Listing the address does not open the names of strangers that lead to it."""
    places = ForbiddenPlaces(world.home, world.user_home, allowed_hosts=["nas.home", "cam.home:8080", address])
    assert "allowed_hosts" in str(places.address("evil.test", address))
    assert places.address("nas.home", address) is None
    assert places.address("nas.home:81", address) is None
    assert places.address("cam.home:8080", address) is None
    assert places.address("cam.home", address) is not None


@pytest.mark.parametrize("address", METADATA)
def test_a_name_that_leads_to_a_metadata_address_is_closed_also_where_it_is_listed(world: Any, address: str) -> None:
    places = ForbiddenPlaces(world.home, world.user_home, allowed_hosts=["nas.home", address])
    assert "metadata" in str(places.address("nas.home", address))
    assert "metadata" in str(places.address("evil.test", address))


def test_a_name_that_leads_to_a_public_address_is_open_unless_that_is_forbidden(world: Any) -> None:
    places = ForbiddenPlaces(world.home, world.user_home, extra_hosts=["9.9.9.9"])
    assert places.address("example.com", "8.8.8.8") is None
    assert places.address("example.com", "2606:4700::1111") is None
    assert "configuration" in str(places.address("example.com", "9.9.9.9"))
    assert "no address" in str(places.address("example.com", "nonsense"))


def test_a_private_host_is_opened_by_name_and_a_public_one_closed_with_its_subdomains(world: Any) -> None:
    places = ForbiddenPlaces(
        world.home, world.user_home, extra_hosts=["Evil.example"], allowed_hosts=["192.168.1.7", "localhost:3000"]
    )
    assert places.host("192.168.1.7:8123") is None
    assert places.host("localhost:3000") is None
    assert places.host("localhost:3001") is not None
    assert places.host("a.evil.example") is not None
    assert places.host("notevil.example") is None


paths = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4).map(lambda names: "/" + "/".join(names))


@given(places=st.dictionaries(paths, st.integers(), max_size=5), path=paths)
def test_the_innermost_place_speaks_for_a_path(places: dict[str, int], path: str) -> None:
    found = PlaceMap(places).at(path)
    holding = [place for place in places if path == place or path.startswith(place.rstrip("/") + "/")]
    innermost = max(holding, key=len, default=None)
    assert found == (None if innermost is None else (innermost, places[innermost]))
    below = any(place == path or place.startswith(path.rstrip("/") + "/") for place in places)
    assert (PlaceMap(places).beneath(path) is not None) == below
    assert list(ancestors(path))[-1] == "/"

"""Random cases: the calls of every installed tool and of the probes, near the edges of what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import Any

from attrs import frozen

from myclaw_core.doctor.prove.bench import Bench
from myclaw_core.doctor.prove.case import CALM_DAY, Case, Figures
from myclaw_core.runtime.tool import ShellArgs, Tool
from myclaw_core.types.effect import AUTONOMY_LEVELS, EffectKind
from myclaw_core.types.strings import strings_in

__all__ = ["Draw", "chance"]

_FILE_KINDS = frozenset({"fs_read", "fs_write", "fs_delete"})
_NETWORK_KINDS = frozenset({"network_in", "network_out"})
_FOLDERS = (
    "",
    "",
    "notes/",
    "./",
    "notes//",
    "~/",
    "~/Documents/",
    "~/.ssh/",
    "neurons/sorter/",
    "state/",
    "/etc/",
    "/",
)
_NAMES = (
    "a.md",
    "a.md",
    "b/c.txt",
    "list.txt",
    "ä.md",
    ".git/hooks/pre-push",
    "backups/x.tar",
    "",
    "a b",
    "a\0b",
    "..",
)
_URLS = (
    "https://example.org/news",
    "http://example.net:8080/x",
    "HTTPS://EXAMPLE.org/Q",
    "example.com",
    "https://münchen.example/",
    "http://localhost:9000/",
    "http://10.0.0.7/",
    "http://169.254.169.254/latest",
    "https://someone@example.org/",
    "file:///etc/passwd",
)
_COMMANDS = ("ls", "rm a.md", "git push", "make all", "python3 -c 'x'", "cat a | sort", "sudo rm a", "echo $(date)", "")
_WORDS = ("telegram:42", "mail:me@example.org", "sorter", "diet", "policy.roots", "x" * 600, "", "a\nb")
_ADDRESSES = (
    "me@example.org",
    "Anna@EXAMPLE.org",
    "anna@münchen.example",
    "anna@exаmple.org",
    "Me <me@example.org>",
    "me",
)
_AMOUNTS = (0, 0.01, 0.5, 3, 4.99, 1e9, -1, "much")
_TEXTS = ("x", "milk and bread", "a\nb", "", "ü", "{}", "../..")
_NUMBERS = (0, 1, 2, 7, -1, 10**9)
_LIMITS_OF_TIME = (-40, 40)
_DAY_S = 86_400


def chance(random: Random, share: float) -> bool:
    """Return true in this share of cases."""
    return random.random() < share


@frozen
class Draw:
    """Draws the parts of a case.

    Args:
        bench: Whose tools and folders they are.
    """

    bench: Bench

    def case(self, random: Random, tools: Sequence[Tool]) -> Case:
        """Return a call of one of `tools` with everything around it."""
        tool = random.choice(tools)
        args = self.args(random, tool)
        years = random.randint(*_LIMITS_OF_TIME) if chance(random, 0.3) else 0
        return Case(
            tool=tool.name,
            args=args,
            level=random.choice(AUTONOMY_LEVELS),
            roots=random.choice(((), (), ("~",), ("~/Documents",), ("/",))),
            typed=_typed(random, args),
            tainted=chance(random, 0.3),
            undoable=chance(random, 0.8),
            at=CALM_DAY + timedelta(days=365 * years, seconds=random.randrange(_DAY_S)),
            trust=self.figures(random),
            budget=random.choice(("", "", "", "approve_required", "deny")),
        )

    def figures(self, random: Random) -> Figures | None:
        """Return what is known of the actor: nothing, the best there can be, or anything."""
        if chance(random, 0.1):
            return None
        if chance(random, 0.4):
            return Figures(own=chance(random, 0.8))
        return Figures(
            score=random.choice((0.0, 0.5, 0.6, 0.65, 0.72, 1.0, random.random())),
            n_samples=random.choice((0, 1, 2, 3, 5, 15, 10**9, random.randrange(100))),
            effective_count=random.choice((0.0, 2.999, 3.0, 15.0, 1e9, random.uniform(0, 40))),
            days=random.choice((0, 1, 2, 400)),
            success=random.choice((0.0, 0.6, 1.0, random.random())),
            clean=random.choice((0.0, 0.8, 1.0, random.random())),
            grants=random.randrange(4),
            asked_days=random.choice((None, 0.0, 100.0)),
            bad=chance(random, 0.1),
            own=chance(random, 0.8),
        )

    def args(self, random: Random, tool: Tool) -> dict[str, Any]:
        """Return arguments after the tool's schema; those that name its targets aim at them."""
        properties: Mapping[str, Any] = tool.schema.get("properties", {})
        required = tool.schema.get("required", ())
        aims = self._aims(tool)
        args = {}
        for name in {**properties, **aims}:
            if name in required or name in aims or chance(random, 0.4):
                args[name] = _aimed(random, properties.get(name), aims.get(name))
        return args

    def path(self, random: Random) -> str:
        """Return how a call might spell a path."""
        return random.choice((*_FOLDERS, *(f"{root}/" for root in self.bench.roots))) + random.choice(_NAMES)

    def _aims(self, tool: Tool) -> dict[str, Callable[[Random], Any]]:
        aims = {spec.arg: self._aim(spec.kind) for spec in tool.effects or ()}
        if tool.outbox is not None and tool.outbox.address == "mail":
            return {name: lambda random: random.choice(_ADDRESSES) for name in aims}
        return aims if tool.shell is None else aims | self._shell(tool.shell)

    def _aim(self, kind: EffectKind) -> Callable[[Random], Any]:
        if kind in _FILE_KINDS:
            return self.path
        if kind in _NETWORK_KINDS:
            return lambda random: random.choice(_URLS)
        return lambda random: random.choice(_AMOUNTS if kind == "cost_spend" else _WORDS)

    def _shell(self, names: ShellArgs) -> dict[str, Callable[[Random], Any]]:
        roots = (*self.bench.roots, "~", "~/Documents", "notes")
        return {
            names.command: lambda random: random.choice(_COMMANDS),
            names.mode: lambda random: random.choice(("read", "write", "write", "net")),
            names.root: lambda random: random.choice(roots),
        }


def _aimed(random: Random, schema: Any, aim: Callable[[Random], Any] | None) -> Any:
    """Return a value after a schema; one that names targets comes from `aim`, several where it takes several."""
    if aim is None:
        return _fitting(random, schema)
    if isinstance(schema, Mapping) and schema.get("type") == "array":
        return [aim(random) for _ in range(random.choice((1, 1, 2)))]
    return aim(random)


def _fitting(random: Random, schema: Any) -> Any:
    """Return a value after a schema, as far as that is plain."""
    if not isinstance(schema, Mapping):
        return random.choice(_TEXTS)
    if schema.get("enum"):
        return random.choice(schema["enum"])
    by_type: Mapping[Any, Callable[[], Any]] = {
        "integer": lambda: random.choice(_NUMBERS),
        "number": lambda: random.choice(_NUMBERS),
        "boolean": lambda: chance(random, 0.5),
        "array": lambda: [_fitting(random, schema.get("items")) for _ in range(random.randrange(3))],
        "object": dict,
    }
    kind = schema.get("type")
    return by_type.get(kind if isinstance(kind, str) else None, lambda: random.choice(_TEXTS))()


def _typed(random: Random, args: Mapping[str, Any]) -> str:
    """Return what the person typed: nothing, something else, or the target itself."""
    targets = [text for text in strings_in(list(args.values())) if text]
    if chance(random, 0.5) or not targets:
        return ""
    return f"please do it with '{random.choice(targets)}' now"

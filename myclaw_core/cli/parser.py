"""What can be typed: commands, options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from myclaw_core.cli.arguments import VERB, Parser, add_json, commands_of, count, is_number
from myclaw_core.cli.judge_words import add_judge
from myclaw_core.cli.models_words import add_models
from myclaw_core.cli.trust_words import add_trust
from myclaw_core.messages import _

__all__ = ["build_parser", "parse", "whole_parser"]

_COVERS_FORM = '{"rule": …, "op": "read"|"write", "path": …, "cwd": …, "home": …}'
_BODY_FORM = '{"name": …, "body_base64": …, "capabilities": […], "may_call": […]}'
_POLICY_EXAMPLE = (
    """echo '{"tool": "fs_write", "args": {"path": "a.md", "content": "x"}}' | myclaw policy check --explain"""
)

_LEVELS = ("read_only", "supervised", "full")
_SECONDS = {"m": 60, "h": 60 * 60, "d": 24 * 60 * 60}
_LONGEST_S = 30 * _SECONDS["d"]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed arguments; `command` names what to run, `chat` where none is given."""
    parser = build_parser()
    commands = commands_of(parser)
    if arguments and commands and arguments[0] not in commands.choices:
        from myclaw_core.cli.offered import add_offered

        add_offered(commands)
    return parser.parse_args(list(arguments))


def whole_parser() -> argparse.ArgumentParser:
    """Return the parser with the commands of plugins too, our own with arguments: for completion and documentation."""
    from myclaw_core.cli.offered import add_offered

    parser = build_parser()
    if commands := commands_of(parser):
        add_offered(commands, load=True)
    return parser


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of what the core offers."""
    parser: argparse.ArgumentParser = Parser(
        prog="myclaw",
        description=_(
            "A single-user home agent whose autonomy is earned, recorded and revocable. "
            "Without a command it starts a conversation."
        ),
        epilog=_(
            "Exit codes: 0 fine, 1 found problems or not done, 2 usage, 3 unavailable. "
            "State lies in MYCLAW_HOME, by default ~/.local/share/myclaw."
        ),
    )
    parser.add_argument("--version", action="store_true", help=_("print the version and leave"))
    _add_run_options(parser)
    _add_turn_options(parser)
    parser.set_defaults(command="chat")
    commands = parser.add_subparsers(title=_("commands"), metavar="COMMAND")
    _add_ask(commands)
    _add_serve(commands)
    _add_setup(commands)
    _add_pair(commands)
    _add_demo(commands)
    _add_undo(commands)
    add_trust(commands)
    _add_policy(commands)
    _add_budget(commands)
    _add_session(commands)
    _add_outbox(commands)
    _add_nightly(commands)
    _add_audit(commands)
    _add_neurons(commands)
    add_judge(commands)
    add_models(commands)
    _add_plugins(commands)
    _add_config(commands)
    _add_redact(commands)
    _add_doctor(commands)
    return parser


def _add_run_options(parser: argparse.ArgumentParser, *, inherit: bool = False) -> None:
    """Add the options of a run; a subcommand inherits what stood before its name."""
    unset: object = argparse.SUPPRESS if inherit else None
    parser.add_argument(
        "--root",
        action="append",
        default=argparse.SUPPRESS if inherit else [],
        metavar="DIR",
        help=_("open this folder for the run"),
    )
    parser.add_argument("--level", choices=_LEVELS, default=unset, help=_("autonomy level of the run"))


def _add_turn_options(parser: argparse.ArgumentParser, *, inherit: bool = False) -> None:
    """Add what a conversation or one message may be granted."""
    parser.add_argument(
        "--yes-to",
        action="append",
        default=argparse.SUPPRESS if inherit else [],
        metavar="CLASS",
        help=_("answer yes to this effect class in the run, such as 'fs_write:~/notes/*'; never what cannot be undone"),
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        default=argparse.SUPPRESS if inherit else False,
        help=_("judge everything, execute only what reads"),
    )


def _add_ask(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Runs one message as a turn and ends: 0 where it succeeded and nothing was denied, else 1. "
        "A step that failed (state and error of each are in the JSON) is no failure of a turn that went on without it."
    )
    ask = commands.add_parser("ask", help=_("run one message and leave"), description=about)
    ask.add_argument("text", nargs="+", help=_("the message"))
    _add_run_options(ask, inherit=True)
    _add_turn_options(ask, inherit=True)
    ask.add_argument(
        "--json", action="store_true", help=_("print answer and steps as one JSON object; nobody is asked, which is no")
    )
    ask.set_defaults(command="ask")


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Runs messengers and what is due by itself until it is told to stop (SIGTERM or Ctrl-C; a second one ends it "
        "at once). One process a home. --status: 0 where it is well, 1 where something is wrong, 3 where none runs."
    )
    serve = commands.add_parser(
        "serve", help=_("run messengers and scheduled work, in the foreground"), description=about
    )
    serve.add_argument("--status", action="store_true", help=_("only show how the one that runs does"))
    add_json(serve)
    serve.set_defaults(command="serve")


def _add_setup(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Asks for model, daily budget, folders and a Telegram token; Enter keeps what is set. With options it sets "
        "only those and asks nothing. Keys and tokens go to files that only you can read, never into the configuration."
    )
    setup = commands.add_parser("setup", help=_("set up model, budget, folders, Telegram, service"), description=about)
    setup.add_argument("--provider", metavar="NAME", help=_("who offers the model, such as anthropic or openai"))
    setup.add_argument("--model", metavar="NAME", help=_("the model, as its provider names it"))
    setup.add_argument("--daily", metavar="EUR", help=_("what is never passed in a day"))
    setup.add_argument(
        "--root", action="append", default=argparse.SUPPRESS, metavar="DIR", help=_("open this folder in every run")
    )
    setup.add_argument("--telegram-token", metavar="FILE", help=_("take the bot's token from a file; - is stdin"))
    setup.add_argument("--service", action="store_true", help=_("write a unit for systemd that runs 'myclaw serve'"))
    setup.add_argument("--yes", action="store_true", help=_("write the unit without being asked; starts nothing"))
    setup.add_argument("--force", action="store_true", help=_("overwrite a unit that was changed by hand"))
    setup.set_defaults(command="setup")


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    demo = commands.add_parser("demo", help=_("show the engine at work: no key, no network, nothing of yours touched"))
    demo.set_defaults(command="demo")


def _add_pair(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Makes a code for a messenger; whoever sends it there first, within 10 minutes, is served from then on. "
        "'list' shows who is served and who else tried, 'end SENDER' serves somebody no more."
    )
    pair = commands.add_parser("pair", help=_("who is served on a messenger: a code, list, end"), description=about)
    pair.add_argument("what", metavar="MESSENGER", help=_("for example telegram; or list, or end"))
    pair.add_argument("sender", nargs="?", default="", help=_("whom to take out, as the list shows them"))
    add_json(pair)
    pair.set_defaults(command="pair")


def _add_undo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _("Acts at once and says what was undone; 1 where something could not be.")
    undo = commands.add_parser("undo", help=_("take back what one turn changed"), description=about)
    undo.add_argument(
        "trace", nargs="?", default="", help=_("id or its beginning; your last turn that changed something")
    )
    undo.add_argument("--force", action="store_true", help=_("also overwrite what was changed since"))
    add_json(undo)
    undo.set_defaults(command="undo")


def _add_policy(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    policy = commands.add_parser(
        "policy", help=_("check, covers, explain: what would be decided, and what was; runs nothing")
    )
    verbs = policy.add_subparsers(metavar=VERB, required=True)
    check = verbs.add_parser(
        "check",
        help=_("read tool calls as JSON lines on stdin, print decisions; runs nothing"),
        epilog="\n".join(
            (
                _("example:"),
                f"  {_POLICY_EXAMPLE}",
                _("further keys of a line, all optional: sender, autonomy, text, tainted, cwd"),
            )
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("--explain", action="store_true", help=_("print each decision for people"))
    _add_run_options(check, inherit=True)
    check.set_defaults(command="policy check")
    covers = verbs.add_parser(
        "covers",
        help=_("whether a rule such as '~/notes/*' covers a path"),
        epilog="\n".join((_("a line of --jsonl; cwd and home may be left out:"), f"  {_COVERS_FORM}")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    covers.add_argument("rule", nargs="?", metavar="RULE", help=_("a path, or a folder with /*"))
    covers.add_argument("path", nargs="?", metavar="PATH", help=_("the path that is looked for"))
    covers.add_argument("--write", action="store_true", help=_("ask for writing instead of reading"))
    covers.add_argument("--jsonl", action="store_true", help=_("read JSON lines on stdin, print one answer a line"))
    covers.set_defaults(command="policy covers")
    explain = verbs.add_parser("explain", help=_("how each action of a trace was decided, check by check"))
    explain.add_argument("trace", nargs="?", default="", help=_("id or its beginning; the newest trace by default"))
    add_json(explain)
    explain.set_defaults(command="policy explain")


def _add_budget(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    budget = commands.add_parser("budget", help=_("what was spent today and lately, on what, and what is left"))
    add_json(budget)
    budget.set_defaults(command="budget")


def _add_session(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Shows the autonomy level of all sessions, or sets it for a time: its cost is stated first, and a raise needs "
        "your yes. It ends by itself. What cannot be undone is asked at every level."
    )
    session = commands.add_parser(
        "session", help=_("the autonomy level of all sessions, for a time"), description=about
    )
    session.add_argument("--level", choices=_LEVELS, default=argparse.SUPPRESS, help=_("the level to set; needs --for"))
    session.add_argument(
        "--for", dest="lasts_s", type=_duration, metavar="TIME", help=_("for how long, such as 30m, 24h or 7d")
    )
    session.add_argument("--end", action="store_true", help=_("end the level that was set"))
    session.add_argument("--yes", action="store_true", help=_("agree without being asked"))
    add_json(session)
    session.set_defaults(command="session")


def _add_outbox(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    outbox = commands.add_parser("outbox", help=_("list: what waits to be sent, and what became of what was"))
    verbs = outbox.add_subparsers(metavar=VERB, required=True)
    listing = verbs.add_parser("list", help=_("what is held, then what was sent or not, the newest first"))
    _add_count(listing, 20, _("how many of those that ended; %(default)s unless told"))
    add_json(listing)
    listing.set_defaults(command="outbox list")


def _add_nightly(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Does what is due once a night, from 3:00 on: usual costs, unused trust, what moved, undo whose time is over, "
        "the plugins' own work. "
        "Done once a night however often it is typed; nights that were missed are covered by the next run."
    )
    nightly = commands.add_parser("nightly", help=_("do the work of the night, if it is not done"), description=about)
    add_json(nightly)
    nightly.set_defaults(command="nightly")


def _add_audit(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    audit = commands.add_parser(
        "audit", help=_("list, show, tail, verify: what happened, and whether the record is whole")
    )
    verbs = audit.add_subparsers(metavar=VERB, required=True)
    listing = verbs.add_parser("list", help=_("the newest traces with how they ended"))
    _add_count(listing, 20, _("how many traces; %(default)s unless told"))
    add_json(listing)
    listing.set_defaults(command="audit list")
    show = verbs.add_parser("show", help=_("one trace, step by step with each decision's reason"))
    show.add_argument("trace", nargs="?", default="", help=_("id or its beginning; the newest trace by default"))
    add_json(show)
    show.set_defaults(command="audit show")
    tail = verbs.add_parser("tail", help=_("the newest events of the log"))
    _add_count(tail, 10, _("how many events; %(default)s unless told"))
    tail.add_argument("--follow", action="store_true", help=_("go on with what happens, until Ctrl-C"))
    add_json(tail)
    tail.set_defaults(command="audit tail")
    verify = verbs.add_parser("verify", help=_("check the event log, the trust store and the exported files"))
    add_json(verify)
    verify.set_defaults(command="audit verify")


def _add_neurons(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    neurons = commands.add_parser(
        "neurons", help=_("the neurons and how they stand; check, test, adopt, disable, remove and more")
    )
    add_json(neurons)
    neurons.set_defaults(command="neurons list", all=False)
    verbs = neurons.add_subparsers(metavar=VERB)
    check = verbs.add_parser(
        "check",
        help=_("analyse the files of a neuron; runs nothing of them"),
        epilog="\n".join((_("a line of --jsonl; capabilities and may_call may be left out:"), f"  {_BODY_FORM}")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument(
        "neuron",
        nargs="?",
        default="",
        metavar="NEURON",
        help=_("its folder, or the name of one that is adopted or shipped"),
    )
    check.add_argument("--jsonl", action="store_true", help=_("read JSON lines on stdin, print one answer a line"))
    add_json(check)
    check.set_defaults(command="neurons check")
    verify = verbs.add_parser("verify", help=_("say which neurons are exactly what was signed; runs nothing of them"))
    verify.add_argument("name", nargs="?", default="", metavar="NEURON", help=_("only this neuron"))
    add_json(verify)
    verify.set_defaults(command="neurons verify")
    _add_neurons_test(verbs)
    _add_neurons_run(verbs)
    _add_neuron_gate(verbs)
    _add_neuron_book(verbs)
    _add_neuron_design(verbs)


def _add_neuron_design(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what designs a neuron after a failure or by hand."""
    about = _(
        "A model designs the neuron and writes its code; it is analysed, tested in the sandbox and scored, and you are "
        "asked before it is let in. The exit code is 0 where it was let in or waits for your answer, else 1."
    )
    design = verbs.add_parser("synthesize", help=_("design a neuron for a goal"), description=about)
    design.add_argument("goal", nargs="?", default="", metavar="GOAL", help=_("what it shall do, in your words"))
    design.add_argument(
        "--budget", type=float, default=None, metavar="EUR", help=_("most that its model calls may cost")
    )
    design.add_argument("--resume", default="", metavar="ID", help=_("go on with one that 'neurons proposals' lists"))
    add_json(design)
    design.set_defaults(command="neurons synthesize")
    proposals = verbs.add_parser("proposals", help=_("what may be designed, is under way, or ended lately"))
    add_json(proposals)
    proposals.set_defaults(command="neurons proposals")
    dossier = verbs.add_parser("dossier", help=_("everything about one, with the draft that waits for your answer"))
    dossier.add_argument("id", metavar="ID", help=_("as 'neurons proposals' lists it, or the neuron's name"))
    add_json(dossier)
    dossier.set_defaults(command="neurons dossier")


def _add_neurons_test(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    test = verbs.add_parser("test", help=_("run the birth tests of a neuron in the sandbox; changes nothing"))
    test.add_argument("neuron", metavar="NEURON", help=_("its folder, or the name of one that is adopted or shipped"))
    add_json(test)
    test.set_defaults(command="neurons test")


def _add_neurons_run(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = _(
        "Runs an adopted neuron without a model and prints its output as JSON; the exit code is 0 where nothing was "
        "denied or failed, else 1. It is judged and asked about like any call, and so is each of its own."
    )
    run = verbs.add_parser("run", help=_("call an adopted neuron and print its output"), description=about)
    run.add_argument("name", metavar="NEURON", help=_("the neuron, as the list names it"))
    run.add_argument("args", nargs="?", default="", metavar="JSON", help=_("its arguments, an object; - reads stdin"))
    _add_run_options(run)
    _add_turn_options(run)
    run.set_defaults(command="neurons run")


def _add_neuron_book(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what shows the neurons that were let in, and what stops one."""
    listing = verbs.add_parser("list", help=_("every neuron, how it stands, and why it does not run"))
    listing.add_argument("--all", action="store_true", help=_("also those that were removed"))
    add_json(listing)
    listing.set_defaults(command="neurons list")
    for verb, about in (
        ("show", _("one neuron: what it may do, its record, its trust and its last runs")),
        ("disable", _("let a neuron not be called any more")),
        ("remove", _("move the folder of a neuron into the archive")),
    ):
        parser = verbs.add_parser(verb, help=about)
        parser.add_argument("name", metavar="NEURON", help=_("the neuron, as the list names it"))
        add_json(parser)
        parser.set_defaults(command=f"neurons {verb}")
    back = verbs.add_parser("rehabilitate", help=_("check a neuron that was put aside, ask, and let it run again"))
    back.add_argument("name", metavar="NEURON", help=_("the neuron, as the list names it"))
    back.set_defaults(command="neurons rehabilitate")


def _add_neuron_gate(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what lets neurons in, and what they are signed with."""
    adopt = verbs.add_parser("adopt", help=_("analyse and test a neuron, ask, and let it in"))
    adopt.add_argument("folder", metavar="NEURON", help=_("its folder, or the name of a shipped one"))
    add_json(adopt)
    adopt.set_defaults(command="neurons adopt")
    rotate = verbs.add_parser("rotate-key", help=_("sign every adopted neuron under a new key, after asking"))
    rotate.set_defaults(command="neurons rotate-key")


def _add_plugins(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    plugins = commands.add_parser("plugins", help=_("list, enable, disable: what is installed and in which state"))
    add_json(plugins)
    plugins.set_defaults(command="plugins list")
    verbs = plugins.add_subparsers(metavar=VERB)
    listing = verbs.add_parser("list", help=_("every plugin with its state and what to do"))
    add_json(listing)
    listing.set_defaults(command="plugins list")
    enable = verbs.add_parser("enable", help=_("show what a plugin declares, ask, and let it run"))
    enable.add_argument("name", help=_("the plugin, as the list names it"))
    enable.add_argument("--yes", action="store_true", help=_("agree without being asked, which --json never does"))
    add_json(enable)
    enable.set_defaults(command="plugins enable")
    disable = verbs.add_parser("disable", help=_("let nothing of a plugin run any more"))
    disable.add_argument("name", help=_("the plugin, as the list names it"))
    add_json(disable)
    disable.set_defaults(command="plugins disable")


def _add_config(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    config = commands.add_parser("config", help=_("show, set, path: what is configured, and where that comes from"))
    verbs = config.add_subparsers(metavar=VERB, required=True)
    show = verbs.add_parser("show", help=_("every setting in force with its source; secrets are masked"))
    show.add_argument("section", nargs="?", default="", help=_("only this section"))
    add_json(show)
    show.set_defaults(command="config show")
    about = _("Checks the whole file with the change before it is written; comments and layout stay.")
    setting = verbs.add_parser("set", help=_("change one setting in the file"), description=about)
    setting.add_argument("key", metavar="SECTION.KEY", help=_('for example agent.model or budget.prices."name".in'))
    setting.add_argument("value", nargs="*", help=_("the value; for a list its items, or [] for an empty one"))
    setting.add_argument(
        "--unset", action="store_true", help=_("take it out of the file, so that its default is in force")
    )
    add_json(setting)
    setting.set_defaults(command="config set")
    path = verbs.add_parser("path", help=_("where the file lies"))
    add_json(path)
    path.set_defaults(command="config path")


def _add_redact(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    redact = commands.add_parser("redact", help=_("copy stdin to stdout with secrets masked; opens nothing of yours"))
    redact.add_argument(
        "--jsonl", action="store_true", help=_('mask the "text" of each JSON line, keep its other keys')
    )
    redact.set_defaults(command="redact")


def _add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    doctor = commands.add_parser("doctor", help=_("check the installation and say what to do; changes nothing"))
    doctor.add_argument("--call", action="store_true", help=_("also call the model once, which may cost a little"))
    doctor.add_argument(
        "--prove", action="store_true", help=_("instead try what myclaw promises on many random cases; runs nothing")
    )
    doctor.add_argument("--seed", type=_seed, metavar="N", help=_("draw the cases of this seed; a new one unless told"))
    doctor.add_argument("--cases", type=count, metavar="N", help=_("how many cases a promise; 500 unless told"))
    doctor.add_argument("--replay", metavar="CASE", help=_("try one case again, as a report of --prove shows it"))
    add_json(doctor)
    doctor.set_defaults(command="doctor")


def _add_count(parser: argparse.ArgumentParser, default: int, about: str) -> None:
    parser.add_argument("-n", dest="count", type=count, default=default, metavar="N", help=about)


def _duration(text: str) -> int:
    """Return seconds."""
    number, unit = text[:-1], _SECONDS.get(text[-1:], 0)
    lasts_s = int(number) * unit if is_number(number) else 0
    if not 0 < lasts_s <= _LONGEST_S:
        raise argparse.ArgumentTypeError(_("must be minutes, hours or days, such as 30m, 24h or 7d, at most 30d"))
    return lasts_s


def _seed(text: str) -> int:
    return 0 if text == "0" else count(text)

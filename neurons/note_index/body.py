"""Writes an index of a folder of Markdown notes: titles by tag, and the tasks that are still open."""

import posixpath
import re
from urllib.parse import quote

INDEX = "index.md"
BEGIN = "<!-- note_index: from here on this is written anew each time -->"
END = "<!-- note_index: to here -->"
TITLE = re.compile(r"^# +(.+?) *#*$", re.MULTILINE)
TAG = re.compile(r"(?<![\w#/&])#([^\W\d_][\w/-]*)")
TASK = re.compile(r"^[ \t]*[-*+] \[ \] +(.+)$", re.MULTILINE)
CODE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
MOST_NOTES = 500
NO_TAG = "without a tag"


async def run(ctx, args):
    """Write `index.md` of the folder at `path`; what you wrote above or below its part stays."""
    folder = args["path"].rstrip("/")
    listed = await ctx.call("fs_list", path=folder or "/")
    names = [entry["name"] for entry in listed["data"]["entries"] if entry["kind"] == "file"]
    notes, unread = [], []
    for name in sorted(name for name in names if name.lower().endswith(".md") and name != INDEX)[:MOST_NOTES]:
        try:
            with ctx.open(f"{folder}/{name}", "rb") as file:
                notes.append(note_of(name, file.read().decode("utf-8")))
        except (OSError, UnicodeDecodeError):
            unread.append(name)
    before = index_there(ctx, folder) if INDEX in names else ""
    text = placed(before, index_of(notes))
    changed = text != before
    if changed:
        with ctx.open(f"{folder}/{INDEX}", "w") as file:
            file.write(text)
    return {
        "index": f"{folder}/{INDEX}",
        "changed": changed,
        "notes": len(notes),
        "open_tasks": sum(len(note["tasks"]) for note in notes),
        "tags": sorted({tag for note in notes for tag in note["tags"]}),
        "unread": unread,
    }


def index_there(ctx, folder):
    """Return the index that is there already."""
    with ctx.open(f"{folder}/{INDEX}", "rb") as file:
        data = file.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{INDEX} is no text in UTF-8; it was left alone") from error


def note_of(name, text):
    """Return what the index needs of a note; code in it is not looked at."""
    text = CODE.sub("", text.replace("\r\n", "\n"))
    title = TITLE.search(text)
    return {
        "name": name,
        "title": title[1].strip() if title else posixpath.splitext(name)[0],
        "tags": sorted({tag.casefold() for tag in TAG.findall(text)}),
        "tasks": [task.strip() for task in TASK.findall(text)],
    }


def index_of(notes):
    """Return the index as Markdown."""
    lines = []
    tags = sorted({tag for note in notes for tag in note["tags"]})
    for tag in [*tags, NO_TAG]:
        own = [note for note in notes if tag in note["tags"] or (tag == NO_TAG and not note["tags"])]
        if own:
            lines += [f"## {tag}", "", *(link_to(note) for note in by_title(own)), ""]
    tasks = [f"- [ ] {task} ({link_to(note)[2:]})" for note in by_title(notes) for task in note["tasks"]]
    if tasks:
        lines += ["## open tasks", "", *tasks, ""]
    return "\n".join(lines or ["There are no notes.", ""])


def by_title(notes):
    """Return notes by title, in whatever case it is written."""
    return sorted(notes, key=lambda note: (note["title"].casefold(), note["name"]))


def link_to(note):
    """Return a line of a list that leads to a note."""
    title = note["title"].replace("[", "(").replace("]", ")")
    return f"- [{title}]({quote(note['name'])})"


def placed(before, index):
    """Return the whole file: the index in place of the one that was there, or below what somebody wrote."""
    above, begin, rest = before.partition(BEGIN)
    _, end, below = rest.partition(END)
    if begin and not end:
        raise ValueError(f"{INDEX} has lost its line {END}; put it back below what shall be written anew")
    if not begin:
        above, below = (f"{before.rstrip()}\n\n" if before.strip() else "# Index\n\n"), "\n"
    return f"{above}{BEGIN}\n\n{index}\n{END}{below}"

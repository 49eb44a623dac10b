"""Finds what fills a folder: the largest folders and files below it."""

import heapq

UNITS = ("bytes", "kB", "MB", "GB", "TB")
THOUSAND = 1000


async def run(ctx, args):
    """Return the `top` largest folders and files below `path`, looking into at most `max_folders` folders."""
    root = args["path"].rstrip("/") or "/"
    sizes, files, unread = {}, [], []
    todo, limit = [root], args.get("max_folders", 200)
    for folder in todo:  # grows while it is walked: breadth first, so that a limit cuts what lies deepest
        if len(sizes) == limit:
            break
        sizes[folder] = 0
        try:
            entries = await entries_of(ctx, folder)
        except OSError as error:
            if folder == root:
                raise
            unread.append({"path": folder, "reason": str(error)})
            continue
        if entries["cut"]:
            unread.append({"path": folder, "reason": "it has more entries than can be listed"})
        for entry in entries["entries"]:
            path = f"{folder.rstrip('/')}/{entry['name']}"
            if entry["kind"] == "dir":
                todo.append(path)
            elif entry["kind"] == "file":
                files.append((entry["size_bytes"], path))
                sizes[folder] += entry["size_bytes"]
    for folder in reversed(todo[1 : len(sizes)]):  # what lies deepest first: each adds to the one above it
        sizes[folder.rpartition("/")[0] or "/"] += sizes[folder]
    top = args.get("top", 10)
    below = [(size, folder) for folder, size in sizes.items() if folder != root]
    return {
        "path": root,
        **told(sizes[root]),
        "folders": len(sizes) - 1,
        "files": len(files),
        "largest_folders": [{"path": path, **told(size)} for size, path in heapq.nlargest(top, below)],
        "largest_files": [{"path": path, **told(size)} for size, path in heapq.nlargest(top, files)],
        "complete": len(todo) == len(sizes) and not unread,
        "folders_left_out": len(todo) - len(sizes),
        "unread": unread[:top],
    }


async def entries_of(ctx, folder):
    """Return the entries of a folder, and whether some are missing."""
    listed = await ctx.call("fs_list", path=folder)
    entries = listed["data"]["entries"]
    return {"entries": entries, "cut": "more entries are not shown" in listed["text"].rpartition("\n")[2]}


def told(size):
    """Return a size in bytes and in words."""
    value, unit = float(size), 0
    while value >= THOUSAND and unit < len(UNITS) - 1:
        value, unit = value / THOUSAND, unit + 1
    return {"size_bytes": size, "size": f"{value:.1f} {UNITS[unit]}" if unit else f"{size} bytes"}

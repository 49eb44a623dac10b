"""Finds files that are the same: first of the same size, then of the same content."""

import hashlib
from collections import defaultdict

LARGEST = 32 * 1024 * 1024
MOST_READ = 500
TOO_MANY = f"{MOST_READ} files were read already; give a smaller folder or a larger min_bytes"


async def run(ctx, args):
    """Return groups of equal files below `path`, the most wasteful first; it changes and deletes nothing."""
    by_size, left_out = await files_by_size(ctx, args)
    found, n_read = [], 0
    for size in sorted(by_size, reverse=True):  # the most wasteful first, should the limit on reading be met
        by_content = defaultdict(list)
        for path in by_size[size] if len(by_size[size]) > 1 else ():
            digest, reason = digest_of(ctx, path) if n_read < MOST_READ else ("", TOO_MANY)
            if reason:
                left_out.append({"path": path, "reason": reason})
            else:
                n_read += 1
                by_content[digest].append(path)
        found += [
            {"size_bytes": size, "wasted_bytes": size * (len(paths) - 1), "sha256": digest, "paths": sorted(paths)}
            for digest, paths in by_content.items()
            if len(paths) > 1
        ]
    found.sort(key=lambda group: (-group["wasted_bytes"], group["paths"]))
    top = args.get("top", 20)
    return {
        "groups": found[:top],
        "groups_not_shown": max(0, len(found) - top),
        "wasted_bytes": sum(group["wasted_bytes"] for group in found),
        "files": sum(map(len, by_size.values())),
        "files_compared": n_read,
        "complete": not left_out,
        "left_out": left_out[:top],
    }


async def files_by_size(ctx, args):
    """Return the paths of all files by their size, and what was not looked at."""
    found, left_out = defaultdict(list), []
    todo = [args["path"].rstrip("/") or "/"]
    smallest, largest = args.get("min_bytes", 1), args.get("max_bytes", LARGEST)
    for number, folder in enumerate(todo):  # grows while it is walked
        if number == args.get("max_folders", 200):
            left_out += [{"path": path, "reason": "there are more folders than max_folders"} for path in todo[number:]]
            break
        try:
            listed = await ctx.call("fs_list", path=folder)
        except OSError as error:
            if number == 0:
                raise
            left_out.append({"path": folder, "reason": str(error)})
            continue
        if "more entries are not shown" in listed["text"].rpartition("\n")[2]:
            left_out.append({"path": folder, "reason": "it has more entries than can be listed"})
        for entry in listed["data"]["entries"]:
            path = f"{folder.rstrip('/')}/{entry['name']}"
            if entry["kind"] == "dir":
                todo.append(path)
            elif entry["kind"] == "file" and entry["size_bytes"] >= smallest:
                if entry["size_bytes"] > largest:
                    left_out.append({"path": path, "reason": "it is larger than max_bytes"})
                else:
                    found[entry["size_bytes"]].append(path)
    return found, left_out


def digest_of(ctx, path):
    """Return the SHA-256 of a file, or why it cannot be read."""
    try:
        with ctx.open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest(), ""
    except OSError as error:
        return "", str(error)

"""A process that says what the last message asks it to: what a real one could do only on another machine.

`say TEXT`, `hang`, `signal N`, `exit N`, `garbage`, `error KIND DETAIL`, `environment`. The path of the model may hold
`load-KIND` to fail while loading. It writes its process id beside the model.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def send(frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def act(words):
    what, _, rest = words.partition(" ")
    if what == "say":
        for word in rest.split(" "):
            send({"text": word})
        send({"done": {"stop": "end_turn", "input": 5, "cached": 2, "output": 3}})
    elif what == "hang":
        send({"text": "…"})
        time.sleep(3600)
    elif what == "signal":
        print("GGML_ASSERT(so it is) failed", file=sys.stderr)
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        os.kill(os.getpid(), int(rest))
    elif what == "exit":
        os._exit(int(rest))
    elif what == "garbage":
        print("llama_model_loader: loaded meta data", flush=True)
        time.sleep(3600)
    elif what == "error":
        kind, _, detail = rest.partition(" ")
        send({"error": kind, "detail": detail})
    elif what == "environment":
        send({"text": json.dumps(sorted(os.environ))})
        send({"done": {"stop": "end_turn", "input": 1, "cached": 0, "output": 1}})


def main():
    wanted = json.loads(sys.stdin.readline())
    path = Path(wanted["path"])
    with path.with_suffix(".pids").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if "load-" in path.name:
        act(path.stem.partition("load-")[2].replace("_", " "))
    else:
        send({"done": {}})
    for line in sys.stdin:
        call = json.loads(line)
        if call["op"] == "score":
            send({"done": {"log_odds": 1.5, "input": 5, "cached": 2, "output": 0}})
        else:
            act(call["messages"][-1]["content"])


main()

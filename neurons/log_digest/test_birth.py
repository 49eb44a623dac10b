"""What log_digest must get right: levels, times of several programs, and what makes two messages the same."""

PATH = "/var/log/app.log"
NOW = "2026-03-10T12:00:00+00:00"
LOG = """2026-03-01 08:00:00 INFO started in 120 ms
2026-03-01 08:00:01,250 ERROR user 17 not found
2026-03-02 09:30:00 ERROR user 4711 not found
2026-03-02 09:31:00 WARN disk at 91%
2026-03-03 10:00:00 CRITICAL disk full
2026-03-03 10:00:05 ERROR user 9 not found
"""


async def digest(run, text, **more):
    """Return what is said of a log."""
    return await run({"path": PATH, **more}, files={PATH: text}, now=NOW)


async def test_positive_levels_and_time_range(run):
    found = await digest(run, LOG)
    assert found["levels"] == {"critical": 1, "error": 3, "warning": 1, "info": 1}
    assert found["lines"] == 6
    assert (found["first"], found["last"]) == ("2026-03-01T08:00:00+00:00", "2026-03-03T10:00:05+00:00")


async def test_positive_messages_that_differ_in_numbers_are_one(run):
    found = await digest(run, LOG, top=2)
    assert [(each["shape"], each["count"], each["level"]) for each in found["frequent"]] == [
        ("ERROR user <n> not found", 3, "error"),
        ("CRITICAL disk full", 1, "critical"),
    ]
    assert found["frequent"][0]["example"] == "2026-03-01 08:00:01,250 ERROR user 17 not found"
    assert found["new"] == []


async def test_positive_what_is_new_since(run):
    found = await digest(run, LOG, since="2026-03-02")
    assert [each["shape"] for each in found["new"]] == ["CRITICAL disk full", "WARN disk at <n>%"]
    assert (found["frequent"][0]["shape"], found["frequent"][0]["count"]) == ("ERROR user <n> not found", 2)
    at = await digest(run, LOG, since="2026-03-02T10:31:00+01:00")
    assert [each["shape"] for each in at["new"]] == ["CRITICAL disk full", "WARN disk at <n>%"]
    later = await digest(run, LOG, since="2026-03-02T09:31:01")
    assert [each["shape"] for each in later["new"]] == ["CRITICAL disk full"]


async def test_positive_syslog_and_web_servers(run):
    found = await digest(run, "Dec 31 23:59:58 host sshd[811]: error: no\nMar  9 07:00:00 host sshd[12]: error: no\n")
    assert (found["first"], found["last"]) == ("2025-12-31T23:59:58+00:00", "2026-03-09T07:00:00+00:00")
    assert found["frequent"][0]["shape"] == "host sshd[<n>]: error: no"
    found = await digest(run, "Mar 11 12:00:00 host a\nMar 11 12:00:01 host a\n")  # a clock may be a little ahead
    assert (found["first"], found["last"]) == ("2025-03-11T12:00:01+00:00", "2026-03-11T12:00:00+00:00")
    web = '10.0.0.7 - - [02/Mar/2026:09:00:00 +0100] "GET /a HTTP/1.1" 404 12\n'
    found = await digest(run, web + web.replace("10.0.0.7", "10.0.0.8").replace("/a", "/b"))
    assert (found["first"], found["frequent"][0]["count"]) == ("2026-03-02T08:00:00+00:00", 2)
    assert found["frequent"][0]["shape"] == "<n> - - <text> <n> <n>"


async def test_positive_json_lines(run):
    found = await digest(
        run, '{"time":"2026-03-01T08:00:00Z","level":"error","msg":"lost peer 7"}\n{"level": "info"}\n'
    )
    assert found["levels"] == {"error": 1, "info": 1}
    assert [each["shape"] for each in found["frequent"]] == ["[<text>]", "lost peer <n>"]
    assert found["first"] == "2026-03-01T08:00:00+00:00"


async def test_edge_ids_and_quoted_parts_are_taken_out(run):
    lines = [
        "INFO job 550e8400-e29b-41d4-a716-446655440000 at 0xdeadbeef done 'x y'",
        "INFO job 123e4567-e89b-12d3-a456-426614174000 at 0xCAFE00 done 'z'",
        "INFO job deadbeef0 decade",
    ]
    found = await digest(run, "\n".join(lines))
    assert [(each["shape"], each["count"]) for each in found["frequent"]] == [
        ("INFO job <id> at <hex> done <text>", 2),
        ("INFO job <hex> decade", 1),
    ]


async def test_edge_a_line_without_a_time_belongs_to_the_one_above(run):
    text = "2026-03-01 08:00:00 ERROR x\nTraceback\n2026-03-05 08:00:00 ERROR x\nTraceback of another kind\n"
    found = await digest(run, text, since="2026-03-04")
    assert [each["shape"] for each in found["new"]] == ["Traceback of another kind"]
    assert found["levels"] == {"error": 2, "none": 2}


async def test_edge_words_that_are_no_level(run):
    found = await digest(run, "no error here\nINFORMATION desk\n[error] nginx\nx level=warn y\n")
    assert found["levels"] == {"error": 1, "warning": 1, "none": 2}


async def test_edge_an_empty_log(run):
    found = await digest(run, "\n  \n")
    assert (found["lines"], found["levels"], found["first"], found["last"]) == (0, {}, None, None)
    assert (found["frequent"], found["new"], found["complete"]) == ([], [], True)


async def test_edge_of_a_long_log_the_last_lines_are_read(run):
    line = b"ERROR " + b"x" * 99_993 + b"\n"
    found = await digest(run, line * 80)
    assert (found["lines"], found["complete"]) == (80, True)
    found = await digest(run, b"WARN\n" + line * 80)
    assert (found["lines"], found["complete"], found["levels"]) == (79, False, {"error": 79})


async def test_edge_bytes_that_are_no_text_and_times_that_are_none(run):
    found = await digest(run, b"2026-02-31 08:00:00 ERROR \xff\xfe\n2026-13-99 99:99:99 x\n")
    assert (found["lines"], found["first"], found["levels"]["error"]) == (2, None, 1)


async def test_negative_a_since_that_is_no_time(run):
    for since in ("last week please", "08:30 2026-03-01"):
        try:
            outcome = str(await digest(run, LOG, since=since))
        except ValueError as error:
            outcome = str(error)
        assert outcome == f"since is no time such as 2026-03-01 or 2026-03-01T08:00:00: {since}"


async def test_negative_a_file_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none.log"}, files={}, now=NOW))
    except FileNotFoundError:
        outcome = "missing"
    assert outcome == "missing"

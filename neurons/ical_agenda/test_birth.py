"""What ical_agenda must get right: what lies in the window, what repeats, and what it does not pretend to know."""

PATH = "~/calendar.ics"
NOW = "2026-03-02T10:00:00+00:00"  # a Monday


def calendar_of(*events):
    """Return a calendar file; an event is its lines, separated by blanks."""
    blocks = ["\r\n".join(["BEGIN:VEVENT", *event.split(), "END:VEVENT"]) for event in events]
    return "\r\n".join(["BEGIN:VCALENDAR", *blocks, "END:VCALENDAR", ""])


async def agenda(run, *events, text="", **more):
    """Return what is said of a calendar."""
    return await run({"path": PATH, **more}, files={PATH: text or calendar_of(*events)}, now=NOW)


def starts(found):
    """Return when the events begin."""
    return [event["start"] for event in found["events"]]


async def test_positive_the_next_seven_days_in_order(run):
    found = await agenda(
        run,
        "SUMMARY:late DTSTART:20260308T235959",
        "SUMMARY:next DTSTART:20260309T000000",
        "SUMMARY:first DTSTART;TZID=Europe/Rome:20260302T080000 DTEND:20260302T093000 LOCATION:Home",
        "SUMMARY:before DTSTART:20260301T235900",
        "SUMMARY:midnight DTSTART:20260302T000000",
    )
    assert [event["summary"] for event in found["events"]] == ["midnight", "first", "late"]
    assert found["events"][1] == {
        "start": "2026-03-02 08:00",
        "end": "2026-03-02 09:30",
        "all_day": False,
        "summary": "first",
        "location": "Home",
        "repeats": False,
    }
    assert (found["from"], found["to"], found["unread_events"]) == ("2026-03-02", "2026-03-08", 0)


async def test_positive_whole_days_and_what_has_begun_already(run):
    found = await agenda(
        run,
        "SUMMARY:trip DTSTART;VALUE=DATE:20260228 DTEND;VALUE=DATE:20260304",
        "SUMMARY:over DTSTART;VALUE=DATE:20260228 DTEND;VALUE=DATE:20260302",
        "SUMMARY:one DTSTART;VALUE=DATE:20260305",
        "SUMMARY:night DTSTART:20260301T230000 DURATION:PT1H30M",
    )
    assert [(event["summary"], event["end"]) for event in found["events"]] == [
        ("trip", "2026-03-03"),
        ("night", "2026-03-02 00:30"),
        ("one", "2026-03-05"),
    ]
    assert [event["all_day"] for event in found["events"]] == [True, False, True]


async def test_positive_what_repeats_is_written_out(run):
    daily = await agenda(run, "SUMMARY:d DTSTART:20260101T070000 RRULE:FREQ=DAILY;INTERVAL=3")
    assert starts(daily) == ["2026-03-02 07:00", "2026-03-05 07:00", "2026-03-08 07:00"]
    assert daily["events"][0]["repeats"] is True
    weekly = await agenda(run, "SUMMARY:w DTSTART:20260218T180000 RRULE:FREQ=WEEKLY;BYDAY=FR,MO,WE;INTERVAL=2")
    assert starts(weekly) == ["2026-03-02 18:00", "2026-03-04 18:00", "2026-03-06 18:00"]
    monthly = await agenda(run, "SUMMARY:m DTSTART:20260131T090000 RRULE:FREQ=MONTHLY", days=60)
    assert starts(monthly) == ["2026-03-31 09:00"]
    yearly = await agenda(run, "SUMMARY:y DTSTART;VALUE=DATE:19800304 RRULE:FREQ=YEARLY")
    assert starts(yearly) == ["2026-03-04"]


async def test_positive_an_end_of_what_repeats(run):
    counted = await agenda(run, "SUMMARY:c DTSTART:20260228T070000 RRULE:FREQ=DAILY;COUNT=4")
    assert starts(counted) == ["2026-03-02 07:00", "2026-03-03 07:00"]
    until = await agenda(run, "SUMMARY:u DTSTART:20260228T070000 RRULE:FREQ=DAILY;UNTIL=20260303T070000Z")
    assert starts(until) == ["2026-03-02 07:00", "2026-03-03 07:00"]
    day = await agenda(run, "SUMMARY:u DTSTART:20260228T070000 RRULE:FREQ=DAILY;UNTIL=20260302")
    assert starts(day) == ["2026-03-02 07:00"]
    weekly = await agenda(run, "SUMMARY:w DTSTART:20260223T070000 RRULE:FREQ=WEEKLY")
    assert starts(weekly) == ["2026-03-02 07:00"]
    begun = await agenda(run, "SUMMARY:w DTSTART:20260304T070000 RRULE:FREQ=WEEKLY")
    assert starts(begun) == ["2026-03-04 07:00"]


async def test_positive_exceptions_moved_and_cancelled_events(run):
    found = await agenda(
        run,
        "UID:1 SUMMARY:a DTSTART:20260301T070000 RRULE:FREQ=DAILY EXDATE:20260303T070000,20260304T070000",
        "UID:1 SUMMARY:a DTSTART:20260305T113000 RECURRENCE-ID:20260305T070000",
        "UID:2 SUMMARY:gone DTSTART:20260303T070000 STATUS:CANCELLED",
        days=5,
    )
    assert starts(found) == ["2026-03-02 07:00", "2026-03-05 11:30", "2026-03-06 07:00"]
    onto = await agenda(
        run,
        "UID:1 SUMMARY:a DTSTART:20260302T070000 RRULE:FREQ=DAILY;COUNT=2",
        "UID:1 SUMMARY:a DTSTART:20260303T070000 RECURRENCE-ID:20260302T070000",
        "UID:1 SUMMARY:a DTSTART:20260304T070000 RECURRENCE-ID:20260303T070000",
    )
    assert starts(onto) == ["2026-03-03 07:00", "2026-03-04 07:00"]


async def test_edge_times_in_utc_are_moved(run):
    events = ["SUMMARY:x DTSTART:20260301T233000Z", "SUMMARY:y DTSTART:20260302T120000"]
    assert starts(await agenda(run, *events)) == ["2026-03-02 12:00"]
    moved = await agenda(run, *events, utc_offset_hours=1)
    assert starts(moved) == ["2026-03-02 00:30", "2026-03-02 12:00"]
    night = await run(
        {"path": PATH, "utc_offset_hours": 2, "days": 1}, files={PATH: calendar_of()}, now="2026-03-02T22:30:00+00:00"
    )
    assert (night["from"], night["to"]) == ("2026-03-03", "2026-03-03")


async def test_edge_another_first_day(run):
    found = await agenda(run, "SUMMARY:x DTSTART:20270101T100000", start="2027-01-01", days=1)
    assert (starts(found), found["from"], found["to"]) == (["2027-01-01 10:00"], "2027-01-01", "2027-01-01")


async def test_edge_folded_lines_escapes_and_alarms(run):
    text = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lunch\\, then\n  a walk\\nhome\nDTSTART:20260302T120000\n"
        "BEGIN:VALARM\nSUMMARY:ring\nDTSTART:20260101T000000\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    found = await agenda(run, text=text)
    assert [event["summary"] for event in found["events"]] == ["Lunch, then a walk home"]
    assert starts(found) == ["2026-03-02 12:00"]


async def test_negative_rules_that_it_cannot_follow_are_named(run):
    found = await agenda(
        run,
        "SUMMARY:second DTSTART:20260303T080000 RRULE:FREQ=MONTHLY;BYDAY=2TU",
        "SUMMARY:odd DTSTART:20260304T080000 RRULE:FREQ=HOURLY",
        "SUMMARY:none DTSTART:20260304T080000 RRULE:FREQ=DAILY;INTERVAL=0",
        "SUMMARY:week DTSTART:20260304T080000 RRULE:FREQ=WEEKLY;WKST=SU;INTERVAL=2",
        "SUMMARY:fine DTSTART:20260304T080000 RRULE:FREQ=DAILY;COUNT=1;WKST=MO",
        "SUMMARY:all DTSTART:20260304T080000 "
        "RRULE:FREQ=WEEKLY;INTERVAL=1;COUNT=1;UNTIL=20270101;BYDAY=MO,TU,WE,TH,FR,SA,SU;WKST=MO",
    )
    assert found["rules_not_understood"] == ["second", "odd", "none", "week"]
    assert len(found["events"]) == 6


async def test_negative_events_that_cannot_be_read_are_counted(run):
    found = await agenda(run, "SUMMARY:x DTSTART:20261399", "SUMMARY:y", "SUMMARY:z DTSTART:20260303")
    assert (found["unread_events"], starts(found)) == (2, ["2026-03-03"])


async def test_negative_a_file_of_something_else(run):
    try:
        outcome = str(await agenda(run, text="hello"))
    except ValueError as error:
        outcome = str(error)
    assert outcome == "this is no calendar file: it has no line BEGIN:VCALENDAR"


async def test_negative_a_file_that_is_not_there(run):
    try:
        outcome = str(await run({"path": "~/none.ics"}, files={}, now=NOW))
    except FileNotFoundError:
        outcome = "missing"
    assert outcome == "missing"

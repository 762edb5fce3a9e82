"""Messages as the vendor sends them on some days: each is readable on its own terms, or is not."""

from orrery.sandbox.state import Document

_EVERYTHING = """<!doctype html><html><head><style>p{color:red}</style><title>Offer</title></head>
<body onload="alert(1)" background="https://tracker.example/open.gif"><script>fetch("https://tracker.example/")</script>
<!-- <p>hidden</p> --><p>Dear <b>Ann</b>,</p><img src="https://tracker.example/pixel.png" alt="logo"><table><tr>
<td>1</td><td>2&nbsp;&euro;</td></tr></table><ul><li>one<li>two</ul><a href="javascript:alert(1)">a link</a>
<form action="https://tracker.example/"><input name="password"></form><iframe src="https://tracker.example/"></iframe>
<p style="display:none">not shown</p><svg onload="alert(2)"></svg>\u202etxt.exe\u202c &lt;script&gt; &#0; <p>Bye"""

_MEETING: Document = {
    "@odata.type": "#microsoft.graph.eventMessageRequest",
    "meetingMessageType": "meetingRequest",
    "type": "singleInstance",
    "isOutOfDate": False,
    "isAllDay": False,
    "isDelegated": False,
    "startDateTime": {"dateTime": "2030-01-07T09:00:00.0000000", "timeZone": "UTC"},
    "endDateTime": {"dateTime": "2030-01-07T10:00:00.0000000", "timeZone": "UTC"},
}

ODD: dict[str, tuple[str, Document]] = {
    "no_from": ("There is neither a from nor a sender.", {"drop": ["from", "sender"]}),
    "null_from": ("From and sender are null.", {"set": {"from": None, "sender": None}}),
    "null_subject": ("The subject is null.", {"subject": None}),
    "no_received": ("There is no time of receipt.", {"drop": ["receivedDateTime"]}),
    "bad_received": ("The time of receipt is no time.", {"set": {"receivedDateTime": "yesterday"}}),
    "importance": ("The importance is one that nobody knows.", {"set": {"importance": "critical"}}),
    "event_message": ("The message is an invitation, of another type.", {"set": _MEETING}),
    "html": ("The body is HTML with everything that a mail may have.", {"body": ("html", _EVERYTHING)}),
    "long_subject": ("The subject has a million characters.", {"subject": "long " * 200_000}),
    "unknown_fields": (
        "There are fields that no description has.",
        {"set": {"quantumState": {"spin": [1, None]}, "@odata.novelty": "yes"}},
    ),
    "wrong_types": (
        "Fields have other types than described.",
        {"set": {"from": "Mira", "subject": ["a", "list"], "isRead": "no", "body": None}},
    ),
    "no_id": ("There is no id.", {"drop": ["id"]}),
}
"""Each kind of odd message with what is odd, and with the fields that make it so."""

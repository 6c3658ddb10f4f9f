"""The backlog holds so many bytes and no more, forgets the oldest, and counts what it forgets."""

import threading

from tritonscope.agent.backlog import Backlog, Payload

FOREVER_S = 3600.0


def payload(text: bytes, spans: int = 1) -> Payload:
    return Payload(text, spans)


def test_small_payloads_are_joined_into_one_request():
    backlog = Backlog(linger_s=0)
    for text in (b"a", b"b", b"c"):
        backlog.put(payload(text, 2))
    assert backlog.take() == Payload(b"abc", 6)


def test_a_request_stays_below_its_size_but_one_large_payload_goes_alone():
    backlog = Backlog(request_bytes=4, linger_s=0)
    for text in (b"aa", b"bb", b"c", b"large one", b"d"):
        backlog.put(payload(text))
    assert [backlog.take().body for _ in range(4)] == [b"aabb", b"c", b"large one", b"d"]


def test_the_oldest_are_dropped_and_their_spans_counted():
    backlog = Backlog(limit_bytes=5, linger_s=0)
    for text in (b"aa", b"bb", b"cc", b"dd"):
        backlog.put(payload(text, 10))
    assert backlog.dropped_spans == 20
    assert backlog.take().body == b"ccdd"
    backlog.put(payload(b"e"))
    assert backlog.dropped_spans == 20, "what was taken makes room"


def test_what_can_never_fit_is_dropped():
    backlog = Backlog(limit_bytes=5, linger_s=0)
    backlog.put(payload(b"too large", 3))
    assert backlog.dropped_spans == 3


def test_a_closed_backlog_gives_what_is_left_at_once_and_then_nothing():
    backlog = Backlog(linger_s=FOREVER_S)
    backlog.put(payload(b"a"))
    backlog.close()
    assert [backlog.take(), backlog.take()] == [payload(b"a"), None]


def test_a_full_request_does_not_wait_for_more():
    backlog = Backlog(request_bytes=2, linger_s=FOREVER_S)
    backlog.put(payload(b"aa"))
    assert backlog.take().body == b"aa"


def test_a_waiting_reader_wakes_up_for_the_end():
    backlog = Backlog(linger_s=FOREVER_S)
    taken = []
    reader = threading.Thread(target=lambda: taken.append(backlog.take()))
    reader.start()
    backlog.close()
    reader.join(10)
    assert taken == [None]


def test_dropping_all_counts_all():
    backlog = Backlog()
    backlog.put(payload(b"a", 3))
    backlog.put(payload(b"b", 4))
    backlog.drop_all()
    backlog.close()
    assert (backlog.dropped_spans, backlog.take()) == (7, None)

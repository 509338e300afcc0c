"""Parties as such: what becomes of their connections, whoever forgets them."""

from conformance.gathering import compiled, gathered


def test_a_party_that_nobody_serves_gives_its_connections_back() -> None:
    party, clients = gathered(compiled(), "ReceiveMessage", [{}] * 3)
    assert clients.lane.returned() == []
    del party
    assert [(unsent, unread, served) for _, unsent, unread, served in clients.lane.returned()] == [(b"", b"", 0)] * 3
    clients.leave()


def test_a_party_that_is_bounced_gives_back_what_was_sent() -> None:
    party, clients = gathered(compiled(), "ReceiveMessage", [{"MaxNumberOfMessages": 2}])
    party.bounce()
    ((_, unsent, unread, _),) = clients.lane.returned()
    assert unsent == b""
    assert unread.endswith(b'"MaxNumberOfMessages": 2}')
    del party
    assert clients.lane.returned() == []
    clients.leave()

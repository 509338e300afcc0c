"""The waiting room: who is woken, in which order, and what those who leave take with them."""

import asyncio
import contextlib

from penstock.api.waiting import WaitingRoom

QUEUE, ACCOUNT = 1, "000000000000"


def park(room: WaitingRoom, seconds: float = 5, queue: int = QUEUE) -> asyncio.Task[bool]:
    return asyncio.ensure_future(room.wait(queue, ACCOUNT, room.ticket(), seconds, room.signs(queue)))


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def leave(*tasks: asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_one_sign_wakes_the_one_who_came_first() -> None:
    room = WaitingRoom()
    first, second = park(room), park(room)
    await settle()
    room.wake(QUEUE)
    await settle()
    assert first.done()
    assert first.result() is True
    assert not second.done()
    await leave(second)


async def test_a_sign_of_two_messages_wakes_two() -> None:
    room = WaitingRoom()
    waiting = [park(room) for _ in range(3)]
    await settle()
    room.wake(QUEUE, messages=2)
    await settle()
    assert [one.done() for one in waiting] == [True, True, False]
    await leave(waiting[2])


async def test_a_sign_for_one_queue_does_not_wake_those_of_another() -> None:
    room = WaitingRoom()
    other = park(room, queue=2)
    await settle()
    room.wake(QUEUE)
    await settle()
    assert not other.done()
    await leave(other)


async def test_one_who_found_nothing_takes_the_old_place_again() -> None:
    room = WaitingRoom()
    tickets = [room.ticket() for _ in range(3)]
    waiting = [asyncio.ensure_future(room.wait(QUEUE, ACCOUNT, ticket, 5, room.signs(QUEUE))) for ticket in tickets]
    await settle()
    room.wake(QUEUE)
    await settle()
    again = asyncio.ensure_future(room.wait(QUEUE, ACCOUNT, tickets[0], 5, room.signs(QUEUE)))
    await settle()
    room.wake(QUEUE)
    await settle()
    assert again.done()
    assert not waiting[1].done()
    await leave(*waiting[1:])


async def test_one_whose_client_has_gone_passes_the_sign_on() -> None:
    room = WaitingRoom()
    gone, next_one = park(room), park(room)
    await settle()
    room.wake(QUEUE)
    gone.cancel()
    await settle()
    assert next_one.done()
    assert next_one.result() is True


async def test_time_runs_out_for_each_by_itself() -> None:
    room = WaitingRoom()
    assert await room.wait(QUEUE, ACCOUNT, room.ticket(), 0.01, 0) is False
    assert len(room) == 0
    assert room.lines == {}


async def test_a_closed_room_answers_everyone_and_lets_nobody_wait() -> None:
    room = WaitingRoom()
    waiting = [park(room) for _ in range(3)]
    await settle()
    room.close()
    assert await asyncio.gather(*waiting) == [False] * 3
    assert await room.wait(QUEUE, ACCOUNT, room.ticket(), 5, 0) is False


async def test_everyone_is_told_when_the_queue_is_gone() -> None:
    room = WaitingRoom()
    waiting = [park(room) for _ in range(3)]
    await settle()
    room.wake_all(QUEUE)
    assert await asyncio.gather(*waiting) == [True] * 3


async def test_those_parked_are_counted_by_account() -> None:
    room = WaitingRoom()
    waiting = [park(room) for _ in range(3)]
    await settle()
    assert (room.parked(ACCOUNT), room.parked("other"), len(room)) == (3, 0, 3)
    await leave(*waiting)
    assert room.parked(ACCOUNT) == 0


async def test_a_sign_between_looking_and_waiting_is_not_missed() -> None:
    room = WaitingRoom()
    before = room.signs(QUEUE)
    room.wake(QUEUE)
    assert await room.wait(QUEUE, ACCOUNT, room.ticket(), 5, before) is True

"""How often something may happen."""

from penstock.core.pace import KEYS_REMEMBERED, Pace


def happens(pace: Pace, key: str, now: int) -> bool:
    if pace.exceeded(key, now):
        return False
    pace.count(key, now)
    return True


def test_a_second_s_worth_may_happen_at_once_and_no_more() -> None:
    pace = Pace(5)
    assert [happens(pace, "a", 0) for _ in range(7)] == [True] * 5 + [False] * 2


def test_room_comes_back_with_time() -> None:
    pace = Pace(5)
    for _ in range(5):
        happens(pace, "a", 0)
    assert not happens(pace, "a", 199)
    assert happens(pace, "a", 200)
    assert not happens(pace, "a", 201)


def test_one_key_does_not_slow_another() -> None:
    pace = Pace(1)
    assert happens(pace, "a", 0)
    assert happens(pace, "b", 0)


def test_zero_is_as_often_as_one_likes() -> None:
    pace = Pace(0)
    assert all(happens(pace, "a", 0) for _ in range(1000))


def test_what_is_remembered_is_bounded() -> None:
    pace = Pace(1)
    for number in range(KEYS_REMEMBERED + 100):
        pace.count(str(number), 0)
    assert len(pace._levels) == KEYS_REMEMBERED
    pace.count("later", 5000)
    assert pace.exceeded("later", 5000)

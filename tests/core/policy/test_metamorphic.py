"""Whatever the policies: one Deny more never lets in more, one Allow more never fewer."""

from typing import Any, NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from policy_cast import OWNER, QUEUE, STRANGER, ask, behind, callers, policy

from penstock.core.identity import Principal
from penstock.core.policy import Ask, Context, Grants, Policy, Use, decide

Statement = dict[str, Any]


class World(NamedTuple):
    """All policies as lists of statements, by where they stand. None: there is no such policy."""

    identity: list[Statement]
    resource: list[Statement]
    boundary: list[Statement] | None
    session: list[Statement] | None


ACTIONS = st.sampled_from(["*", "sqs:*", "sqs:SendMessage", "sqs:Send*", "sqs:ReceiveMessage"])
RESOURCES = st.sampled_from(["*", QUEUE, QUEUE + "2", "arn:aws:sqs:*:*:o?ders", "arn:aws:sqs:*:*:${aws:username}"])
NAMES = st.sampled_from(
    [
        "*",
        OWNER,
        STRANGER,
        *(who.arn for who in callers().values() if who.arn),
        *behind().values(),
        behind(STRANGER)["role"],
    ]
)
CONDITIONS = st.dictionaries(
    st.sampled_from(
        [
            "StringEquals",
            "StringNotEquals",
            "ForAllValues:StringLike",
            "ForAnyValue:StringNotLike",
            "StringLikeIfExists",
        ]
    ),
    st.dictionaries(
        st.sampled_from(["aws:username", "aws:x"]),
        st.sampled_from(["orders", "o*", "${aws:username}", "${aws:x}"]),
        min_size=1,
    ),
    max_size=1,
) | st.sampled_from([{"NumericLessThan": {"aws:x": "5"}}, {"Null": {"aws:x": "true"}}])
CONTEXTS = st.dictionaries(
    st.sampled_from(["aws:username", "aws:x"]),
    st.sampled_from(["orders", "other", "4"]) | st.just(("orders", "other")),
)
CALLERS = st.sampled_from([who for account in (OWNER, STRANGER) for who in callers(account).values()])


def statements(effect: st.SearchStrategy[str], named: bool) -> st.SearchStrategy[Statement]:
    def whole(
        effect: str, action: Statement, resource: Statement, condition: Any, names: list[str], negated: bool
    ) -> Statement:
        element = "NotPrincipal" if negated and effect == "Deny" else "Principal"
        whom = {element: {"AWS": names}} if named else {}
        return {"Effect": effect, "Condition": condition} | action | resource | whom

    return st.builds(
        whole,
        effect,
        st.dictionaries(st.sampled_from(["Action", "NotAction"]), ACTIONS, min_size=1, max_size=1),
        st.dictionaries(st.sampled_from(["Resource", "NotResource"]), RESOURCES, min_size=1, max_size=1),
        CONDITIONS,
        st.lists(NAMES, min_size=1, max_size=3),
        st.booleans(),
    )


EITHER = st.sampled_from(["Allow", "Allow", "Deny"])
UNNAMED, NAMED = (st.lists(statements(EITHER, named), min_size=1, max_size=3) for named in (False, True))
WORLDS = st.builds(World, UNNAMED, NAMED, st.none() | UNNAMED, st.none() | UNNAMED)
PLACES = st.sampled_from(World._fields)


def read(given: list[Statement] | None, use: Use = Use.IDENTITY) -> Policy | None:
    return None if given is None else policy(use, *given)


def allowed(world: World, asked: Ask) -> bool:
    identity, session = read(world.identity), read(world.session)
    assert identity
    grants = Grants((identity,), read(world.boundary), None if session is None else (session,))
    return decide(asked, grants, read(world.resource, Use.RESOURCE), OWNER).allowed


def with_one_more(world: World, place: str, effect: str, data: st.DataObject) -> World:
    before = getattr(world, place)
    assume(before is not None)
    statement = data.draw(statements(st.just(effect), named=place == "resource"), label="one more")
    at = data.draw(st.integers(0, len(before)))
    return world._replace(**{place: [*before[:at], statement, *before[at:]]})


@given(WORLDS, CALLERS, CONTEXTS, PLACES, st.data())
@settings(max_examples=300, derandomize=True, deadline=None)
def test_one_deny_more_never_widens(
    world: World, who: Principal, context: Context, place: str, data: st.DataObject
) -> None:
    asked = ask(who, context=context)
    after = with_one_more(world, place, "Deny", data)
    assert allowed(world, asked) or not allowed(after, asked)


@given(WORLDS, CALLERS, CONTEXTS, PLACES, st.data())
@settings(max_examples=300, derandomize=True, deadline=None)
def test_one_allow_more_never_narrows(
    world: World, who: Principal, context: Context, place: str, data: st.DataObject
) -> None:
    asked = ask(who, context=context)
    after = with_one_more(world, place, "Allow", data)
    assert allowed(after, asked) or not allowed(world, asked)


@given(WORLDS, CALLERS, CONTEXTS)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_the_order_of_statements_does_not_matter(world: World, who: Principal, context: Context) -> None:
    asked = ask(who, context=context)
    turned = World(*(None if part is None else part[::-1] for part in world))
    assert allowed(world, asked) == allowed(turned, asked)


@given(WORLDS, CALLERS, CONTEXTS)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_taking_a_limit_away_never_narrows(world: World, who: Principal, context: Context) -> None:
    """A boundary also takes from NotPrincipal its effect, and a federated user needs its session's policies."""
    asked = ask(who, context=context)
    free = world._replace(boundary=None)
    assert allowed(free, asked) or not allowed(world, asked)

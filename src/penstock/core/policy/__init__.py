"""Policies: what Amazon's policy language means, as one pure decision.

read_policy   a document → a compiled Policy, or PolicyError with the reason and the place
decide        who asks, what holds for it, whose resource → Decision
refusal_text  a Decision that refuses → Amazon's words
"""

from penstock.core.policy.decision import Ask, Decision, Grants, Match, Reason, Source, decide
from penstock.core.policy.document import read_policy
from penstock.core.policy.principals import named_by
from penstock.core.policy.problem import PolicyError, UnknownPrincipal
from penstock.core.policy.statement import Policy, Statement, Use
from penstock.core.policy.template import Context
from penstock.core.policy.words import refusal_text

__all__ = [
    "Ask",
    "Context",
    "Decision",
    "Grants",
    "Match",
    "Policy",
    "PolicyError",
    "Reason",
    "Source",
    "Statement",
    "UnknownPrincipal",
    "Use",
    "decide",
    "named_by",
    "read_policy",
    "refusal_text",
]

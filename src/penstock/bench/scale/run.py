"""One large run from the first phase to the verdict."""

from collections.abc import Callable
from time import perf_counter

from penstock.bench.scale import crowds, judge, phases
from penstock.bench.scale.crew import Crew, Line
from penstock.bench.scale.plan import OWN_SERVER_ONLY, Plan
from penstock.bench.scale.report import ScaleReport
from penstock.bench.scale.server import ScaleServer

RUNS: dict[str, Callable[[Crew, ScaleReport], str]] = {
    "load": phases.load,
    "hold": phases.hold,
    "work": phases.work,
    "kill": phases.kill,
    "storm": crowds.storm,
    "parked": crowds.parked,
}


def run(plan: Plan, server: ScaleServer, report: ScaleReport, tell: Line, say: Line) -> None:
    """`tell` is for what is seen for a moment, `say` for what stays."""
    report.problems = dict.fromkeys(judge.PROBLEMS, 0)
    crew = Crew(plan, server, tell)
    started = perf_counter()
    try:
        for phase in plan.phases:
            if phase in OWN_SERVER_ONLY and server.own is None:
                report.phases[phase] = "left out: it needs a server of its own"
            else:
                report.phases[phase] = RUNS[phase](crew, report)
            tell("")
            say(f"{phase}: {report.phases[phase]}")
            crew.fold()
    finally:
        if server.own is None:
            phases.tidy(crew)
    report.histograms = dict(crew.histograms)
    report.figures |= {
        "API calls": crew.calls,
        "API calls/s": crew.calls / max(1e-9, crew.busy_seconds),
        "whole run s": perf_counter() - started,
    }
    judge.noted(report, crew.ledger)
    report.requirements = list(judge.judged(report))

"""The jobs and their options, as data: what `penstock pipeline` offers, and its help, without Spark being there.

A job is one file of `jobs` with `run(spark, ask) -> int`, and one entry here.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from penstock.pipeline.formats import FORMATS
from penstock.pipeline.http import Address


class Option(NamedTuple):
    """An option with a value, or without a metavar a switch. `kind` says what is wrong with a value by ValueError."""

    flag: str
    metavar: str
    text: str
    kind: Callable[[str], Any] = str
    default: Any = None
    choices: Sequence[str] | None = None
    many: bool = False
    required: bool = False

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


class Job(NamedTuple):
    summary: str
    groups: Sequence[Sequence[Option]]
    examples: Sequence[str]
    own: Sequence[Option] = ()


def moment(text: str) -> int:
    """2026-11-16, 2026-11-16T08:30, with or without an offset (UTC if without), or epoch milliseconds; → those."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time like 2026-11-16T08:30 or epoch milliseconds") from None
    return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ValueError(f"{text!r} is not a whole number above 0")
    return int(text)


def seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is not a whole number of seconds")
    return int(text)


def server(text: str) -> str:
    Address.of(text)
    return text


def setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"{text!r} is not of the form spark.name=value")
    return name, value


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ValueError(f"{text!r} is not of the form name=value")
    return name, value


SPARK = (
    Option(
        "--master",
        "URL",
        "where Spark runs: local[*], spark://…, k8s://…, yarn (default: local[*])",
        default="local[*]",
    ),
    Option("--remote", "URL", "a Spark Connect server, sc://…, instead of --master"),
    Option("--conf", "K=V", "a setting of Spark; may be given many times", setting, many=True),
    Option("--verbose", "", "show Spark's own warnings, and the traces of what fails"),
)
JOURNAL = (
    Option("--journal", "PATH", "the journal's folder, as Spark sees it (default: ./data/journal)"),
    Option("--endpoint-url", "URL", "the server: to read its journal without --journal, and to register the reader"),
    Option("--region", "REGION", "the region that requests are signed for (default: AWS_REGION, or us-east-1)"),
    Option("--reader", "NAME", "register with the server under this name: it keeps segments until they are read"),
)
TABLES = (
    Option("--out", "PATH", "the folder of the tables (default: ./tables)", default="tables"),
    Option(
        "--format", "FORM", f"of tables: {', '.join(FORMATS)} (default: parquet)", default="parquet", choices=FORMATS
    ),
)
FOLLOWING = (
    Option("--checkpoint", "PATH", "where the job remembers what it has done (default: OUT/_checkpoints/JOB)"),
    Option("--once", "", "take what there is and end, instead of going on"),
    Option("--every", "INTERVAL", "how often to look for more (default: 10 seconds)", default="10 seconds"),
)
STREAM = (
    *FOLLOWING,
    Option("--segments-at-once", "N", "files of the journal in one batch, at most (default: 200)", count, 200),
)
SERVER = (
    Option("--endpoint-url", "URL", "the server, where it is another than the host of the queue's URL"),
    Option("--region", "REGION", "the region that requests are signed for (default: the URL's, or AWS_REGION)"),
)
QUEUE = Option("--queue", "URL", "the URL of the queue: Penstock's or Amazon's")
RANGE = (
    Option("--from", "TIME", "only what happened at or after it: 2026-11-16T08:30 (UTC) or epoch milliseconds", moment),
    Option("--to", "TIME", "only what happened before it", moment),
)
FILTER = (
    Option("--queue", "NAME", "only this queue; may be given many times", many=True),
    Option("--account", "ID", "only this account; may be given many times", many=True),
)
TARGET = (Option("--journal", "PATH", "read the journal in this folder instead of the table `events`"), *SERVER)
DRY = (Option("--dry-run", "", "say what would be done, and do nothing"),)

JOBS = {
    "land": Job(
        "Bring every event of the journal into the table `events`, once.",
        (SPARK, JOURNAL, TABLES, STREAM, FILTER, DRY),
        (
            "penstock pipeline land --journal ./data/journal --out ./tables",
            "penstock pipeline land --out s3a://lake/penstock --master spark://driver:7077 --every '1 minute'",
        ),
    ),
    "load": Job(
        "Send the rows of files or of a table to a queue, each as a message.",
        (SPARK, SERVER, DRY),
        (
            "penstock pipeline load --queue http://127.0.0.1:9324/000000000000/orders --input orders.txt",
            "penstock pipeline load --queue $URL --input sales.orders --input-format table --rate 500 --dry-run",
        ),
        (
            QUEUE,
            Option("--input", "PATH", "files, as Spark names them, or the name of a table"),
            Option("--input-format", "FORM", "text, json, csv, parquet, table, … (default: text)", default="text"),
            Option("--input-option", "K=V", "an option of the format; may be given many times", pair, many=True),
            Option("--body-column", "NAME", "the body (default: body or value if there is one, else the row as JSON)"),
            Option("--group-column", "NAME", "the message group; a FIFO queue needs one"),
            Option("--rate", "N", "messages a second, at most", count),
        ),
    ),
    "drain": Job(
        "Bring the messages of a queue into the table `messages`, once, and delete them from the queue.",
        (SPARK, SERVER, TABLES, FOLLOWING, DRY),
        (
            "penstock pipeline drain --queue http://127.0.0.1:9324/000000000000/orders --out ./tables --once",
            "penstock pipeline drain --queue $URL --out s3a://lake/orders --staging $STAGING --batch 20000",
        ),
        (
            QUEUE,
            Option("--staging", "PATH", "a folder that driver and executors share (default: CHECKPOINT/staging)"),
            Option("--batch", "N", "messages in one batch, at most (default: 50,000)", count),
            Option("--partitions", "N", "tasks that receive at once (default: 4)", count),
            Option(
                "--visibility-timeout", "SECONDS", "for how long messages are hidden, at a time (default: 120)", count
            ),
        ),
    ),
    "metrics": Job(
        "Count what queues did in windows of one and five minutes: the tables `queue_metrics` and `queue_latency`.",
        (SPARK, JOURNAL, TABLES, STREAM, RANGE, FILTER, DRY),
        (
            "penstock pipeline metrics --journal ./data/journal --out ./tables",
            "penstock pipeline metrics --once --final",
            "penstock pipeline metrics --to-endpoint-url http://127.0.0.1:9324",
            "penstock pipeline metrics --from 2026-11-16T08:00 --to 2026-11-16T12:00 --source events",
        ),
        (
            Option("--lateness", "SECONDS", "how long after its end a minute waits for events (120)", seconds, 120),
            Option("--final", "", "with --once: close the last windows, too, though events may still come for them"),
            Option(
                "--to-endpoint-url",
                "URL",
                "put the windows into this server, too: CloudWatch's calls find them there",
                server,
            ),
            Option(
                "--source",
                "WHAT",
                "with --from and --to, what to read: the journal, or the table events (default: journal)",
                default="journal",
                choices=("journal", "events"),
            ),
        ),
    ),
    "lifecycle": Job(
        "Write a row for every message and queue it stayed in, with all its times, when the stay has ended.",
        (SPARK, JOURNAL, TABLES, STREAM, DRY),
        (
            "penstock pipeline lifecycle --journal ./data/journal --out ./tables",
            "penstock pipeline lifecycle --once --give-up-after 30",
        ),
        (
            Option(
                "--give-up-after",
                "DAYS",
                "days after which a message whose end is not in the journal is no longer waited for (default: 15)",
                count,
                15,
            ),
        ),
    ),
    "dlq": Job(
        "Group dead letters by what they died of; write a report and a plan for `penstock dlq redrive`.",
        (SPARK, TABLES, RANGE, FILTER, DRY),
        (
            "penstock pipeline dlq --out ./tables --from 2026-11-16",
            "penstock pipeline dlq --journal ./data/journal --error-field '$.error.message' --choose all",
        ),
        (
            Option("--journal", "PATH", "read this journal, instead of the table `events` in --out"),
            Option(
                "--error-attribute", "NAME", "the message attribute that tells the error; needs a journal with bodies"
            ),
            Option("--error-field", "PATH", "the field of a JSON body that tells it, like $.error; needs one, too"),
            Option(
                "--version-attribute",
                "NAME",
                "the message attribute with the sender's version (default: bus.version)",
                default="bus.version",
            ),
            Option("--samples", "N", "messages of each group to show (default: 5)", count, 5),
            Option(
                "--choose", "GROUP", "what the plan redrives: all, or a signature; may be given many times", many=True
            ),
            Option("--plan", "FILE", "the plan (default: redrive-plan.json)", default="redrive-plan.json"),
            Option("--report", "FILE", "the report as JSON (default: dead-letters.json)", default="dead-letters.json"),
        ),
    ),
    "report": Job(
        "Make one HTML page of the table `events`: traffic, latency, depth, failures.",
        (SPARK, TABLES, RANGE, FILTER),
        (
            "penstock pipeline report --out ./tables",
            "penstock pipeline report --from 2026-11-16T08:00 --to 2026-11-16T09:00 --queue orders --page orders.html",
        ),
        (Option("--page", "PATH", "where the page is written (default: OUT/report.html)"),),
    ),
    "replay": Job(
        "Send messages of the past again: any time, any filter, at a rate, each group in its order.",
        (SPARK, TARGET, TABLES, RANGE, FILTER, DRY),
        (
            "penstock pipeline replay --from 2026-11-16T08:00 --to 2026-11-16T09:00 --queue orders "
            "--to-queue http://127.0.0.1:9324/000000000000/orders --dry-run",
            "penstock pipeline replay --where \"type = 'order.placed' AND size < 1000\" "
            "--to-queue https://sqs.eu-west-1.amazonaws.com/123456789012/again.fifo --rate 100 --yes",
        ),
        (
            Option("--to-queue", "URL", "the queue that gets them", required=True),
            Option("--where", "SQL", "only messages for which this holds, by the columns of the table `events`"),
            Option("--rate", "N", "messages a second, at most (default: as fast as the queue takes them)", count),
            Option("--id", "NAME", "of this replay: what it has sent is not sent again (default: by what is asked)"),
            Option("--yes", "", "send without asking first"),
        ),
    ),
    "shell": Job(
        "Open a session with every table as a view, or run one SQL statement.",
        (SPARK, TABLES),
        (
            "penstock pipeline shell --out ./tables",
            'penstock pipeline shell --sql "SELECT queue, count(*) FROM events GROUP BY queue" --json',
        ),
        (
            Option("--sql", "SQL", "run this statement, print its rows and end"),
            Option("--json", "", "with --sql: one JSON object a line instead of a table"),
        ),
    ),
}

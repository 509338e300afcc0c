"""`penstock admin ACTION`: what an operator does with the queues and move tasks of any account."""

from penstock.cli.account_removal import add_removal, remove
from penstock.cli.admin_moves import cancel, moves
from penstock.cli.admin_queues import ORDERS, delete, peek, purge, queues
from penstock.cli.asking import add_asking
from penstock.cli.parser import Parser, count
from penstock.cli.subcommands import Subcommand, add_subcommands

QUEUE = "111122223333/orders"


def build(parser: Parser) -> None:
    parser.description = (
        "Look after the queues of every account, as an operator: with a key of the root account. A queue is given by\n"
        "its ARN or URL, as ACCOUNT/NAME, or by its name with --account. What takes something away shows what would\n"
        "go, and asks first."
    )
    parser.examples += ["penstock admin queues --sort depth", f"penstock admin purge-queue {QUEUE} --dry-run"]
    add_subcommands(parser, ACTIONS)


def _add_queues(parser: Parser) -> None:
    _add_account(parser)
    parser.add_argument("--prefix", metavar="TEXT", help="only queues whose names begin with this")
    parser.add_argument("--sort", choices=ORDERS, metavar="ORDER", default="name", help=f"one of {', '.join(ORDERS)}")


def _add_account(parser: Parser) -> None:
    parser.add_argument("--account", metavar="ACCOUNT", default="all", help="one account, or all (default: all)")


def _add_queue(parser: Parser) -> None:
    parser.add_argument("queue", metavar="QUEUE", help="its ARN, its URL, ACCOUNT/NAME, or its name with --account")
    parser.add_argument("--account", metavar="ACCOUNT", help="whose queue it is, if only its name is given")


def _add_taken(parser: Parser) -> None:
    _add_queue(parser)
    add_asking(parser)


def _add_peek(parser: Parser) -> None:
    _add_queue(parser)
    parser.add_argument("-n", dest="number", metavar="N", type=count, default=10, help="how many (default: 10)")


def _add_moves(parser: Parser) -> None:
    _add_account(parser)
    parser.add_argument("--of", metavar="ARN", help="the last tasks of this dead-letter queue, ended ones too")


def _add_cancel(parser: Parser) -> None:
    parser.add_argument("task", metavar="TASK", help="its id, as `penstock admin moves` shows it")
    add_asking(parser)


ACTIONS = {
    "queues": Subcommand(
        "List queues with what they hold and when they were last used, in all regions or the one of --region.",
        "",
        _add_queues,
        queues,
        ("penstock admin queues --account 111122223333", "penstock admin queues --sort use --json"),
    ),
    "delete-queue": Subcommand(
        "Delete a queue, whatever it holds.",
        "QUEUE",
        _add_taken,
        delete,
        (f"penstock admin delete-queue {QUEUE} --dry-run", f"penstock admin delete-queue {QUEUE} --yes"),
    ),
    "purge-queue": Subcommand(
        "Delete all messages of a queue.",
        "QUEUE",
        _add_taken,
        purge,
        ("penstock admin purge-queue orders --account 111122223333",),
    ),
    "delete-account": Subcommand(
        "Delete an account, with everything in it.",
        "ACCOUNT",
        add_removal,
        remove,
        ("penstock admin delete-account 111122223333 --dry-run", "penstock admin delete-account 111122223333 --yes"),
    ),
    "moves": Subcommand(
        "List the move tasks that are running.", "", _add_moves, moves, ("penstock admin moves --account 111122223333",)
    ),
    "cancel-move": Subcommand(
        "End a move task; what it has moved stays moved.",
        "TASK",
        _add_cancel,
        cancel,
        ("penstock admin cancel-move 9d6b1c1e-6f0a-4c53-8a55-0f3c2b7d8e21 --yes",),
    ),
    "peek": Subcommand(
        "Show messages of a queue without receiving them.",
        "QUEUE",
        _add_peek,
        peek,
        (f"penstock admin peek {QUEUE} -n 5",),
    ),
}

"""What an account, a queue, a batch entry, a label or a message group may be called, and what Amazon says when it may
not."""

import re
from collections.abc import Sequence

from penstock.core.errors import ServiceError, invalid_parameter, invalid_value
from penstock.core.limits import Limits

_ACCOUNT = re.compile(r"[0-9]{12}")
_WORD = re.compile(r"[A-Za-z0-9_-]+")
_PUNCTUATED = re.compile(r"[A-Za-z0-9!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]{1,128}")

FIFO_SUFFIX = ".fifo"


def is_account(text: str) -> bool:
    return _ACCOUNT.fullmatch(text) is not None


def check_queue_name(name: str, fifo: bool, limits: Limits) -> None:
    longest = limits.max_queue_name_length_chars
    word = name.removesuffix(FIFO_SUFFIX) if fifo else name
    if len(name) <= longest and _WORD.fullmatch(word) and name.endswith(FIFO_SUFFIX) == fifo:
        return
    if fifo:
        raise invalid_parameter(
            "The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, "
            f"must end with .fifo suffix and be 1 to {longest} in length."
        )
    raise invalid_parameter(
        f"Can only include alphanumeric characters, hyphens, or underscores. 1 to {longest} in length"
    )


def check_batch_ids(ids: Sequence[str], limits: Limits) -> None:
    longest, lengths = limits.max_batch_id_length, [len(entry_id) for entry_id in ids]
    if _WORD.fullmatch("".join(ids)) and min(lengths) > 0 and max(lengths) <= longest and len(set(ids)) == len(ids):
        return
    seen: set[str] = set()
    for entry_id in ids:
        if not (_WORD.fullmatch(entry_id) and len(entry_id) <= longest):
            raise ServiceError(
                "InvalidBatchEntryId",
                "A batch entry id can only contain alphanumeric characters, hyphens and underscores. "
                f"It can be at most {longest} letters long.",
            )
        if entry_id in seen:
            raise ServiceError("BatchEntryIdsNotDistinct", f"Id {entry_id} repeated.")
        seen.add(entry_id)


def check_label(label: str, limits: Limits) -> None:
    if not (_WORD.fullmatch(label) and len(label) <= limits.max_label_length_chars):
        raise invalid_value(
            label,
            "Label",
            "Can only include alphanumeric characters, hyphens, or underscores. "
            f"1 to {limits.max_label_length_chars} in length",
        )


def check_punctuated(value: str, parameter: str) -> None:
    """Group, deduplication and receive-attempt ids."""
    if not _PUNCTUATED.fullmatch(value):
        raise invalid_value(
            value,
            parameter,
            f"{parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length.",
        )

"""What each of the service's limits means to an operator, and the least it may be.

The limits and their defaults are in `core.limits`; a test holds that each has its line here.
"""

from typing import NamedTuple


class Meaning(NamedTuple):
    least: int
    help: str


MEANINGS: dict[str, Meaning] = {
    "max_queue_name_length_chars": Meaning(1, "The longest name a queue may have."),
    "max_label_length_chars": Meaning(1, "The longest label a permission may have."),
    "max_delay_seconds": Meaning(0, "The longest delay of a queue or a message."),
    "min_maximum_message_size": Meaning(1, "The least that a queue's MaximumMessageSize may be, in bytes."),
    "max_maximum_message_size": Meaning(1, "The most that a queue's MaximumMessageSize may be, in bytes."),
    "max_batch_bytes": Meaning(1, "The most bytes that the messages of a batch may have together."),
    "min_message_retention_period": Meaning(1, "The shortest time, in seconds, that a queue may keep messages."),
    "max_message_retention_period": Meaning(1, "The longest time, in seconds, that a queue may keep messages."),
    "max_receive_message_wait_time_seconds": Meaning(0, "The longest a receive may wait for messages."),
    "max_visibility_timeout": Meaning(0, "The longest, in seconds, that a received message may be hidden."),
    "max_max_receive_count": Meaning(1, "The most that a redrive policy's maxReceiveCount may be."),
    "max_receive_message_max_number_of_messages": Meaning(1, "The most messages one receive may ask for."),
    "max_message_attributes": Meaning(0, "The most attributes a message may have."),
    "max_message_attribute_name_length": Meaning(1, "The longest name a message attribute may have."),
    "max_message_attribute_type_length": Meaning(1, "The longest type a message attribute may have."),
    "max_num_batch_entries": Meaning(1, "The most entries a batch may have."),
    "max_batch_id_length": Meaning(1, "The longest id an entry of a batch may have."),
    "max_in_flight": Meaning(1, "The most messages a standard queue may have in flight."),
    "max_in_flight_fifo": Meaning(1, "The most messages a FIFO queue may have in flight."),
    "max_queues_per_account": Meaning(
        0, "The most queues of an account that has no quota of its own; 0 is any number."
    ),
    "max_tags": Meaning(0, "The most tags a queue may have."),
    "max_list_results": Meaning(1, "The most queues that one page of a list may have."),
    "max_move_rate": Meaning(1, "The most messages a second that a move task may be asked to move."),
    "max_policy_bytes": Meaning(0, "The most bytes a queue's policy may have."),
    "max_policy_statements": Meaning(0, "The most statements a queue's policy may have."),
    "max_actions_per_statement": Meaning(1, "The most actions a statement of a queue's policy may have."),
    "max_redrive_sources": Meaning(0, "The most queues that a redrive allow policy may name."),
    "max_parked_receives_per_account": Meaning(0, "The most receives of one account that may wait at once."),
    "max_requests_per_second_per_account": Meaning(0, "The most requests a second of one account; 0 is any number."),
    "max_requests_per_second_per_queue": Meaning(0, "The most requests a second to one queue; 0 is any number."),
}

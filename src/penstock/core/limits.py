"""Every limit of the service in one table: Amazon's present values, each a setting an operator may change."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    max_queue_name_length_chars: int = 80
    max_label_length_chars: int = 80
    max_delay_seconds: int = 900
    min_maximum_message_size: int = 1024
    max_maximum_message_size: int = 1_048_576
    max_batch_bytes: int = 1_048_576
    min_message_retention_period: int = 60
    max_message_retention_period: int = 1_209_600
    max_receive_message_wait_time_seconds: int = 20
    max_visibility_timeout: int = 43_200
    max_max_receive_count: int = 1000
    max_receive_message_max_number_of_messages: int = 10
    max_message_attributes: int = 10
    max_message_attribute_name_length: int = 256
    max_message_attribute_type_length: int = 256
    max_num_batch_entries: int = 10
    max_batch_id_length: int = 80
    max_in_flight: int = 120_000
    max_in_flight_fifo: int = 120_000
    max_queues_per_account: int = 0
    max_tags: int = 50
    max_list_results: int = 1000
    max_move_rate: int = 500
    max_policy_bytes: int = 8192
    max_policy_statements: int = 20
    max_actions_per_statement: int = 7
    max_redrive_sources: int = 10
    max_parked_receives_per_account: int = 1000
    max_requests_per_second_per_account: int = 0
    max_requests_per_second_per_queue: int = 0

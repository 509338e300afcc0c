"""What can go wrong in a request, named once.

A `ServiceError` carries the name of an error shape and a message for the caller. How that looks on
the wire (status, JSON type, Query code) is decided in `aws.errors`, from one table.
"""


class ServiceError(Exception):
    """The request is refused; nothing was changed. `shape` is a row of `aws.errors.ERRORS`."""

    def __init__(self, shape: str, message: str) -> None:
        super().__init__(message)
        self.shape = shape
        self.message = message


class QueueGone(Exception):
    """A store was asked about a queue that does not exist (any more)."""


class Unavailable(Exception):
    """The store cannot take the change now; nothing was changed, trying again is right."""


def invalid_value(value: object, parameter: str, reason: str) -> ServiceError:
    return invalid_parameter(f"Value {value} for parameter {parameter} is invalid. Reason: {reason}")


def invalid_parameter(message: str) -> ServiceError:
    return ServiceError("InvalidParameterValue", message)


def invalid_attribute(name: str, reason: str = "") -> ServiceError:
    message = f"Invalid value for the parameter {name}."
    return ServiceError("InvalidAttributeValue", f"{message} Reason: {reason}" if reason else message)


def missing_parameter(name: str) -> ServiceError:
    return ServiceError("MissingParameter", f"The request must contain the parameter {name}.")


def no_such_queue() -> ServiceError:
    return ServiceError("QueueDoesNotExist", "The specified queue does not exist.")

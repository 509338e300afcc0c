"""How IAM says no. The words are Amazon's: people and programs search for them."""

from penstock.core.errors import ServiceError


def no_such(message: str) -> ServiceError:
    return ServiceError("NoSuchEntityException", message)


def already_there(message: str) -> ServiceError:
    return ServiceError("EntityAlreadyExistsException", message)


def in_use(first: str) -> ServiceError:
    """It cannot be deleted while something hangs on it."""
    return ServiceError("DeleteConflictException", f"Cannot delete entity, must {first} first.")


def over_quota(name: str, most: int) -> ServiceError:
    return ServiceError("LimitExceededException", f"Cannot exceed quota for {name}: {most}")


def invalid_input(message: str) -> ServiceError:
    return ServiceError("InvalidInputException", message)


def not_valid(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)

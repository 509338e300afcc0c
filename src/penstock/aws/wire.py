"""The three protocols behind one face: what a request asks for, and how it is answered. One object per request."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import msgspec

from penstock.aws import json, query, rpc, xml
from penstock.aws.contract import Operation, Service
from penstock.aws.http import HttpRequest, HttpResponse
from penstock.core.errors import ServiceError

FORM = b"application/x-www-form-urlencoded"
NO_ACTION = b'<?xml version="1.0"?><UnknownOperationException/>\n'


class Services:
    """What is served: services by name, and operations by what JSON and CBOR requests call them."""

    def __init__(self, services: Mapping[str, Service]) -> None:
        self.by_name = services
        self.targets = {
            f"{service.target_prefix}.{name}".encode(): (service, operation)
            for service in services.values()
            if service.target_prefix
            for name, operation in service.operations.items()
        }
        self.paths = {
            rpc.path_of(service, name): (service, operation)
            for service in services.values()
            if rpc.PROTOCOL in service.model["metadata"].get("protocols", ())
            for name, operation in service.operations.items()
        }


class NoAction(Exception):
    """The request names no action at all: Amazon answers with a bare 404."""


class Wire(Protocol):
    said_by_head: ClassVar[bool]
    """Whether the head of a request, without its body, says what is asked for."""

    def operation(self, services: Services, signed_for: str) -> tuple[Service, Operation]:
        """What is asked for. `signed_for` is the service in the signature's scope, if there is one."""

    def request(self, service: Service, operation: Operation) -> Any:
        """The typed request."""

    def reply(self, service: Service, operation: Operation, result: Any, request_id: str) -> HttpResponse: ...

    def refuse(self, error: ServiceError, request_id: str) -> HttpResponse: ...


def wire_of(http: HttpRequest, services: Services) -> Wire:
    if b"x-amz-target" in http.headers or http.headers.get(b"content-type", b"").startswith(b"application/x-amz-json"):
        return JsonWire(http)
    if http.headers.get(b"smithy-protocol") == rpc.MARK:
        return CborWire(http)
    return QueryWire(http, services)


class JsonWire(msgspec.Struct):
    said_by_head: ClassVar[bool] = True
    http: HttpRequest

    def operation(self, services: Services, signed_for: str) -> tuple[Service, Operation]:
        target = self.http.headers.get(b"x-amz-target", b"")
        found = services.targets.get(target)
        if found is None or self.http.method != "POST":
            raise unknown_action(target.decode("latin-1").rpartition(".")[2])
        return found

    def request(self, service: Service, operation: Operation) -> Any:
        return json.decode(service, operation, self.http.body)

    def reply(self, service: Service, operation: Operation, result: Any, request_id: str) -> HttpResponse:
        return json.encode(result, request_id)

    def refuse(self, error: ServiceError, request_id: str) -> HttpResponse:
        query_mode = self.http.headers.get(b"x-amzn-query-mode", b"").lower() == b"true"
        return json.encode_error(error, request_id, query_mode)


class CborWire(msgspec.Struct):
    said_by_head: ClassVar[bool] = True
    http: HttpRequest

    def operation(self, services: Services, signed_for: str) -> tuple[Service, Operation]:
        found = services.paths.get(self.http.target)
        if found is None or self.http.method != "POST":
            raise unknown_action(self.http.target.decode("latin-1").rpartition("/")[2])
        return found

    def request(self, service: Service, operation: Operation) -> Any:
        return rpc.decode(service, operation, self.http.body)

    def reply(self, service: Service, operation: Operation, result: Any, request_id: str) -> HttpResponse:
        return rpc.encode(service, operation, result, request_id)

    def refuse(self, error: ServiceError, request_id: str) -> HttpResponse:
        return rpc.encode_error(error, request_id)


class QueryWire:
    said_by_head: ClassVar[bool] = False

    def __init__(self, http: HttpRequest, services: Services) -> None:
        self._http, self._services = http, services
        self._service = services.by_name["sqs"]
        self._given: query.Parameters = {}
        self._as_json = b"application/json" in http.headers.get(b"accept", b"")

    def operation(self, services: Services, signed_for: str) -> tuple[Service, Operation]:
        target, body = self._http.target, self._http.body
        content_type = self._http.headers.get(b"content-type", FORM)
        self._given = query.parameters(target.partition(b"?")[2], body if content_type.startswith(FORM) else b"")
        name = self._given.get("Action")
        if name is None or self._http.method not in ("GET", "POST"):
            raise NoAction
        path = query.path_of(target).decode("utf-8", "replace").strip("/")
        known = services.by_name
        candidates = [known[signed_for]] if signed_for in known else list(known.values())
        service = next((service for service in candidates if name in service.operations), None)
        if service is None or (path and name in service.account_operations):
            raise unknown_action(name)
        self._service = service
        if path and service.name == "sqs":
            self._given.setdefault("QueueUrl", f"/{path}")
        return service, service.operations[name]

    def request(self, service: Service, operation: Operation) -> Any:
        return query.decode(service, operation, self._given)

    def reply(self, service: Service, operation: Operation, result: Any, request_id: str) -> HttpResponse:
        return xml.encode(service, operation, result, request_id, self._as_json)

    def refuse(self, error: ServiceError, request_id: str) -> HttpResponse:
        return xml.encode_error(self._service, error, request_id, self._as_json)


def unknown_action(name: str) -> ServiceError:
    return ServiceError("InvalidAction", f"The action {name} is not valid for this endpoint.")

"""Pages for operators and their tools, beside the API: liveness, readiness, metrics."""

from collections.abc import Callable, Coroutine, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any

from penstock.api.call import Site
from penstock.api.gateway import Gateway
from penstock.api.metrics import Metrics
from penstock.aws.http import Handler, HttpRequest, HttpResponse

TEXT = b"content-type: text/plain; charset=utf-8\r\n"
PROMETHEUS = b"content-type: text/plain; version=1.0.0; charset=utf-8; escaping=underscores\r\n"

Network = IPv4Network | IPv6Network


class Pages:
    """Answers what is a page and passes everything else on to the API."""

    def __init__(
        self,
        site: Site,
        metrics: Metrics,
        metrics_from: tuple[Network, ...],
        api: Gateway,
        on_trouble: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_trouble` is called when someone asks and all is not well, to find out whether it still is so."""
        self._on_trouble = on_trouble
        self._site, self._metrics, self._metrics_from, self._api = site, metrics, metrics_from, api
        self.draining = False
        self._pages: dict[bytes, Handler] = {
            b"/health/live": self._live,
            b"/health/ready": self._ready,
            b"/metrics": self._measured,
        }

    def prepare(self, requests: Sequence[HttpRequest]) -> None:
        self._api.prepare([http for http in requests if http.method == "POST" or self._page(http) is None])

    def answer(self, http: HttpRequest) -> Coroutine[Any, Any, HttpResponse]:
        page = None if http.method == "POST" else self._page(http)
        return page(http) if page else self._api.answer(http)

    def _page(self, http: HttpRequest) -> Handler | None:
        return self._pages.get(http.target.partition(b"?")[0])

    async def _live(self, http: HttpRequest) -> HttpResponse:
        return HttpResponse(200, b"ok\n", TEXT)

    async def _ready(self, http: HttpRequest) -> HttpResponse:
        trouble = "The server is stopping." if self.draining else self._site.trouble()
        if trouble:
            self._on_trouble()
            return HttpResponse(503, f"{trouble}\n".encode(), TEXT)
        return HttpResponse(200, b"ready\n", TEXT)

    async def _measured(self, http: HttpRequest) -> HttpResponse:
        if not any(ip_address(http.peer) in network for network in self._metrics_from):
            return HttpResponse(403, b"Not from this address: see the setting metrics_from.\n", TEXT)
        return HttpResponse(200, await self._metrics.page(self._site), PROMETHEUS)

"""The composition root: makes the parts from the settings, joins them, and runs them until told to stop."""

import asyncio
import contextlib
import gc
import resource
import secrets
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import structlog
import uvloop

from penstock import __version__, registry
from penstock.api.access import Access
from penstock.api.addresses import Addresses
from penstock.api.authorise import authorise
from penstock.api.call import Site
from penstock.api.express import Express
from penstock.api.gateway import Gateway
from penstock.api.identities import Identities, Key
from penstock.api.last_used import LastUsed
from penstock.api.metrics import Metrics
from penstock.api.pages import Pages
from penstock.api.record import Recorder
from penstock.api.waiting import WaitingRoom
from penstock.audit.log import Log as AuditLog
from penstock.aws.signature import Verifier
from penstock.aws.xml import refuse
from penstock.config import Loaded, Settings
from penstock.core.clock import AnchoredClock
from penstock.core.errors import ServiceError, Unavailable
from penstock.core.identity import root_of
from penstock.core.keyring import Keyring
from penstock.core.store import StoreError
from penstock.credentials import RootCredentials
from penstock.declared import DeclarationError, declare
from penstock.journal.keeping import JournalOfServer, Keeping, without_journal
from penstock.journal.segments import Segments
from penstock.listeners.http import HttpLimits, HttpListener, TlsFiles
from penstock.logs import configure_logs
from penstock.loops.audit import SAVE_EVERY_MS, AuditKeeper
from penstock.loops.gauges import Gauges
from penstock.loops.identities import Refresher
from penstock.loops.journal import SYNC_EVERY_MS, JournalKeeper
from penstock.loops.last_used import UseWriter
from penstock.loops.loop import Loop
from penstock.loops.mover import Mover
from penstock.loops.refusals import RefusalTeller
from penstock.loops.sweeper import Sweeper
from penstock.masterkey import is_open, vault_of

log = structlog.get_logger("penstock")

MOST_BEHIND_SECONDS = 3600


class StartError(Exception):
    """The server cannot start; the message is for the person who started it."""


def serve(loaded: Loaded) -> int:
    settings = loaded.settings
    configure_logs(settings.log_format, settings.log_level)
    try:
        return uvloop.run(_serve(settings))
    except (StartError, DeclarationError, StoreError) as error:
        sys.stderr.write(f"penstock: {error}\n")
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"penstock: {about}{error.strerror or error}\n")
    return 1


async def _serve(settings: Settings) -> int:
    server = Server(settings)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    allow_open_files(settings.max_connections)
    await server.start()
    loop.add_signal_handler(signal.SIGHUP, server.reload)
    await stopping.wait()
    log.info("stopping")
    await server.stop()
    return 0


def allow_open_files(connections: int) -> None:
    """As many as the connections need, if the system lets us."""
    wanted = connections + 256
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        granted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, hard))
        if granted < wanted:
            log.warning("fewer open files allowed than max_connections needs", allowed=granted, needed=wanted)


def make_data_directory(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        raise StartError(f"the data directory {path} cannot be made: {why}; give another with --data") from error


def spare_the_collector() -> None:
    """What is there now stays, and what requests make is freed without the collector's help: it need not look often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class Server:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = AnchoredClock()
        self.metrics = Metrics()
        self.room = WaitingRoom()
        self.native = _native(settings.native)
        self.store = registry.store_at(settings.store, self.native)
        self.sweeper = Loop(Sweeper(self.store), self.clock)
        self.mover = Loop(Mover(self.store), self.clock)
        self.loops = [self.sweeper, self.mover, Loop(Gauges(self.store), self.clock)]
        self.journal: JournalOfServer | None = None
        self.audit: AuditLog | None = None

    async def start(self) -> None:
        settings = self.settings
        make_data_directory(settings.data)
        await self.store.open()
        vault = await vault_of(settings, self.store)
        if not settings.master_key and is_open(settings.master_key_file):
            log.warning("everybody on this machine can read the master key", file=str(settings.master_key_file))
        keyring = Keyring(vault, settings.kms_keys, settings.kms_keys_disabled)
        self.store.attach_keys(keyring)
        self._check_time()
        self.store.subscribe(self._messages_due)
        self.store.observe_commits(self.metrics.commit)
        self.store.traffic.since, self.store.traffic.kept_minutes = self.clock.now(), settings.metrics_keep_minutes
        self.store.windows_keep_days = settings.metrics_keep_days
        await self._start_journal()
        self._start_audit()
        self.identities = Identities(self.store, vault, dict(_declared_keys(settings)))
        await self.identities.refresh()
        self.loops.append(Loop(Refresher(self.identities), self.clock))
        self.key_uses = LastUsed()
        self.loops.append(Loop(UseWriter(self.key_uses, self.identities), self.clock))
        site = Site(
            store=self.store,
            clock=self.clock,
            room=self.room,
            handle_key=await self.store.keep("handle-key", secrets.token_bytes(32)),
            limits=settings.limits,
            addresses=Addresses(settings.public_url, settings.trusted_proxies),
            move_started=lambda: self.mover.expect(self.clock.now()),
            recreate_wait_seconds=settings.recreate_wait_seconds,
            purge_wait_seconds=settings.purge_wait_seconds,
            journal=self.journal,
            audit=self.audit,
            root_account=settings.root_account,
            every_account_exists=settings.auth == "off",
            identities=self.identities,
            declared_accounts={account.id: account.name for account in settings.accounts},
            root_key_changed=lambda access_key, secret: credentials.change(access_key, secret),
            keyring=keyring,
        )
        await declare(site, settings.queues)
        credentials = await RootCredentials.of(settings, self.identities, self.store, self.clock.now())
        self._listen(site)
        await self.listener.start()
        spare_the_collector()
        for loop in self.loops:
            loop.start()
        announce(settings, self.url, credentials)

    async def _start_journal(self) -> None:
        settings = self.settings
        keeping = Keeping(
            settings.journal_directory,
            settings.journal,
            settings.journal_segment_bytes,
            settings.journal_segment_seconds,
            settings.journal_keep_days,
            settings.journal_keep_bytes,
        )
        segments = Segments(settings.journal_directory)
        segments.disk.native = self.native
        journal = JournalOfServer(self.store, self.clock, keeping, segments=segments)
        if settings.journal == "off" or not self.store.capabilities.journal:
            await without_journal(journal, self.store)
            return
        self._journal_claim = journal.files.disk.claim(keeping.directory)
        self.journal = journal
        await self.journal.start()
        self.keeper = Loop(JournalKeeper(self.journal, self.store), self.clock)
        self.journal.wake = lambda: self.keeper.expect(self.clock.now() + SYNC_EVERY_MS)
        self.keeper.start()

    def _start_audit(self) -> None:
        if self.settings.audit == "on":
            self.audit = AuditLog(self.settings.data / "audit", self.clock, self.settings.audit_keep_days)
            self.audit.start()
            self.auditor = Loop(AuditKeeper(self.audit), self.clock)
            self.audit.wake = lambda: self.auditor.expect(self.clock.now() + SAVE_EVERY_MS)
            self.auditor.start()

    def _check_time(self) -> None:
        """Time must not run backwards between two lives of the server: visibility, order and age are told by it."""
        known = self.store.known_time()
        behind = (known - self.clock.wall()) / 1000
        if behind > MOST_BEHIND_SECONDS and not self.settings.trust_clock:
            raise StartError(
                f"the system's clock is {behind / 3600:.1f} hours behind what the store has seen: set it right, "
                "or start once with --trust-clock true"
            )
        if behind <= MOST_BEHIND_SECONDS:
            self.clock.start_from(known)

    async def stop(self) -> None:
        """Answer everyone who is being served, then leave."""
        self.pages.draining = True
        self.room.close()
        if self.journal:
            self.journal.writer.release()
        await self.listener.stop(self.settings.drain_seconds)
        for loop in self.loops:
            await loop.stop()
        await self._write_last_uses()
        self.teller.tell(self.clock.now())
        if self.journal:
            await self.keeper.stop()
            await self.journal.stop()
            self._journal_claim.close()
        if self.audit:
            await self.auditor.stop()
            await self.audit.stop()
        await self.store.close()

    async def _write_last_uses(self) -> None:
        """What no minute came for. That a key was used is not worth failing to stop."""
        with contextlib.suppress(Unavailable, ServiceError):
            while await self.key_uses.write(self.identities):
                pass

    def reload(self) -> None:
        try:
            self.listener.reload_tls()
            log.info("reloaded", tls=self.settings.tls_certificate is not None)
        except OSError as error:
            log.error("TLS files not reloaded", reason=str(error))

    @property
    def url(self) -> str:
        scheme = "https" if self.settings.tls_certificate else "http"
        host = self.settings.listen.host
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.listener.port}"

    def _sweep_now(self) -> None:
        self.sweeper.expect(self.clock.now())

    def _messages_due(self, queue_id: int, at: int, messages: int) -> bool:
        if at <= self.clock.now():
            return self.room.wake(queue_id, messages)
        self.sweeper.expect(at)
        return False

    def _listen(self, site: Site) -> None:
        settings = self.settings
        services = {name: registry.load(where) for name, where in registry.SERVICES.items()}
        access = Access(
            keys=self.identities,
            verifier=Verifier(
                frozenset(module.SERVICE.signing_name for module in services.values()),
                settings.regions,
                debug=settings.log_level == "debug",
                aliases=settings.signed_hosts,
            ),
            region=settings.region,
            root_account=settings.root_account,
            enforced=settings.auth == "on",
            addresses=site.addresses,
            used=self.key_uses,
        )
        recorder = Recorder(self.metrics)
        self.teller = RefusalTeller(site, recorder)
        self.loops.append(Loop(self.teller, self.clock))
        gateway = Gateway(site, access, authorise, services, recorder.record)
        self.pages = Pages(site, self.metrics, settings.metrics_from, gateway, on_trouble=self._sweep_now)
        tls = None
        if settings.tls_certificate and settings.tls_key:
            tls = TlsFiles(settings.tls_certificate, settings.tls_key)
        self.express = self._express_way(site, access, recorder)
        self.listener = HttpListener(
            settings.listen.host,
            settings.listen.port,
            self.pages.answer,
            limits=HttpLimits(
                body_bytes=settings.max_request_bytes,
                header_seconds=settings.header_seconds,
                idle_seconds=settings.idle_seconds,
                connections_per_address=settings.max_connections_per_address,
                connections=settings.max_connections,
                drain_seconds=settings.drain_seconds,
            ),
            tls=tls,
            refuse=refuse,
            on_connections=self.metrics.connections,
            prepare=self.pages.prepare,
            express=self.express,
        )

    def _express_way(self, site: Site, access: Access, recorder: Recorder) -> Express | None:
        limits = site.limits
        paced = limits.max_requests_per_second_per_account or limits.max_requests_per_second_per_queue
        if paced or self.native is None:
            return None
        return Express(site, access, authorise, recorder.record, self.native)


def _native(wanted: str) -> ModuleType | None:
    native = None if wanted == "off" else registry.native()
    if native is None and wanted == "on":
        raise StartError(
            "native = on, and it was not built: install Rust 1.85 or newer and then Penstock again, or say auto"
        )
    return native


def _declared_keys(settings: Settings) -> Iterator[tuple[str, Key]]:
    if settings.root_access_key:
        yield settings.root_access_key, Key(settings.root_secret_key, root_of(settings.root_account))
    for account in settings.accounts:
        for key in account.keys:
            yield key.access_key, Key(key.secret, root_of(account.id))


def announce(settings: Settings, url: str, credentials: RootCredentials) -> None:
    """What the person at the terminal needs to know. A secret is shown once, when it has just been made."""
    lines = [f"Penstock {__version__} listens on {url}"]
    if settings.auth == "off":
        lines += ["", "AUTHENTICATION IS OFF: anyone who reaches this address can read and change everything."]
    if settings.is_plain_to_others:
        lines += ["", "PLAIN HTTP: whoever is on the way can read every message, and repeat requests for 15 minutes."]
    if credentials.made_now:
        exports = {
            "AWS_ENDPOINT_URL": settings.public_url or url,
            "AWS_ACCESS_KEY_ID": credentials.access_key,
            "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
            "AWS_REGION": settings.region,
            "AWS_DEFAULT_REGION": settings.region,  # what boto3 and version 1 of the AWS CLI read
        }
        lines += [
            "",
            *(f"  export {name}={shlex.quote(value)}" for name, value in exports.items()),
            "",
            "  aws sqs create-queue --queue-name orders --endpoint-url $AWS_ENDPOINT_URL",
            "",
            f"The key is kept in {credentials.file}, readable by its owner alone.",
        ]
    else:
        lines.append(f"The root account's key is in {credentials.file}.")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()

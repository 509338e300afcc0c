//! Connections whose next requests are expected to be plain ones: read, recognised and gathered into parties.
//!
//! A connection is lent by Python and goes back to it, with all bytes that were not answered, as soon as anything else
//! than a plain request comes: another head, a signature that does not hold, a body that is not plain, the end of the
//! stream. Python reads it from there as if nothing had been here. So what is refused is refused there, and nothing here
//! has to be able to say no.
//!
//! The sockets are watched edge by edge (EPOLLET): while a request is being answered its connection is not read, only
//! marked if more has come.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::form::{Form, Known};
use crate::party::{Party, Request};
use crate::permit::Granted;
use crate::wakeful::{self, Wakeful};
use crate::wire::{self, Asked};

const EVENTS_AT_ONCE: usize = 256;
const READ_BYTES: usize = 64 * 1024;
const READS_BETWEEN_LOOKS: u64 = 16;
/// More than most servers have queues, for each of a few operations.
const MOST_PERMITS: usize = 100_000;
/// Most answers come within it: it takes a commit.
const STIRRED_SECONDS: f64 = 0.001;

/// Which connection, and the how-manieth in its slot.
pub type Key = u64;

struct Connection {
    key: Key,
    socket: RawFd,
    peer: Arc<str>,
    forms: Vec<Arc<Known>>,
    buffer: Vec<u8>,
    begun: Option<Instant>,
    busy: bool,
    more: bool,
    /// What its client has said of leaving.
    end: End,
    /// Whether its request is to wait for something that may be long in coming.
    parked: bool,
    leaving: bool,
    served: u64,
}

/// A client that ends its stream may still wait for an answer, or have gone; the system does not tell which.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum End {
    NotYet,
    OfStream,
    OfAll,
}

/// Those who ask for the same: with heads alike, from one address, of one queue, with the same numbers.
#[derive(PartialEq, Eq, Hash)]
pub struct Alike {
    pub form: usize,
    pub peer: Arc<str>,
    pub queue_url: String,
    pub numbers: [Option<u32>; 3],
}

/// What is granted to those who are alike; the form, by whose place they are known, stays where it is for as long.
pub type InForce = (Arc<Known>, Arc<Granted>);
pub type Permits = HashMap<Alike, InForce>;

pub struct Core {
    epoll: RawFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    lent: u32,
    /// Connections to be looked at without a sign of the system.
    again: Vec<Key>,
    /// Connections that are Python's again, with what is left of a reply, and with what came and was not answered.
    returned: Vec<(Key, Vec<u8>, Vec<u8>, u64)>,
    /// Connections whose request is parked and whose client may have gone, and whether it certainly has.
    abandoned: Vec<(Key, bool)>,
    parties: Vec<Party>,
    alike: HashMap<Alike, usize>,
    permits: Permits,
    /// The latest of which there are permits: forms are good for the day that they are signed for.
    day: Vec<u8>,
    scratch: Vec<u8>,
    /// How often bytes were read, and on which processor they arrived, now and then.
    reads: u64,
    arrives_at: i32,
    /// Keeps the processors of clients awake, if it may.
    there: Wakeful,
    stirs: bool,
    longest_body: usize,
    longest_batch: usize,
}

enum Recognised {
    Whole(Arc<Known>, usize),
    Part,
    No,
}

impl Core {
    fn at(&mut self, key: Key) -> Option<&mut Connection> {
        self.connections.get_mut(key as u32 as usize)?.as_mut().filter(|connection| connection.key == key)
    }

    fn give_back(&mut self, key: Key, unsent: Vec<u8>, unread: Vec<u8>) {
        if self.at(key).is_some()
            && let Some(connection) = self.connections[key as u32 as usize].take()
        {
            // SAFETY: both are open; that it is not watched any more is what is wanted.
            unsafe { libc::epoll_ctl(self.epoll, libc::EPOLL_CTL_DEL, connection.socket, std::ptr::null_mut()) };
            self.free.push(key as u32 as usize);
            self.returned.push((key, unsent, unread, connection.served));
        }
    }

    /// Look at one connection, of which the system or an earlier look said that there is something.
    fn look(&mut self, key: Key, now_ms: i64, shared: &Arc<Mutex<Core>>) {
        let Some(connection) = self.at(key) else {
            return;
        };
        if connection.busy {
            connection.more = true;
            return;
        }
        connection.more = false;
        let (socket, mut data) = (connection.socket, std::mem::take(&mut connection.buffer));
        let (mut drained, mut ended) = (false, false);
        while !drained && !ended && (data.len() < READ_BYTES || self.is_part(key, &data)) {
            // SAFETY: the system writes at most as much as the buffer has room for.
            let count = unsafe { libc::recv(socket, self.scratch.as_mut_ptr().cast(), READ_BYTES, libc::MSG_DONTWAIT) };
            match count {
                1.. => {
                    data.extend_from_slice(&self.scratch[..count as usize]);
                    drained = (count as usize) < READ_BYTES;
                }
                0 => ended = true,
                _ => {
                    let error = io::Error::last_os_error();
                    drained = error.kind() == io::ErrorKind::WouldBlock;
                    ended = !drained && error.kind() != io::ErrorKind::Interrupted;
                }
            }
        }
        if !drained && let Some(connection) = self.at(key) {
            connection.more = true; // the system will not say so again
        }
        self.reads += 1;
        if self.reads % READS_BETWEEN_LOOKS == 1 {
            self.arrives_at = arrival(socket);
        }
        if ended {
            self.give_back(key, Vec::new(), data); // Python will find the end again, after these
        } else if !data.is_empty() {
            self.take(key, data, now_ms, shared);
        }
    }

    /// Whether these are less than a whole request.
    fn is_part(&self, key: Key, data: &[u8]) -> bool {
        self.connections[key as u32 as usize]
            .as_ref()
            .is_some_and(|connection| matches!(recognise(&connection.forms, data, self.longest_body), Recognised::Part))
    }

    /// What came on a connection: one request and maybe the begin of others, or a part of one.
    fn take(&mut self, key: Key, mut data: Vec<u8>, now_ms: i64, shared: &Arc<Mutex<Core>>) {
        let (longest, longest_batch) = (self.longest_body, self.longest_batch);
        let Some(connection) = self.at(key) else {
            return;
        };
        match recognise(&connection.forms, &data, longest) {
            Recognised::Part => {
                connection.begun.get_or_insert_with(Instant::now);
                connection.buffer = data;
            }
            Recognised::No => self.give_back(key, Vec::new(), data),
            Recognised::Whole(form, end) => {
                let (head, body) = data[..end].split_at(form.length);
                let asked = form.confirms(head, body, now_ms).then(|| wire::read(form.operation, body)).flatten();
                match asked {
                    Some(asked) if !form.operation.is_batch() || body.len() <= longest_batch => {
                        connection.busy = true;
                        connection.begun = None;
                        connection.buffer = data.split_off(end);
                        let peer = connection.peer.clone();
                        self.gather(key, peer, form, asked, data, shared);
                    }
                    _ => self.give_back(key, Vec::new(), data),
                }
            }
        }
    }

    fn gather(
        &mut self,
        key: Key,
        peer: Arc<str>,
        form: Arc<Known>,
        asked: Asked,
        raw: Vec<u8>,
        shared: &Arc<Mutex<Core>>,
    ) {
        let numbers = [asked.most, asked.visibility, asked.wait];
        let alike = Alike { form: Arc::as_ptr(&form) as usize, peer, queue_url: asked.queue_url, numbers };
        let (parties, permits) = (&mut self.parties, &self.permits);
        let place = *self.alike.entry(alike).or_insert_with_key(|alike| {
            let (peer, queue_url) = (alike.peer.to_string(), alike.queue_url.clone());
            let mut party = Party::new(shared.clone(), form, peer, queue_url, numbers);
            party.permit = permits.get(alike).map(|(_, granted)| granted.clone());
            parties.push(party);
            parties.len() - 1
        });
        parties[place].join(Request { key, raw, entries: asked.entries.len() }, asked.entries);
    }

    /// From now on, this is granted to those who are alike. What is granted no more: to be dropped when nobody waits for
    /// the lane, since Python may have a part in that.
    pub fn grant(&mut self, alike: Alike, granted: InForce) -> (Permits, Option<InForce>) {
        let newer = granted.0.day > self.day;
        let dropped = if newer || self.permits.len() >= MOST_PERMITS {
            std::mem::take(&mut self.permits)
        } else {
            Permits::new()
        };
        if newer {
            self.day.clone_from(&granted.0.day);
        }
        (dropped, self.permits.insert(alike, granted))
    }

    /// Answer the request of a connection, which is then ready for its next one.
    pub fn answer(&mut self, key: Key, reply: &[u8]) {
        let Some(connection) = self.at(key) else {
            return;
        };
        let mut sent = 0;
        while sent < reply.len() {
            let rest = &reply[sent..];
            // SAFETY: the system reads the rest of the slice.
            let count = unsafe {
                libc::send(connection.socket, rest.as_ptr().cast(), rest.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
            };
            if count < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                break;
            }
            sent += count.max(0) as usize;
        }
        (connection.busy, connection.parked) = (false, false);
        connection.served += 1;
        if sent < reply.len() || connection.leaving {
            let unsent = reply[sent..].to_vec();
            let unread = std::mem::take(&mut connection.buffer);
            self.give_back(key, unsent, unread);
        } else if connection.more || !connection.buffer.is_empty() {
            self.again.push(key);
        }
    }

    /// Whether a connection will be Python's again after its next reply, to be closed.
    pub fn is_leaving(&mut self, key: Key) -> bool {
        self.at(key).is_some_and(|connection| connection.leaving)
    }

    /// The request of a connection is going to wait.
    pub fn park(&mut self, key: Key) {
        if let Some(connection) = self.at(key) {
            connection.parked = true;
            let end = connection.end;
            if end > End::NotYet {
                self.abandoned.push((key, end == End::OfAll));
            }
        }
    }

    /// The client of a connection has come to an end; no further sign of it will come.
    fn end(&mut self, key: Key, end: End) {
        let Some(connection) = self.at(key) else {
            return;
        };
        connection.more = true; // it is still to be read
        let news = connection.parked && end > connection.end;
        connection.end = end;
        if !connection.busy {
            self.again.push(key);
        } else if news {
            self.abandoned.push((key, end == End::OfAll));
        }
    }

    /// The request of a connection is going to be answered: its client should be awake then.
    pub fn stir(&mut self, key: Key) {
        if self.stirs
            && let Some(connection) = self.at(key)
        {
            let processor = arrival(connection.socket);
            self.keep_awake(processor, STIRRED_SECONDS);
        }
    }

    fn keep_awake(&self, processor: i32, seconds: f64) {
        if processor >= 0 && processor != wakeful::here() {
            self.there.stay(processor, seconds);
        }
    }

    /// Give up a request: its connection goes back with the very bytes that came.
    pub fn bounce(&mut self, key: Key, mut raw: Vec<u8>) {
        let Some(connection) = self.at(key) else {
            return;
        };
        raw.append(&mut connection.buffer);
        self.give_back(key, Vec::new(), raw);
    }
}

/// The processor on which the bytes of a connection arrive: on one machine, that of the client.
fn arrival(socket: RawFd) -> i32 {
    let (mut processor, mut size) = (-1, size_of::<i32>() as libc::socklen_t);
    // SAFETY: the system writes the number.
    let done = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_INCOMING_CPU, (&raw mut processor).cast(), &mut size)
    };
    if done == 0 { processor } else { -1 }
}

fn recognise(forms: &[Arc<Known>], data: &[u8], longest_body: usize) -> Recognised {
    for form in forms {
        if let Some(length) = form.body_length(data) {
            return match form.length + length {
                _ if length == 0 || length > longest_body => Recognised::No,
                end if end <= data.len() => Recognised::Whole(form.clone(), end),
                _ => Recognised::Part,
            };
        }
    }
    let ended = || data.windows(4).any(|four| four == b"\r\n\r\n");
    if forms.iter().any(|form| form.may_begin(data)) && !ended() { Recognised::Part } else { Recognised::No }
}

#[pyclass(frozen)]
pub struct Lane {
    core: Arc<Mutex<Core>>,
    epoll: RawFd,
    here: Wakeful,
}

impl Lane {
    fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().expect("no one panics with it")
    }

    pub fn look(&self, now_ms: i64) -> Vec<Party> {
        let mut core = self.core();
        for key in std::mem::take(&mut core.again) {
            core.look(key, now_ms, &self.core);
        }
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS_AT_ONCE];
        loop {
            // SAFETY: the system writes at most as many events as there is room for.
            let count = unsafe { libc::epoll_wait(core.epoll, events.as_mut_ptr(), EVENTS_AT_ONCE as i32, 0) };
            for event in &events[..count.max(0) as usize] {
                let (key, signs) = (event.u64, event.events);
                core.look(key, now_ms, &self.core);
                if signs & (libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0 {
                    core.end(key, End::OfAll);
                } else if signs & libc::EPOLLRDHUP as u32 != 0 {
                    core.end(key, End::OfStream);
                }
            }
            if (count as usize) < EVENTS_AT_ONCE {
                break;
            }
        }
        core.alike.clear();
        std::mem::take(&mut core.parties)
    }
}

#[pymethods]
impl Lane {
    #[new]
    fn new(longest_body: usize, longest_batch: usize) -> PyResult<Lane> {
        // SAFETY: no pointers.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error().into());
        }
        let core = Core {
            epoll,
            connections: Vec::new(),
            free: Vec::new(),
            lent: 0,
            again: Vec::new(),
            returned: Vec::new(),
            abandoned: Vec::new(),
            parties: Vec::new(),
            alike: HashMap::new(),
            permits: HashMap::new(),
            day: Vec::new(),
            scratch: vec![0; READ_BYTES],
            reads: 0,
            arrives_at: -1,
            there: Wakeful::default(),
            stirs: false,
            longest_body,
            longest_batch,
        };
        Ok(Lane { core: Arc::new(Mutex::new(core)), epoll, here: Wakeful::default() })
    }

    /// Readable when a lent connection is.
    fn fileno(&self) -> RawFd {
        self.epoll
    }

    /// Take on a connection, with the heads that are known of it; what it is called from now on.
    fn lend(&self, socket: RawFd, peer: &str, forms: Vec<PyRef<'_, Form>>) -> PyResult<Key> {
        let mut core = self.core();
        core.lent = core.lent.wrapping_add(1);
        let place = core.free.pop().unwrap_or_else(|| {
            core.connections.push(None);
            core.connections.len() - 1
        });
        let key = (core.lent as u64) << 32 | place as u64;
        let interest = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events: interest, u64: key };
        // SAFETY: both descriptors are open, and the event lives through the call.
        if unsafe { libc::epoll_ctl(core.epoll, libc::EPOLL_CTL_ADD, socket, &mut event) } < 0 {
            core.free.push(place);
            return Err(PyOSError::new_err(io::Error::last_os_error().to_string()));
        }
        core.connections[place] = Some(Connection {
            key,
            socket,
            peer: peer.into(),
            forms: forms.iter().map(|form| form.known.clone()).collect(),
            buffer: Vec::new(),
            begun: None,
            busy: false,
            more: false,
            end: End::NotYet,
            parked: false,
            leaving: false,
            served: 0,
        });
        Ok(key)
    }

    /// What came: parties, and whether there may be more at once.
    fn poll(&self, py: Python<'_>, now_ms: i64) -> Vec<Party> {
        py.detach(|| self.look(now_ms))
    }

    /// Connections that are Python's again, each with what is left of its last reply, and with what came on it and was
    /// not answered, and how many requests were.
    fn returned<'py>(&self, py: Python<'py>) -> Vec<(Key, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u64)> {
        let returned = std::mem::take(&mut self.core().returned);
        returned
            .into_iter()
            .map(|(key, unsent, unread, served)| (key, PyBytes::new(py, &unsent), PyBytes::new(py, &unread), served))
            .collect()
    }

    /// Connections whose parked request may have nobody any more who waits for it, and whether that is certain.
    fn abandoned(&self) -> Vec<(Key, bool)> {
        std::mem::take(&mut self.core().abandoned)
    }

    /// Whether a connection is to be looked at though the system may not say so.
    #[getter]
    fn restless(&self) -> bool {
        let core = self.core();
        !core.again.is_empty() || !core.returned.is_empty() || !core.abandoned.is_empty()
    }

    /// Keep awake, for so many seconds, the processor of whoever says so, and that on which bytes arrive.
    fn stay_awake(&self, seconds: f64) {
        self.here.stay(wakeful::here(), seconds);
        let core = self.core();
        core.keep_awake(core.arrives_at, seconds);
    }

    /// Whether the processors of clients who are about to be answered are kept awake for it.
    #[setter]
    fn set_stirs(&self, stirs: bool) {
        self.core().stirs = stirs;
    }

    /// Want a connection back to close it: at once, or when its request has been answered.
    fn recall(&self, key: Key) {
        let mut core = self.core();
        if let Some(connection) = core.at(key) {
            connection.leaving = true;
            if !connection.busy {
                let unread = std::mem::take(&mut connection.buffer);
                core.give_back(key, Vec::new(), unread);
            }
        }
    }

    /// Have no more to do with a connection: it is gone.
    fn forget(&self, key: Key) {
        let mut core = self.core();
        core.give_back(key, Vec::new(), Vec::new());
        core.returned.retain(|(returned, ..)| *returned != key);
    }

    /// Requests that were answered on this connection since it was lent, and whether one is being answered or has begun
    /// to come.
    fn served(&self, key: Key) -> (u64, bool) {
        self.core()
            .at(key)
            .map_or((0, false), |connection| (connection.served, connection.busy || connection.begun.is_some()))
    }

    /// Want those back that began a request so long ago and have not ended it.
    fn recall_slow(&self, seconds: f64) {
        let mut core = self.core();
        let (now, patience) = (Instant::now(), Duration::from_secs_f64(seconds));
        let slow =
            |connection: &&Connection| connection.begun.is_some_and(|begun| now.duration_since(begun) >= patience);
        let keys: Vec<Key> = core.connections.iter().flatten().filter(slow).map(|connection| connection.key).collect();
        for key in keys {
            let unread = core.at(key).map(|connection| std::mem::take(&mut connection.buffer)).unwrap_or_default();
            core.give_back(key, Vec::new(), unread);
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody uses it after this.
        unsafe { libc::close(self.epoll) };
    }
}

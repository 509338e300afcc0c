//! Requests that ask for the same of one queue: what they bring, and their replies.
//!
//! A party is served by Python, once for all its members: who they are, whether they may, and what the store does for
//! them is decided there. What is done for each of them is done here. A member that cannot be served here is bounced: its
//! connection goes back to Python with its request as it came.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use ring::digest::{SHA256, digest};

use crate::chance::{Uuid, uuid};
use crate::digest::sums;
use crate::form::{Known, Operation, hex};
use crate::handle::Seal;
use crate::lane::{Alike, Core, Key};
use crate::permit::{Granted, Permit, Terms};
use crate::wire::{Entry, number, quote};

/// More than most replies have.
const REPLY_BYTES: usize = 1 << 13;

pub struct Request {
    pub key: Key,
    pub raw: Vec<u8>,
    pub entries: usize,
}

/// What a receiver is given. `body` is where in the content its body is.
pub struct Given {
    pub id: Uuid,
    pub content: Vec<u8>,
    pub body: Range<usize>,
    pub claim: Vec<u8>,
}

impl Given {
    fn body(&self) -> &[u8] {
        &self.content[self.body.clone()]
    }
}

/// What a message is told from others by: if it brings no id for that, the hash of its body.
pub fn deduplication_id(entry: &Entry) -> Cow<'_, str> {
    match &entry.deduplication {
        Some(id) => id.into(),
        None => {
            let sum = digest(&SHA256, entry.text.as_ref());
            String::from_utf8(hex::<64>(sum.as_ref()).into()).expect("digits").into()
        }
    }
}

/// As `api/sqs/sending.py` has it: twenty digits, so that numbers sort as text.
fn sequence_number(sequence: &i64) -> String {
    format!("1{sequence:019}")
}

#[pyclass]
pub struct Party {
    core: Arc<Mutex<Core>>,
    form: Arc<Known>,
    #[pyo3(get)]
    peer: String,
    #[pyo3(get)]
    queue_url: String,
    #[pyo3(get)]
    most: Option<u32>,
    #[pyo3(get)]
    visibility: Option<u32>,
    #[pyo3(get)]
    wait: Option<u32>,
    pub requests: Vec<Request>,
    /// What was granted to others like them.
    pub permit: Option<Arc<Granted>>,
    pub entries: Vec<Entry>,
    pub ids: Vec<Uuid>,
    /// Of messages that were put into a FIFO queue here.
    pub sequences: Vec<i64>,
    pub claims: Vec<Vec<u8>>,
    /// Of claims that were dealt with here: which of them have expired.
    pub refused: Vec<bool>,
    pub given: Vec<Given>,
}

impl Party {
    pub fn new(
        core: Arc<Mutex<Core>>,
        form: Arc<Known>,
        peer: String,
        queue_url: String,
        [most, visibility, wait]: [Option<u32>; 3],
    ) -> Party {
        let (requests, permit, entries, ids, sequences, claims, refused, given) = Default::default();
        Party {
            core,
            form,
            peer,
            queue_url,
            most,
            visibility,
            wait,
            requests,
            permit,
            entries,
            ids,
            sequences,
            claims,
            refused,
            given,
        }
    }

    /// Every message gets an id, unless they have theirs.
    pub fn name_messages(&mut self) {
        if self.ids.len() != self.entries.len() {
            self.ids = self.entries.iter().map(|_| uuid()).collect();
        }
    }

    pub fn join(&mut self, request: Request, entries: Vec<Entry>) {
        self.requests.push(request);
        self.entries.extend(entries);
    }

    fn sends(&self) -> bool {
        matches!(self.form.operation, Operation::Send | Operation::SendBatch)
    }

    /// Answer every request with what `write` makes of its entries: their range, and those that it brought. How many
    /// requests there were.
    fn answer(&mut self, date: &[u8], mut write: impl FnMut(&Party, &mut Vec<u8>, Range<usize>)) -> usize {
        let core = self.core.clone();
        let mut core = core.lock().expect("no one panics with it");
        let (mut reply, mut body, mut from) = (Vec::with_capacity(REPLY_BYTES), Vec::with_capacity(REPLY_BYTES), 0);
        let requests = std::mem::take(&mut self.requests);
        let answered = requests.len();
        for request in requests {
            body.clear();
            write(self, &mut body, from..from + request.entries);
            from += request.entries;
            reply.clear();
            reply.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
            reply.extend_from_slice(date);
            reply.extend_from_slice(b"content-type: application/x-amz-json-1.0\r\nx-amzn-requestid: ");
            reply.extend_from_slice(&uuid());
            if core.is_leaving(request.key) {
                reply.extend_from_slice(b"\r\nConnection: close");
            }
            reply.extend_from_slice(b"\r\nContent-Length: ");
            number(&mut reply, body.len() as i64);
            reply.extend_from_slice(b"\r\n\r\n");
            reply.extend_from_slice(&body);
            core.answer(request.key, &reply);
        }
        answered
    }

    /// Give up the requests that brought an entry which is `bad`; what belongs to the entries of the others.
    fn without<T>(&mut self, of_entries: Vec<T>, bad: &[bool]) -> Vec<T> {
        let mut from = 0;
        let mut spoilt = Vec::with_capacity(self.requests.len());
        let mut left = Vec::with_capacity(of_entries.len());
        let mut all = of_entries.into_iter();
        for request in &self.requests {
            let own: Vec<T> = all.by_ref().take(request.entries).collect();
            spoilt.push(bad[from..from + request.entries].contains(&true));
            from += request.entries;
            if spoilt.last() == Some(&false) {
                left.extend(own);
            }
        }
        self.give_up(|place| spoilt[place]);
        left
    }

    /// Give up the requests that `unwanted` says so of, with what they brought.
    fn give_up(&mut self, unwanted: impl Fn(usize) -> bool) {
        let core = self.core.clone();
        let mut core = core.lock().expect("no one panics with it");
        let mut entries = std::mem::take(&mut self.entries).into_iter();
        for (place, request) in std::mem::take(&mut self.requests).into_iter().enumerate() {
            let own: Vec<Entry> = entries.by_ref().take(request.entries).collect();
            if unwanted(place) {
                core.bounce(request.key, request.raw);
            } else {
                self.entries.extend(own);
                self.requests.push(request);
            }
        }
    }
}

impl Drop for Party {
    /// Whoever was neither answered nor bounced, because something failed, waits for an answer that will not come. Python
    /// has the connection again, and closes it in time.
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            let mut core = self.core.lock().expect("no one panics with it");
            for request in std::mem::take(&mut self.requests) {
                core.bounce(request.key, Vec::new());
            }
        }
    }
}

#[pymethods]
impl Party {
    #[getter]
    fn operation(&self) -> &'static str {
        self.form.operation.name()
    }

    #[getter]
    fn key(&self, py: Python<'_>) -> Py<PyAny> {
        self.form.key.clone_ref(py)
    }

    #[getter]
    fn lesson(&self, py: Python<'_>) -> Py<PyAny> {
        self.form.lesson.clone_ref(py)
    }

    /// How many requests there are.
    fn __len__(&self) -> usize {
        self.requests.len()
    }

    /// What its connection is called in the lane, if there is only one.
    #[getter]
    fn connection(&self) -> Option<Key> {
        match &self.requests[..] {
            [request] => Some(request.key),
            _ => None,
        }
    }

    /// They and whoever is like them may be served without being looked at again, for as long as this holds.
    fn grant(&mut self, permit: &Permit) {
        self.permit = Some(permit.granted.clone());
        let alike = Alike {
            form: Arc::as_ptr(&self.form) as usize,
            peer: self.peer.as_str().into(),
            queue_url: self.queue_url.clone(),
            numbers: [self.most, self.visibility, self.wait],
        };
        let mut core = self.core.lock().expect("no one panics with it");
        let dropped = core.grant(alike, (self.form.clone(), permit.granted.clone()));
        drop(core);
        drop(dropped);
    }

    /// The queue that they may send to so, if what they send can be had at once.
    fn sends_to(&self, py: Python<'_>, version: i64) -> Option<i64> {
        let granted = self.permit.as_ref().filter(|granted| granted.holds(py, version))?;
        matches!(&granted.terms, Terms::Send(sending) if sending.delay_ms.is_none()).then_some(granted.queue)
    }

    /// Whether they may be served so already.
    fn is_granted(&self, py: Python<'_>, version: i64) -> bool {
        self.permit.as_ref().is_some_and(|granted| granted.holds(py, version) && granted.suffices(self.entries.len()))
    }

    /// Nobody of it is served here.
    fn bounce(&mut self) {
        self.give_up(|_| true);
    }

    // Sends

    /// What the messages are called, for whoever has called them something already; else they get ids of our own.
    #[setter]
    fn set_ids(&mut self, ids: Vec<String>) -> PyResult<()> {
        let ids: Result<Vec<Uuid>, _> = ids.into_iter().map(|id| id.into_bytes().try_into()).collect();
        self.ids = ids.map_err(|_| PyValueError::new_err("not an id"))?;
        Ok(())
    }

    pub fn sizes(&self) -> Vec<usize> {
        self.entries.iter().map(|entry| entry.text.len()).collect()
    }

    /// Of how many messages a group is named, and of how many a deduplication id.
    pub fn named(&self) -> (usize, usize) {
        let of = |wanted: fn(&Entry) -> bool| self.entries.iter().filter(|entry| wanted(entry)).count();
        (of(|entry| entry.group.is_some()), of(|entry| entry.deduplication.is_some()))
    }

    /// The messages, each made by `make`: id, body, size, sender, attributes, trace, group, deduplication id.
    fn messages<'py>(
        &mut self,
        py: Python<'py>,
        make: &Bound<'py, PyAny>,
        sender: &str,
        deduplicates: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        self.name_messages();
        let messages = PyList::empty(py);
        for (entry, id) in self.entries.iter().zip(&self.ids) {
            let wanted = deduplicates || entry.deduplication.is_some();
            let deduplication = wanted.then(|| deduplication_id(entry));
            let (id, none) = (std::str::from_utf8(id).expect("digits"), None::<&str>);
            let (body, group) = (entry.text.as_str(), entry.group.as_deref());
            messages.append(make.call1((
                id,
                body,
                body.len(),
                sender,
                PyDict::new(py),
                none,
                group,
                deduplication,
            ))?)?;
        }
        Ok(messages)
    }

    /// Tell every sender of its messages. `sent` has what they are called, if it is not what they were called here, and
    /// their sequence numbers.
    #[pyo3(signature = (date, sent=None))]
    pub fn acknowledge(&mut self, date: &[u8], sent: Option<Vec<(String, Option<String>)>>) -> PyResult<usize> {
        if !self.sends() || self.ids.len() != self.entries.len() {
            return Err(PyValueError::new_err("nothing was sent"));
        }
        let batch = self.form.operation.is_batch();
        let sums = sums(&self.entries.iter().map(|entry| entry.text.as_bytes()).collect::<Vec<_>>());
        Ok(self.answer(date, |party, out, range| {
            let from = range.start;
            out.extend_from_slice(if batch { b"{\"Successful\":[" } else { b"" });
            for place in range {
                let entry = &party.entries[place];
                let (id, sequence) = match &sent {
                    Some(sent) => (sent[place].0.as_bytes(), sent[place].1.clone()),
                    None => (&party.ids[place][..], party.sequences.get(place).map(sequence_number)),
                };
                out.extend_from_slice(if place > from { b",{" } else { b"{" });
                if batch {
                    out.extend_from_slice(b"\"Id\":\"");
                    out.extend_from_slice(entry.id.as_bytes());
                    out.extend_from_slice(b"\",");
                }
                out.extend_from_slice(b"\"MessageId\":\"");
                out.extend_from_slice(id);
                out.extend_from_slice(b"\",\"MD5OfMessageBody\":\"");
                out.extend_from_slice(&hex::<32>(&sums[place]));
                out.push(b'"');
                if let Some(sequence) = sequence {
                    out.extend_from_slice(b",\"SequenceNumber\":\"");
                    out.extend_from_slice(sequence.as_bytes());
                    out.push(b'"');
                }
                out.push(b'}');
            }
            out.extend_from_slice(if batch { b"]}" } else { b"" });
        }))
    }

    // Receives

    /// Give every receiver what is his: messages as Python has them, or else as they were handed out here. Who has none
    /// stays.
    fn hand_out(
        &mut self,
        date: &[u8],
        handle_key: &[u8],
        queue_id: i64,
        given: Option<Vec<Vec<Bound<'_, PyAny>>>>,
    ) -> PyResult<usize> {
        if let Some(given) = given {
            self.give(&given)?;
        }
        Ok(self.pass_on(date, handle_key, queue_id))
    }

    /// Everyone for himself, as a party of one.
    pub fn apart(&mut self) -> Vec<Party> {
        let numbers = [self.most, self.visibility, self.wait];
        let requests = std::mem::take(&mut self.requests);
        let alone = |request| {
            let (core, form) = (self.core.clone(), self.form.clone());
            let mut party = Party::new(core, form, self.peer.clone(), self.queue_url.clone(), numbers);
            party.requests.push(request);
            party
        };
        requests.into_iter().map(alone).collect()
    }

    /// They are going to wait: from now on the lane says who has been abandoned by his client.
    fn park(&mut self) {
        let mut core = self.core.lock().expect("no one panics with it");
        for request in &self.requests {
            core.park(request.key);
        }
    }

    /// They have waited, and are going to be answered.
    fn stir(&self) {
        let mut core = self.core.lock().expect("no one panics with it");
        for request in &self.requests {
            core.stir(request.key);
        }
    }

    /// Tell the receivers that there is nothing.
    fn send_away(&mut self, date: &[u8]) -> usize {
        self.answer(date, |_, out, _| out.extend_from_slice(b"{}"))
    }

    // Deletes

    /// Open the handles, if there is anybody left: whoever brings one that does not open is bounced.
    pub fn open_handles(&mut self, handle_key: &[u8], queue_id: i64) -> bool {
        let seal = Seal::new(handle_key, queue_id);
        let opened: Vec<_> = self.entries.iter().map(|entry| seal.unseal(entry.text.as_bytes())).collect();
        let shut: Vec<bool> = opened.iter().map(Option::is_none).collect();
        self.claims = self.without(opened, &shut).into_iter().flatten().collect();
        !self.claims.is_empty()
    }

    /// What was in the handles.
    fn claims<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.claims.iter().map(|claim| PyBytes::new(py, claim)).collect()
    }

    /// Tell everyone that it is done. `refused` says of which claims it is not, if they were not dealt with here: whoever
    /// brought one is bounced, and what is asked again of the others changes nothing.
    pub fn settle(&mut self, date: &[u8], refused: Option<Vec<bool>>) -> usize {
        let refused = refused.unwrap_or_else(|| std::mem::take(&mut self.refused));
        if refused.contains(&true) {
            self.without(vec![(); refused.len()], &refused);
        }
        let batch = self.form.operation.is_batch();
        self.answer(date, |party, out, range| {
            if batch {
                let from = range.start;
                out.extend_from_slice(b"{\"Successful\":[");
                for place in range {
                    out.extend_from_slice(if place > from { b",{\"Id\":\"" } else { b"{\"Id\":\"" });
                    out.extend_from_slice(party.entries[place].id.as_bytes());
                    out.extend_from_slice(b"\"}");
                }
                out.extend_from_slice(b"]}");
            }
        })
    }
}

impl Party {
    fn give(&mut self, given: &[Vec<Bound<'_, PyAny>>]) -> PyResult<()> {
        self.given.clear();
        for (request, messages) in self.requests.iter_mut().zip(given) {
            request.entries = messages.len();
            for message in messages {
                let text = |name: &str| message.getattr(name)?.extract::<String>();
                let id = text("id")?.into_bytes().try_into().map_err(|_| PyValueError::new_err("not an id"))?;
                let claim = message.getattr("claim")?.extract()?;
                let content = text("body")?.into_bytes();
                self.given.push(Given { id, body: 0..content.len(), content, claim });
            }
        }
        Ok(())
    }

    /// So many of `given` are for each receiver, as far as they reach.
    pub fn share_out(&mut self, most: usize) {
        let mut left = self.given.len();
        for request in &mut self.requests {
            request.entries = left.min(most);
            left -= request.entries;
        }
    }

    /// Send `given` to the receivers: each request has as many as its `entries` says. Those that have none stay.
    pub fn pass_on(&mut self, date: &[u8], handle_key: &[u8], queue_id: i64) -> usize {
        let seal = Seal::new(handle_key, queue_id);
        let sums = sums(&self.given.iter().map(Given::body).collect::<Vec<_>>());
        let (served, rest) = std::mem::take(&mut self.requests).into_iter().partition(|request| request.entries > 0);
        self.requests = served;
        let answered = self.answer(date, |party, out, range| {
            let from = range.start;
            out.extend_from_slice(b"{\"Messages\":[");
            for place in range {
                let given = &party.given[place];
                out.extend_from_slice(if place > from { b",{\"MessageId\":\"" } else { b"{\"MessageId\":\"" });
                out.extend_from_slice(&given.id);
                out.extend_from_slice(b"\",\"ReceiptHandle\":\"");
                seal.seal(out, &given.claim);
                out.extend_from_slice(b"\",\"MD5OfBody\":\"");
                out.extend_from_slice(&hex::<32>(&sums[place]));
                out.extend_from_slice(b"\",\"Body\":");
                quote(out, given.body());
                out.push(b'}');
            }
            out.extend_from_slice(b"]}");
        });
        self.requests = rest;
        answered
    }
}

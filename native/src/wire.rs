//! The plain requests of AWS JSON 1.0, read; and their replies, written.
//!
//! Plain is a request with no members but those below, each once, of its type and within every limit that does not
//! depend on the queue. Any other is None, and Python answers it, as it answers what is refused: there are no error
//! messages here.

use std::borrow::Cow;

use crate::form::Operation;

const MOST_DIGITS: usize = 6;
const LONGEST_ID: usize = 80;
const LONGEST_NAME: usize = 128;
const MOST_ENTRIES: usize = 10;
/// Bytes that are looked at at once.
const TOGETHER: usize = 32;

/// A message to be sent, or a handle; `id` is that of a batch's entry.
pub struct Entry {
    pub id: String,
    pub text: String,
    pub group: Option<String>,
    pub deduplication: Option<String>,
}

#[derive(Default)]
pub struct Asked {
    pub queue_url: String,
    pub most: Option<u32>,
    pub visibility: Option<u32>,
    pub wait: Option<u32>,
    pub entries: Vec<Entry>,
}

#[derive(Default)]
struct Members {
    queue_url: Option<String>,
    id: Option<String>,
    body: Option<String>,
    group: Option<String>,
    deduplication: Option<String>,
    handle: Option<String>,
    most: Option<u32>,
    visibility: Option<u32>,
    wait: Option<u32>,
    entries: Option<Vec<Entry>>,
}

pub fn read(operation: Operation, body: &[u8]) -> Option<Asked> {
    let mut text = Text { bytes: body, at: 0 };
    let members = text.object(operation, false)?;
    text.blanks();
    if text.at != body.len() {
        return None;
    }
    let entries = match operation {
        Operation::Receive => Vec::new(),
        Operation::SendBatch | Operation::DeleteBatch => members.entries?,
        Operation::Send | Operation::Delete => vec![Entry {
            id: String::new(),
            text: members.body.or(members.handle)?,
            group: members.group,
            deduplication: members.deduplication,
        }],
    };
    let queue_url = members.queue_url?;
    Some(Asked { queue_url, most: members.most, visibility: members.visibility, wait: members.wait, entries })
}

struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Text<'a> {
    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte that is no blank, if it is this one.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.blanks();
        (self.bytes.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn object(&mut self, operation: Operation, in_batch: bool) -> Option<Members> {
        let mut members = Members::default();
        self.take(b'{')?;
        loop {
            self.member(operation, in_batch, &mut members)?;
            if self.take(b',').is_none() {
                self.take(b'}')?;
                return Some(members);
            }
        }
    }

    fn member(&mut self, operation: Operation, in_batch: bool, members: &mut Members) -> Option<()> {
        use Operation::{Delete, DeleteBatch, Receive, Send, SendBatch};
        let name = self.text()?;
        self.take(b':')?;
        let sends = operation == Send || operation == SendBatch && in_batch;
        let deletes = operation == Delete || operation == DeleteBatch && in_batch;
        match &name[..] {
            "QueueUrl" if !in_batch => once(&mut members.queue_url, self.string()?),
            "Id" if in_batch => once(&mut members.id, word(self.string()?)?),
            "MessageBody" if sends => once(&mut members.body, sendable(self.string()?)?),
            "MessageGroupId" if sends => once(&mut members.group, punctuated(self.string()?)?),
            "MessageDeduplicationId" if sends => once(&mut members.deduplication, punctuated(self.string()?)?),
            "ReceiptHandle" if deletes => once(&mut members.handle, self.string()?),
            "MaxNumberOfMessages" if operation == Receive => once(&mut members.most, self.number()?),
            "VisibilityTimeout" if operation == Receive => once(&mut members.visibility, self.number()?),
            "WaitTimeSeconds" if operation == Receive => once(&mut members.wait, self.number()?),
            "Entries" if operation.is_batch() && !in_batch => once(&mut members.entries, self.entries(operation)?),
            _ => None,
        }
    }

    fn entries(&mut self, operation: Operation) -> Option<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::with_capacity(MOST_ENTRIES);
        self.take(b'[')?;
        loop {
            let members = self.object(operation, true)?;
            let id = members.id?;
            if entries.len() == MOST_ENTRIES || entries.iter().any(|entry| entry.id == id) {
                return None;
            }
            let text = members.body.or(members.handle)?;
            entries.push(Entry { id, text, group: members.group, deduplication: members.deduplication });
            if self.take(b',').is_none() {
                self.take(b']')?;
                return Some(entries);
            }
        }
    }

    fn number(&mut self) -> Option<u32> {
        self.blanks();
        let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = &self.bytes[self.at..self.at + digits];
        self.at += digits;
        if digits == 0 || digits > MOST_DIGITS || digits > 1 && text[0] == b'0' {
            return None;
        }
        Some(text.iter().fold(0, |sum, digit| sum * 10 + (digit - b'0') as u32))
    }

    fn string(&mut self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    fn text(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let rest = &self.bytes[self.at..];
        let end = unescaped(rest);
        if *rest.get(end)? == b'"' {
            self.at += end + 1;
            return std::str::from_utf8(&rest[..end]).ok().map(Cow::Borrowed);
        }
        self.escaped().map(Cow::Owned)
    }

    fn escaped(&mut self) -> Option<String> {
        let mut text = Vec::new();
        loop {
            let rest = &self.bytes[self.at..];
            let end = unescaped(rest);
            text.extend_from_slice(&rest[..end]);
            self.at += end + 1;
            match rest.get(end)? {
                b'"' => return String::from_utf8(text).ok(),
                b'\\' => {
                    let character = self.escape()?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return None,
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                if !(0xd800..0xdc00).contains(&unit) {
                    return char::from_u32(unit);
                }
                if self.bytes.get(self.at..self.at + 2)? != b"\\u" {
                    return None;
                }
                self.at += 2;
                let low = self.unit()?;
                if !(0xdc00..0xe000).contains(&low) {
                    return None;
                }
                char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))?
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + (*digit as char).to_digit(16)?))
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

fn word(id: String) -> Option<String> {
    let fits = (1..=LONGEST_ID).contains(&id.len());
    (fits && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')).then_some(id)
}

fn punctuated(name: String) -> Option<String> {
    ((1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(name)
}

/// A body with none of the characters that no message may contain.
fn sendable(body: String) -> Option<String> {
    let plain = |byte| (byte >= 0x20) | (byte == b'\t') | (byte == b'\n') | (byte == b'\r');
    let fits = !body.is_empty()
        && body.as_bytes().chunks(TOGETHER).all(|some| every(some, plain))
        && (body.is_ascii() || !body.contains(['\u{fffe}', '\u{ffff}']));
    fits.then_some(body)
}

/// Whether all are so. None is asked whether it is the first that is not, so a processor can look at many at once.
#[inline(always)]
fn every(bytes: &[u8], so: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(true, |all, byte| all & so(*byte))
}

/// How many bytes there are before the first that does not stand for itself in a JSON string.
fn unescaped(text: &[u8]) -> usize {
    let plain = |byte| (byte >= 0x20) & (byte != b'"') & (byte != b'\\');
    let together = text.chunks_exact(TOGETHER).take_while(|some| every(some, plain)).count() * TOGETHER;
    together + text[together..].iter().take_while(|byte| plain(**byte)).count()
}

/// As a JSON string, with its quotes.
pub fn quote(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(unescaped(rest));
        out.extend_from_slice(plain);
        let Some((byte, behind)) = special.split_first() else {
            break;
        };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        rest = behind;
    }
    out.push(b'"');
}

pub fn number(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let (mut at, mut rest) = (digits.len(), value.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(body: &[u8]) -> Option<String> {
        read(Operation::Send, body).map(|asked| asked.entries[0].text.clone())
    }

    #[test]
    fn a_plain_send_is_read() {
        let asked = read(Operation::Send, br#" {"QueueUrl" : "http://h/1/q", "MessageBody":"two apples"} "#).unwrap();
        assert_eq!((asked.queue_url.as_str(), asked.entries[0].text.as_str()), ("http://h/1/q", "two apples"));
    }

    #[test]
    fn escapes_are_what_they_stand_for() {
        assert_eq!(
            send(br#"{"QueueUrl":"q","MessageBody":"a\"\\\/\n\t\u00e4\ud83d\ude00"}"#).unwrap(),
            "a\"\\/\n\tä😀"
        );
    }

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        for body in [
            &br#"{"QueueUrl":"q","MessageBody":""}"#[..],
            br#"{"QueueUrl":"q","MessageBody":"a","DelaySeconds":1}"#,
            br#"{"QueueUrl":"q","MessageBody":"a","MessageBody":"b"}"#,
            br#"{"QueueUrl":"q","MessageBody":null}"#,
            br#"{"QueueUrl":"q","MessageBody":"\u0001"}"#,
            br#"{"QueueUrl":"q","MessageBody":"\ud800"}"#,
            br#"{"QueueUrl":"q","MessageBody":"\ud800\u0041"}"#,
            b"{\"QueueUrl\":\"q\",\"MessageBody\":\"\xff\"}",
            b"{\"QueueUrl\":\"q\",\"MessageBody\":\"\xef\xbf\xbe\"}",
            b"{\"QueueUrl\":\"q\",\"MessageBody\":\"a\nb\"}",
            br#"{"QueueUrl":"q","MessageBody":"a"}x"#,
            br#"{"QueueUrl":"q","MessageBody":"a""#,
            br#"{"QueueUrl":"q","MessageBody":"a",}"#,
            br#"{"MessageBody":"a"}"#,
            br#"[]"#,
            b"",
        ] {
            assert!(send(body).is_none(), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn a_batch_has_one_to_ten_entries_with_ids_of_their_own() {
        let batch = |entries: &str| {
            read(Operation::SendBatch, format!(r#"{{"QueueUrl":"q","Entries":[{entries}]}}"#).as_bytes())
        };
        let entry = |id: usize| format!(r#"{{"Id":"{id}","MessageBody":"b"}}"#);
        assert_eq!(batch(&(0..10).map(entry).collect::<Vec<_>>().join(",")).unwrap().entries.len(), 10);
        assert!(batch(&(0..11).map(entry).collect::<Vec<_>>().join(",")).is_none());
        assert!(batch(&[entry(1), entry(1)].join(",")).is_none());
        assert!(batch("").is_none());
        assert!(batch(r#"{"Id":"a b","MessageBody":"b"}"#).is_none());
    }

    #[test]
    fn numbers_are_whole_and_written_as_json_writes_them() {
        let most = |text: &str| {
            let body = format!(r#"{{"QueueUrl":"q","MaxNumberOfMessages":{text}}}"#);
            read(Operation::Receive, body.as_bytes()).and_then(|asked| asked.most)
        };
        assert_eq!((most("10"), most("0")), (Some(10), Some(0)));
        for text in ["01", "1.0", "-1", "1e1", "\"1\"", "true", "1234567", ""] {
            assert_eq!(most(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_written_with_all_their_digits() {
        for value in [0, 7, -1, 10, 1_794_911_400_000, i64::MAX, i64::MIN] {
            let mut written = Vec::new();
            number(&mut written, value);
            assert_eq!(written, value.to_string().as_bytes());
        }
    }

    #[test]
    fn quotes_are_read_as_they_were_written() {
        let text: String = (1u32..0x300).filter_map(char::from_u32).collect();
        let mut quoted = b"{\"QueueUrl\":".to_vec();
        quote(&mut quoted, text.as_bytes());
        quoted.push(b'}');
        assert_eq!(read(Operation::Receive, &quoted).unwrap().queue_url, text);
    }

    /// Valid bodies with a few bytes changed, dropped, repeated or cut off: whatever is read keeps the limits.
    #[test]
    fn no_body_breaks_the_reader() {
        let whole: [(Operation, &[u8]); 5] = [
            (Operation::Send, br#"{"QueueUrl":"q","MessageBody":"a\"\u00e4\ud83d\ude00","MessageGroupId":"g"}"#),
            (
                Operation::SendBatch,
                br#"{"QueueUrl":"q","Entries":[{"Id":"a","MessageBody":"b"},{"Id":"c","MessageBody":"d"}]}"#,
            ),
            (
                Operation::Receive,
                br#"{"QueueUrl":"q","MaxNumberOfMessages":10,"VisibilityTimeout":30,"WaitTimeSeconds":0}"#,
            ),
            (Operation::Delete, br#"{"QueueUrl":"q","ReceiptHandle":"AQAA+/=="}"#),
            (Operation::DeleteBatch, br#"{"QueueUrl":"q","Entries":[{"Id":"a","ReceiptHandle":"b"}]}"#),
        ];
        let telling = b"{}[]\"\\:,u0d8n \x00\xff\xc3\xed9-.";
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % below
        };
        let mut read_well = 0;
        for _ in 0..200_000 {
            let (operation, body) = whole[draw(whole.len())];
            let mut body = body.to_vec();
            for _ in 0..=draw(3) {
                let at = draw(body.len().max(2) - 1);
                match draw(4) {
                    0 => body[at] = telling[draw(telling.len())],
                    1 if body.len() > 1 => _ = body.remove(at),
                    2 => body.insert(at, telling[draw(telling.len())]),
                    _ => body.truncate(at + 1),
                }
            }
            if let Some(asked) = read(operation, &body) {
                read_well += 1;
                assert!(asked.entries.len() <= MOST_ENTRIES);
                assert_eq!(asked.entries.is_empty(), operation == Operation::Receive);
            }
        }
        assert!(read_well > 1000, "{read_well}");
    }
}

//! Data that communication calls move: sizes of messages, and their bandwidths.
//!
//! As in rccl-tests (doc/PERFORMANCE.md): algorithm bandwidth is the size S of a message over the time of the
//! operation. Bus bandwidth is that times a factor of the operation and the number of ranks, so that it compares with
//! the peak of the links.

use serde::Deserialize;

use crate::analysis::thresholds::Thresholds;
use crate::text::fnv::fnv1a;

/// The argument with the type of the elements.
const DATATYPE: &str = "datatype";
/// The argument with the communicator.
pub const COMMUNICATOR: &str = "comm";
/// The argument with the rank, among the ranks of the communicator, that a message goes to or comes from.
const PEER: &str = "peer";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    operation: Vec<Operation>,
    r#type: Vec<ElementType>,
    creation: Vec<Creation>,
}

/// A kind of communication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Its id.
    pub name: String,
    calls: Vec<String>,
    #[serde(default)]
    receives: Vec<String>,
    count: Option<String>,
    per_rank: bool,
    bus: Bus,
    /// PyTorch's names for it.
    #[serde(default)]
    torch: Vec<String>,
    /// The argument of a kernel that has the number of elements.
    elements: Option<String>,
    /// Whether that is the number over all ranks.
    #[serde(default)]
    of_all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Bus {
    #[serde(rename = "2(n-1)/n")]
    ThereAndBack,
    #[serde(rename = "(n-1)/n")]
    Others,
    #[serde(rename = "1")]
    Whole,
}

/// A type of elements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementType {
    /// Its name.
    pub name: String,
    bytes: i64,
    spellings: Vec<String>,
}

/// A way to make a communicator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Creation {
    calls: Vec<String>,
    /// Arguments that may hold the number of ranks.
    pub ranks: Vec<String>,
    /// Arguments that may hold the communicator.
    pub communicator: Vec<String>,
    /// Arguments that may hold the id that its ranks share.
    pub id: Vec<String>,
}

spelled! {
    /// Origin of the size of a kernel's message, or why the size is not known.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sizes by words {
        /// From the arguments of the call.
        Arguments = "arguments",
        /// No recorded RCCL call launched the kernel.
        NoCall = "no call",
        /// The call is recorded without count or type.
        NoArguments = "no arguments",
        /// The type is unknown, or its bytes are not a number.
        Unreadable = "unreadable arguments",
        /// The call or group launched several kernels or did several things, and it is not recorded which kernel moves
        /// which message.
        Mixed = "mixed group",
        /// The size depends on the number of ranks, which is not known.
        NoRanks = "unknown ranks",
    }
}

/// A message that a call gives to a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Place among [`operations`].
    pub operation: usize,
    /// Whether the bytes come in.
    pub receives: bool,
    /// Count times the size of the type; never negative.
    pub rank_bytes: Result<i64, Sizes>,
    /// Number of the communicator in its process, if it is recorded.
    pub communicator: Option<u32>,
    /// Place of the type of the elements among [`element_types`], if it is recorded.
    pub element_type: Option<usize>,
    /// Number of the collective on its communicator, which all ranks count alike, if it is recorded.
    pub sequence: Option<i64>,
    /// A number that all ranks have for the collective: its sequence number, otherwise its id.
    pub number: Option<i64>,
    /// Whether it goes from one rank to another.
    pub is_pair: bool,
    /// The rank that sends what is received, or receives what is sent, if it is recorded.
    pub peer: Option<i64>,
    /// Whether it stands for several messages that go both ways, or may.
    pub goes_both_ways: bool,
}

fn facts() -> &'static Facts {
    shared!(Facts, "share/collectives.toml")
}

/// All kinds of communication; a test reads them, so that they are never empty.
pub fn operations() -> &'static [Operation] {
    &facts().operation
}

fn is_one_of(call: &str, calls: &[String]) -> bool {
    calls.iter().any(|known| known.eq_ignore_ascii_case(call))
}

/// The operation of a call, as its place among [`operations`].
pub fn operation_of(call: &str) -> Option<usize> {
    operations().iter().position(|operation| is_one_of(call, &operation.calls))
}

/// Whether messages or communicators are inferred from this argument.
pub fn has_message_arguments(argument: &str) -> bool {
    let counts = operations().iter().filter_map(|operation| operation.count.as_deref());
    let created = facts().creation.iter().flat_map(|creation| [&creation.ranks, &creation.communicator, &creation.id]);
    let names = counts.chain(created.flatten().map(String::as_str)).chain([DATATYPE, COMMUNICATOR, PEER]);
    names.into_iter().any(|name| name == argument)
}

/// The way in which a call makes communicators.
pub fn creation_of(call: &str) -> Option<&'static Creation> {
    facts().creation.iter().find(|creation| is_one_of(call, &creation.calls))
}

/// A number in an argument: decimal, or hexadecimal after `0x`.
pub fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// All types of elements; a test reads them, so that they are never empty.
pub fn element_types() -> &'static [ElementType] {
    &facts().r#type
}

/// The place of a type among [`element_types`], by its number or a name.
fn type_of(text: &str) -> Option<usize> {
    let lower = text.trim().to_ascii_lowercase();
    let spelling = lower.strip_prefix("nccl").unwrap_or(&lower);
    element_types().iter().position(|known| known.spellings.iter().any(|one| one == spelling))
}

/// Bytes of this many elements.
fn bytes_of(count: i64, element_type: Option<usize>) -> Option<i64> {
    element_types().get(element_type?)?.bytes.checked_mul(count)
}

/// Arguments in which PyTorch describes the collective of a kernel: its name, the type of the elements, and the group.
pub const COLLECTIVE: &str = "Collective name";
pub const GROUP: [&str; 2] = ["Process Group Name", "Process Group Ranks"];
pub const GROUP_SIZE: &str = "Group size";
/// The ranks that a message comes from and goes to.
const PEERS: [&str; 2] = ["Src Rank", "Dst Rank"];
const SEND_RECEIVE: &str = "send_receive";
const ELEMENT_TYPE: &str = "dtype";
const SEQUENCE: &str = "Seq";
/// An id that all ranks have for a collective, in traces since March 2026.
const COLLECTIVE_ID: &str = "Comms Id";
/// The name of several operations that are launched together.
const COALESCED: &str = "coalesced";
/// Words in the names of kernels that only send and receive.
const SEND_RECEIVE_KERNELS: [&str; 2] = ["sendrecv", "send_recv"];

/// Whether a kernel sends and receives, whatever the peers.
pub(crate) fn sends_and_receives(kernel: &str) -> bool {
    let name = kernel.to_ascii_lowercase();
    SEND_RECEIVE_KERNELS.iter().any(|word| name.contains(word))
}

/// Whether an argument of a kernel describes its collective.
pub fn describes_collective(argument: &str) -> bool {
    let elements = || operations().iter().filter_map(|operation| operation.elements.as_deref());
    [COLLECTIVE, ELEMENT_TYPE, GROUP_SIZE, SEQUENCE, COLLECTIVE_ID].contains(&argument)
        || GROUP.contains(&argument)
        || PEERS.contains(&argument)
        || elements().any(|name| name == argument)
}

/// The ranks of a group, as PyTorch lists them.
pub fn ranks_in(text: &str) -> Option<Vec<i64>> {
    let listed = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    listed.split(',').map(number).collect()
}

impl Message {
    /// The message of a kernel with this name and these arguments; `None` if they describe no known collective.
    pub fn from_kernel<'a>(
        kernel: &str,
        communicator: Option<u32>,
        argument: impl Fn(&str) -> Option<&'a str>,
    ) -> Option<Self> {
        let name = argument(COLLECTIVE)?;
        let goes_both_ways = name.eq_ignore_ascii_case(COALESCED) && sends_and_receives(kernel);
        let is_it = |operation: &Operation| match goes_both_ways {
            true => operation.name == SEND_RECEIVE,
            false => is_one_of(name, &operation.torch),
        };
        let place = operations().iter().position(is_it)?;
        let operation = operations().get(place)?;
        let ranks = argument(GROUP_SIZE).and_then(number).filter(|ranks| *ranks > 0);
        let count = operation.elements.as_deref().and_then(&argument).and_then(number).filter(|count| *count >= 0);
        let share = |count: i64| if operation.of_all { count.checked_div(ranks?) } else { Some(count) };
        let recorded_type = argument(ELEMENT_TYPE);
        let element_type = recorded_type.and_then(type_of);
        let rank_bytes = match (count, recorded_type) {
            // The sizes are those of the last operation only.
            _ if goes_both_ways => Err(Sizes::Mixed),
            (Some(count), Some(_)) => {
                share(count).and_then(|count| bytes_of(count, element_type)).ok_or(Sizes::Unreadable)
            }
            _ => Err(Sizes::NoArguments),
        };
        let receives = name.eq_ignore_ascii_case("recv");
        let sequence = argument(SEQUENCE).and_then(number).filter(|number| *number >= 0);
        let id = || {
            argument(COLLECTIVE_ID).map(|id| id.trim().parse::<u64>().unwrap_or_else(|_| fnv1a(id.as_bytes())) as i64)
        };
        let number_of_all = sequence.or_else(id);
        let is_pair = operation.name == SEND_RECEIVE;
        let [source, destination] = PEERS;
        let peer = argument(if receives { source } else { destination }).and_then(number).filter(|rank| *rank >= 0);
        Some(Self {
            operation: place,
            receives,
            rank_bytes,
            communicator,
            element_type,
            sequence,
            number: number_of_all,
            is_pair,
            peer: peer.filter(|_| !goes_both_ways),
            goes_both_ways,
        })
    }

    /// The message of a call with these arguments; `None` for calls that move nothing.
    pub fn from_call<'a>(
        call: &str,
        communicator: Option<u32>,
        argument: impl Fn(&str) -> Option<&'a str>,
    ) -> Option<Self> {
        let place = operation_of(call)?;
        let operation = operations().get(place)?;
        let count = operation.count.as_deref().and_then(&argument);
        let recorded_type = argument(DATATYPE);
        let element_type = recorded_type.and_then(type_of);
        let rank_bytes = match (count, recorded_type) {
            (Some(count), Some(_)) => number(count)
                .filter(|count| *count >= 0)
                .and_then(|count| bytes_of(count, element_type))
                .ok_or(Sizes::Unreadable),
            _ => Err(Sizes::NoArguments),
        };
        let is_pair = operation.name == SEND_RECEIVE;
        Some(Self {
            operation: place,
            receives: is_one_of(call, &operation.receives),
            rank_bytes,
            communicator,
            element_type,
            sequence: None,
            number: None,
            is_pair,
            peer: if is_pair { argument(PEER).and_then(number).filter(|rank| *rank >= 0) } else { None },
            goes_both_ways: false,
        })
    }
}

impl Operation {
    /// The size S of a message in bytes, computed from the bytes of one of `ranks`.
    ///
    /// # Errors
    /// [`Sizes::NoRanks`] or [`Sizes::Unreadable`] if the size cannot be determined.
    pub fn message_bytes(&self, rank_bytes: i64, ranks: Option<i64>) -> Result<i64, Sizes> {
        match (self.per_rank, ranks) {
            (false, _) => Ok(rank_bytes),
            (true, Some(ranks)) => rank_bytes.checked_mul(ranks).ok_or(Sizes::Unreadable),
            (true, None) => Err(Sizes::NoRanks),
        }
    }

    /// Factor from algorithm bandwidth to bus bandwidth.
    pub fn bus_factor(&self, ranks: Option<i64>) -> Option<f64> {
        let others = || ranks.filter(|ranks| *ranks > 0).map(|ranks| (ranks - 1) as f64 / ranks as f64);
        match self.bus {
            Bus::ThereAndBack => others().map(|share| 2.0 * share),
            Bus::Others => others(),
            Bus::Whole => Some(1.0),
        }
    }
}

/// Messages moved by each of the kernels that one call or group launched, in launch order. A single kernel moves all
/// messages. If there are as many kernels as communicators, each moves the messages of one communicator. If there are
/// as many as messages, each moves one. Communicators are in the order of their first message.
pub fn shared_out(messages: &[Message], kernels: usize) -> Vec<Result<Message, Sizes>> {
    if messages.is_empty() {
        return vec![Err(Sizes::NoCall); kernels];
    }
    let mut communicators: Vec<Option<u32>> = Vec::new();
    for message in messages {
        if !communicators.contains(&message.communicator) {
            communicators.push(message.communicator);
        }
    }
    let of = |communicator: Option<u32>| messages.iter().filter(move |message| message.communicator == communicator);
    if kernels == communicators.len() {
        return communicators.iter().map(|communicator| together(of(*communicator).copied())).collect();
    }
    if kernels == messages.len() {
        return communicators.iter().flat_map(|communicator| of(*communicator).copied().map(Ok)).collect();
    }
    // Messages between two ranks remain such, though it is not known which kernel moves which.
    let all = |first: Message| Message { rank_bytes: Err(Sizes::Mixed), peer: None, goes_both_ways: true, ..first };
    let pair = messages.first().filter(|_| messages.iter().all(|message| message.is_pair));
    vec![pair.copied().map(all).ok_or(Sizes::Mixed); kernels]
}

/// Whether messages go to and come from every other rank of their communicator: a program implements an exchange of all
/// ranks so if the library has none.
pub fn is_among_all(messages: &[Message], ranks: Option<i64>) -> bool {
    let Some(others) = ranks.and_then(|ranks| usize::try_from(ranks).ok()?.checked_sub(1)) else { return false };
    let peers = |receives: bool| {
        let own = messages.iter().filter(move |message| message.receives == receives);
        own.filter_map(|message| message.peer).collect::<std::collections::BTreeSet<i64>>().len()
    };
    others + 1 >= Thresholds::builtin().matched_collectives.min_ranks_of_all
        && peers(true) >= others
        && peers(false) >= others
}

/// Messages of one communicator as one: of the same operation, their sum.
fn together(messages: impl Iterator<Item = Message>) -> Result<Message, Sizes> {
    let mut all: Option<Message> = None;
    let (mut sent, mut received) = (Ok(0_i64), Ok(0_i64));
    for message in messages {
        if all.is_some_and(|first| first.operation != message.operation) {
            return Err(Sizes::Mixed);
        }
        let first = all.get_or_insert(message);
        if first.element_type != message.element_type {
            first.element_type = None;
        }
        if first.peer != message.peer {
            first.peer = None;
        }
        first.goes_both_ways |= first.receives != message.receives;
        let sum = if message.receives { &mut received } else { &mut sent };
        *sum = match (*sum, message.rank_bytes) {
            (Ok(sum), Ok(bytes)) => sum.checked_add(bytes).ok_or(Sizes::Unreadable),
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        };
    }
    let rank_bytes = sent.and_then(|sent| received.map(|received| sent.max(received)));
    all.map(|first| Message { rank_bytes, ..first }).ok_or(Sizes::NoCall)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(call: &str, communicator: Option<u32>, count: &str, datatype: &str) -> Message {
        let arguments = [("count", count), ("sendcount", count), ("recvcount", count), ("datatype", datatype)];
        Message::from_call(call, communicator, |name| {
            arguments.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
        })
        .unwrap()
    }

    /// 1 Mi elements of two bytes over 8 ranks: an all-reduce has 2 MiB and the factor 2 · 7/8, an all-gather eight times as
    /// much and 7/8, a broadcast 2 MiB and 1.
    #[test]
    fn sizes_and_factors_are_those_of_rccl_tests() {
        let told = |call: &str| {
            let message = message(call, None, "1048576", "ncclBfloat16");
            let operation = &operations()[message.operation];
            (
                operation.message_bytes(message.rank_bytes.unwrap(), Some(8)).unwrap(),
                operation.bus_factor(Some(8)).unwrap(),
            )
        };
        let mib = 1 << 20;
        assert_eq!(told("ncclAllReduce"), (2 * mib, 1.75));
        for call in ["ncclAllGather", "ncclReduceScatter", "ncclAllToAll", "ncclAlltoAll", "ncclGather", "ncclScatter"]
        {
            assert_eq!(told(call), (16 * mib, 0.875), "{call}");
        }
        for call in ["ncclBroadcast", "ncclReduce", "ncclSend", "ncclRecv"] {
            assert_eq!(told(call), (2 * mib, 1.0), "{call}");
        }
        let gather = &operations()[operation_of("ncclAllGather").unwrap()];
        assert_eq!((gather.message_bytes(8, None), gather.bus_factor(None)), (Err(Sizes::NoRanks), None));
    }

    #[test]
    fn arguments_are_numbers_or_names() {
        let bytes = |count: &str, datatype: &str| message("ncclAllReduce", None, count, datatype).rank_bytes;
        assert_eq!([bytes("16", "7"), bytes("0x10", "ncclFloat"), bytes("16", "float32")], [Ok(64); 3]);
        assert_eq!([bytes("16", "99"), bytes("many", "7"), bytes("-1", "7")], [Err(Sizes::Unreadable); 3]);
        assert_eq!(bytes("9223372036854775807", "8"), Err(Sizes::Unreadable));
        let nothing = Message::from_call("ncclAllReduce", None, |_| None).unwrap();
        assert_eq!(nothing.rank_bytes, Err(Sizes::NoArguments));
        assert_eq!(Message::from_call("ncclGroupStart", None, |_| None), None);
    }

    #[test]
    fn kernels_of_a_group_have_what_can_be_told() {
        let reduce = |communicator, count| message("ncclAllReduce", Some(communicator), count, "0");
        let bytes = |messages: &[Message], kernels| {
            shared_out(messages, kernels)
                .iter()
                .map(|one| one.map_or(Err(()), |one| one.rank_bytes.map_err(|_| ())))
                .collect::<Vec<_>>()
        };
        let group = [reduce(4, "10"), reduce(5, "20"), reduce(4, "30")];
        assert_eq!(bytes(&group, 2), [Ok(40), Ok(20)]);
        assert_eq!(bytes(&group, 3), [Ok(10), Ok(30), Ok(20)]);
        assert_eq!(bytes(&group, 1), [Err(())]);
        assert_eq!(bytes(&group[..1], 2), [Err(()), Err(())]);
        let mixed = [reduce(4, "10"), message("ncclBroadcast", Some(4), "10", "0")];
        assert_eq!(shared_out(&mixed, 1), [Err(Sizes::Mixed)]);
        // Sent and received bytes go both ways at once.
        let exchange = ["ncclSend", "ncclRecv", "ncclSend"].map(|call| message(call, Some(1), "10", "0"));
        assert_eq!(bytes(&exchange, 1), [Ok(20)]);
        assert_eq!(shared_out(&[], 1), [Err(Sizes::NoCall)]);
        // Which of two kernels moves which of three messages is unknown; that they are messages between two ranks is not.
        assert!(shared_out(&exchange, 2).iter().all(|one| one.is_ok_and(|one| one.is_pair && one.peer.is_none())));
    }

    #[test]
    fn messages_to_one_rank_are_told_from_those_to_all() {
        let to = |call: &str, peer: i64| Message { peer: Some(peer), ..message(call, Some(1), "10", "0") };
        let told = |messages: &[Message]| {
            let one = shared_out(messages, 1)[0].unwrap();
            (one.peer, one.goes_both_ways)
        };
        assert_eq!(told(&[to("ncclSend", 1)]), (Some(1), false));
        assert_eq!(told(&[to("ncclSend", 1), to("ncclSend", 1)]), (Some(1), false));
        assert_eq!(told(&[to("ncclSend", 1), to("ncclRecv", 1)]), (Some(1), true));
        assert_eq!(told(&[to("ncclSend", 2), to("ncclRecv", 0)]), (None, true));
        let all: Vec<Message> =
            [0, 1, 3].iter().flat_map(|peer| [to("ncclSend", *peer), to("ncclRecv", *peer)]).collect();
        assert!(is_among_all(&all, Some(4)) && !is_among_all(&all, Some(5)) && !is_among_all(&all, None));
        assert!(!is_among_all(&all[..4], Some(4)) && !is_among_all(&[to("ncclSend", 1), to("ncclRecv", 1)], Some(2)));
    }

    #[test]
    fn coalesced_messages_of_kernels_go_both_ways() {
        let arguments =
            [("Collective name", "coalesced"), ("In msg nelems", "10"), ("dtype", "Float"), ("Dst Rank", "1")];
        let find = |name: &str| arguments.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let found =
            Message::from_kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", None, find).unwrap();
        assert_eq!(operations()[found.operation].name, SEND_RECEIVE);
        assert_eq!((found.is_pair, found.goes_both_ways, found.peer), (true, true, None));
        assert_eq!(found.rank_bytes, Err(Sizes::Mixed));
        assert_eq!(Message::from_kernel("ncclDevKernel_AllGather_RING_LL", None, find), None);
    }

    #[test]
    fn ids_stand_for_numbers_that_are_missing() {
        let number = |name: &'static str, value: &'static str| {
            let find = |key: &str| match key {
                COLLECTIVE => Some("allreduce"),
                _ if key == name => Some(value),
                _ => None,
            };
            let found = Message::from_kernel("ncclDevKernel_AllReduce", None, find).unwrap();
            (found.sequence, found.number)
        };
        assert_eq!(number("Seq", "7"), (Some(7), Some(7)));
        assert_eq!(number("Comms Id", "12"), (None, Some(12)));
        assert_eq!(number("Comms Id", "18446744073709551615"), (None, Some(-1)));
        let (first, second) = (number("Comms Id", "0xab"), number("Comms Id", "0xac"));
        assert!(first.1.is_some() && first != second);
        assert_eq!(number("Seq", "-1"), (None, None));
    }
}

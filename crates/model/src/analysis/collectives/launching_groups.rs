//! Calls of a communication library that launch kernels, and their groups, inferred from when they ran on their
//! threads.

/// A call of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its thread.
    pub tid: Option<i64>,
    pub start_ns: i64,
    pub end_ns: i64,
    pub kind: GroupCall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupCall {
    /// Calls after it launch nothing before the group ends.
    GroupStart,
    /// Launches what was collected, at the outermost level.
    GroupEnd,
    /// Moves data: the number of its message.
    Message(u32),
}

/// A call in which kernels are launched that move its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    tid: Option<i64>,
    start_ns: i64,
    end_ns: i64,
    /// Numbers of the messages, in the order of their calls.
    pub messages: Vec<u32>,
}

/// Groups of all threads, by thread and start; those of a thread do not overlap.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Groups(Vec<Group>);

impl Groups {
    /// The groups of all calls. Calls inside a call that moves data are part of its implementation.
    pub fn from_calls(mut calls: Vec<Call>) -> Self {
        calls.sort_by_key(|call| (call.tid, call.start_ns, std::cmp::Reverse(call.end_ns)));
        let mut groups: Vec<Group> = Vec::new();
        let mut collected: Vec<u32> = Vec::new();
        let mut depth = 0_usize;
        let mut inside: Option<(Option<i64>, i64)> = None;
        let mut thread = None;
        for call in calls {
            if thread != Some(call.tid) {
                thread = Some(call.tid);
                (depth, inside) = (0, None);
                collected.clear();
            }
            if inside.is_some_and(|(_, end_ns)| call.end_ns <= end_ns) {
                continue;
            }
            let launches = |messages| Group { tid: call.tid, start_ns: call.start_ns, end_ns: call.end_ns, messages };
            match call.kind {
                GroupCall::GroupStart => depth += 1,
                GroupCall::GroupEnd => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        groups.push(launches(std::mem::take(&mut collected)));
                    }
                }
                GroupCall::Message(number) => {
                    inside = Some((call.tid, call.end_ns));
                    if depth == 0 {
                        groups.push(launches(vec![number]));
                    } else {
                        collected.push(number);
                    }
                }
            }
        }
        Self(groups)
    }

    /// The place of the group in which a launch happened.
    pub fn at(&self, tid: Option<i64>, time_ns: i64) -> Option<usize> {
        let after = self.0.partition_point(|group| (group.tid, group.start_ns) <= (tid, time_ns));
        let place = after.checked_sub(1)?;
        let group = self.0.get(place)?;
        (group.tid == tid && time_ns <= group.end_ns).then_some(place)
    }

    pub fn messages(&self, place: usize) -> &[u32] {
        self.0.get(place).map_or(&[], |group| group.messages.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tid: i64, start_ns: i64, end_ns: i64, kind: GroupCall) -> Call {
        Call { tid: Some(tid), start_ns, end_ns, kind }
    }

    /// Thread 1 calls 0 alone (with a group inside that sends 9), then 1 and 2 in a group within a group; thread 2 calls 3.
    #[test]
    fn what_is_launched_belongs_to_the_outermost_call_or_group() {
        let groups = Groups::from_calls(vec![
            call(2, 12, 18, GroupCall::Message(3)),
            call(1, 10, 20, GroupCall::Message(0)),
            call(1, 11, 12, GroupCall::GroupStart),
            call(1, 13, 14, GroupCall::Message(9)),
            call(1, 15, 19, GroupCall::GroupEnd),
            call(1, 30, 31, GroupCall::GroupStart),
            call(1, 32, 33, GroupCall::GroupStart),
            call(1, 34, 35, GroupCall::Message(1)),
            call(1, 36, 37, GroupCall::GroupEnd),
            call(1, 38, 39, GroupCall::Message(2)),
            call(1, 40, 50, GroupCall::GroupEnd),
        ]);
        let found = |tid, time_ns| groups.at(Some(tid), time_ns).map(|place| groups.messages(place).to_vec());
        assert_eq!(found(1, 10), Some(vec![0]));
        assert_eq!(found(1, 16), Some(vec![0]));
        assert_eq!(found(1, 36), None);
        assert_eq!(found(1, 50), Some(vec![1, 2]));
        assert_eq!(found(2, 16), Some(vec![3]));
        assert_eq!((found(1, 21), found(2, 11), found(3, 15), groups.at(None, 15)), (None, None, None, None));
    }

    #[test]
    fn an_end_without_start_launches_nothing_that_is_known() {
        let groups =
            Groups::from_calls(vec![call(1, 5, 9, GroupCall::GroupEnd), call(1, 20, 30, GroupCall::Message(4))]);
        assert_eq!(groups.at(Some(1), 6).map(|place| groups.messages(place)), Some([].as_slice()));
        assert_eq!(groups.at(Some(1), 25).map(|place| groups.messages(place)), Some([4].as_slice()));
    }
}

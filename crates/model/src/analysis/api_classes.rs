//! Classes of API calls by purpose (launching, waiting, copying and so on), from rules over their names. Also the calls
//! that stop and start the recording, and the domains that hold no calls.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Class of calls that no rule knows.
const OTHER: &str = "other";
/// Suffix of the names of variants for the default stream of a thread.
const PER_THREAD: &str = "_spt";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    class: String,
    #[serde(rename = "doc")]
    _doc: String,
    #[serde(default)]
    waits: bool,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    all: Vec<String>,
}

/// The rules in order, and the lists of names next to them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiClasses {
    #[serde(rename = "rule")]
    rules: Vec<Rule>,
    annotations: Vec<String>,
    interfaces: BTreeMap<String, Vec<String>>,
    pause: Vec<String>,
    resume: Vec<String>,
    drain_stream: Vec<String>,
    drain_device: Vec<String>,
}

impl ApiClasses {
    /// The rules of `share/api_classes.toml`.
    pub fn builtin() -> &'static Self {
        shared!(ApiClasses, "share/api_classes.toml")
    }

    /// The class of a call, as its place among [`ApiClasses::names`].
    pub fn class(&self, name: &str) -> u8 {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(PER_THREAD).unwrap_or(&name);
        let matches = |rule: &Rule| {
            let begins = rule.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()));
            let has = |part: &String| name.contains(part.as_str());
            (begins || rule.contains.iter().any(has)) && rule.all.iter().all(has)
        };
        let place = self.rules.iter().position(matches).unwrap_or(self.rules.len());
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    /// The classes in order, the one without rule last.
    pub fn names(&self) -> Vec<String> {
        self.rules.iter().map(|rule| rule.class.clone()).chain([OTHER.to_owned()]).collect()
    }

    /// Whether calls of a class return only after GPU work is done.
    pub fn waits(&self, class: u8) -> bool {
        self.rules.get(usize::from(class)).is_some_and(|rule| rule.waits)
    }

    /// Whether a call returns only when something on the GPU is done.
    pub fn synchronizes(&self, name: &str) -> bool {
        self.waits(self.class(name))
    }

    /// Whether a call returns only when all work given to a stream before is done.
    pub fn drains_stream(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.drain_stream.iter().any(|part| name.contains(part.as_str()))
    }

    /// Whether a call returns only when all work given to a device before is done.
    pub fn drains_device(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.drain_device.iter().any(|part| name.contains(part.as_str()))
    }

    /// Whether a call stops the recording.
    pub fn pauses(&self, name: &str) -> bool {
        self.pause.iter().any(|other| other == name)
    }

    /// Whether a call starts the recording again.
    pub fn resumes(&self, name: &str) -> bool {
        self.resume.iter().any(|other| other == name)
    }

    /// Whether the regions of a domain are annotations or functions of the program, not calls of an interface.
    pub fn annotates(&self, domain: &str) -> bool {
        self.annotations.iter().any(|other| other == domain)
    }

    /// Domains whose call names start like the names of an interface.
    pub fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.interfaces.keys().map(String::as_str)
    }

    /// Whether a name starts like the names of an interface.
    pub fn belongs(&self, interface: &str, name: &str) -> bool {
        let beginnings = self.interfaces.get(interface);
        beginnings.is_some_and(|beginnings| beginnings.iter().any(|beginning| name.starts_with(beginning.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_rules_are_whole() {
        let rules = toml::from_str::<ApiClasses>(data!("share/api_classes.toml")).unwrap().rules;
        let classes: BTreeSet<&str> = rules.iter().map(|rule| rule.class.as_str()).collect();
        assert_eq!(classes.len(), rules.len(), "every class has one rule");
        for rule in &rules {
            assert!(!rule.prefixes.is_empty() || !rule.contains.is_empty(), "{}", rule.class);
            let parts = rule.prefixes.iter().chain(&rule.contains).chain(&rule.all);
            assert!(parts.into_iter().all(|part| !part.is_empty() && *part == part.to_lowercase()), "{}", rule.class);
        }
    }

    #[test]
    fn calls_are_known() {
        let classes = ApiClasses::builtin();
        let names = classes.names();
        for line in data!("fixtures/api_calls.txt").lines().filter(|line| !line.starts_with('#')) {
            let [call, class, waits] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (found, waits) = (classes.class(call), waits == "waits");
            assert_eq!((names[usize::from(found)].as_str(), classes.waits(found)), (class, waits), "{call}");
            assert_eq!(classes.synchronizes(call), waits, "{call}");
        }
        for (call, stream, device) in [
            ("hipDeviceSynchronize", false, true),
            ("hipStreamSynchronize_spt", true, false),
            ("hipCtxSynchronize", false, true),
            ("hipEventSynchronize", false, false),
            ("hipMemcpy", false, false),
        ] {
            assert_eq!((classes.drains_stream(call), classes.drains_device(call)), (stream, device), "{call}");
        }
    }

    #[test]
    fn what_controls_the_recording_and_what_annotates() {
        let classes = ApiClasses::builtin();
        assert!(classes.pauses("roctxProfilerPause") && !classes.pauses("roctxProfilerResume"));
        assert!(classes.resumes("roctxProfilerResume") && !classes.resumes("roctxProfilerPause"));
        assert!(classes.annotates("marker") && classes.annotates("host") && !classes.annotates("hip"));
        assert_eq!(classes.interfaces().collect::<Vec<_>>(), ["hip", "hsa"]);
        assert!(classes.belongs("hip", "__hipPushCallConfiguration") && classes.belongs("hsa", "hsa_init"));
        assert!(!classes.belongs("hip", "hcc_activity_callback") && !classes.belongs("rccl", "ncclAllReduce"));
    }
}

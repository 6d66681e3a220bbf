//! Pictures of whole traces.

use wavesieve_engine::{NameForm, Registry};
use wavesieve_model::analysis::kernel_names::ReadableNames;

use super::{PictureOptions, TimelineReader, picture};

#[test]
fn processes_that_are_read_again_give_the_same_picture() {
    let (registry, names) = (Registry::embedded(), ReadableNames::default());
    let made = |kept_bytes: u64| {
        let trace = wavesieve_input::open(["../../fixtures/planted"]).unwrap();
        assert!(trace.members().len() > 1);
        let reader = TimelineReader::within(&trace, kept_bytes);
        let options = PictureOptions { registry: &registry, findings: &[], names: &names, form: NameForm::Full };
        picture(&trace, reader, &options).unwrap()
    };
    let (kept, read_again) = (made(u64::MAX), made(0));
    assert!(kept.windows.len() > 1 && kept.windows.iter().all(|window| !window.lanes.is_empty()));
    assert_eq!(serde_json::to_value(&kept).unwrap(), serde_json::to_value(&read_again).unwrap());
}

//! The command line.

pub(crate) struct Arguments {
    pub code_object: String,
    pub kernel: String,
    pub dispatches: u64,
    pub elements: u32,
    pub regions: u64,
    pub region_bytes: usize,
    pub is_virtual: bool,
    pub is_from_file: bool,
    pub is_batch: bool,
    pub has_two_queues: bool,
    pub dynamic_lds: u32,
    pub shuts_down: bool,
    pub aborts_after: Option<u64>,
}

impl Arguments {
    pub(crate) fn of(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            code_object: words.next().ok_or("name a code object")?,
            kernel: "add".to_owned(),
            dispatches: 3,
            elements: 16,
            regions: 0,
            region_bytes: 64,
            is_virtual: false,
            is_from_file: false,
            is_batch: false,
            has_two_queues: false,
            dynamic_lds: 0,
            shuts_down: true,
            aborts_after: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            let number = |text: String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
            match word.as_str() {
                "--kernel" => arguments.kernel = value()?,
                "--dispatches" => arguments.dispatches = number(value()?)?,
                "--elements" => arguments.elements = number(value()?)? as u32,
                "--regions" => arguments.regions = number(value()?)?,
                "--region-bytes" => arguments.region_bytes = number(value()?)? as usize,
                "--virtual" => arguments.is_virtual = true,
                "--file" => arguments.is_from_file = true,
                "--batch" => arguments.is_batch = true,
                "--two-queues" => arguments.has_two_queues = true,
                "--dynamic-lds" => arguments.dynamic_lds = number(value()?)? as u32,
                "--no-shut-down" => arguments.shuts_down = false,
                "--abort-after" => arguments.aborts_after = Some(number(value()?)?),
                other => return Err(format!("unknown option {other}")),
            }
        }
        Ok(arguments)
    }
}

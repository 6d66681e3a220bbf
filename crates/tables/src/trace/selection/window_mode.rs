//! The treatment of events at the sides of a window.

/// Which events a window keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WindowMode {
    /// Every event that touches the window, whole
    #[default]
    Overlap,
    /// Events that lie in the window from start to end
    Inside,
    /// Every event that touches the window, cut at its sides
    Clip,
}

impl WindowMode {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Overlap => "overlap",
            Self::Inside => "inside",
            Self::Clip => "clip",
        }
    }
}

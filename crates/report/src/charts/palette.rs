//! The colors. People with any color vision can distinguish them, and each has a fixed role.

use super::model::Role;

/// A color of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Color {
    /// Content of a chart.
    Of(Role),
    /// A weaker form of a role's color, behind the color itself.
    Track,
    /// Text.
    Ink,
    /// Text of less importance, axes.
    Muted,
    Grid,
    /// The ground, between neighbors.
    Background,
    /// A level of a heat map, of [`LEVELS`].
    Heat(usize),
    /// A level below or above a median, of [`DEVIATIONS`].
    Deviation(usize),
    /// Upper end of a scale of shares, in lines over bars.
    Line,
    /// Text on a bright color, on every ground.
    Dark,
}

/// Luma in thousandths of a 255th above which a color needs dark text.
const BRIGHT: u32 = 125_000;

/// Levels of a heat map.
pub const LEVELS: usize = 24;
/// Levels of distances from a median; the middle one is no distance.
pub const DEVIATIONS: usize = 21;

/// Colors of series after the palette of Okabe and Ito, starting with those without a role. Their black and yellow are
/// not visible on every ground; here they are slate and olive.
const SERIES: [((u8, u8, u8), &str); 8] = [
    ((0xD5, 0x5E, 0x00), "vermilion"),
    ((0x56, 0xB4, 0xE9), "sky"),
    ((0xCC, 0x79, 0xA7), "purple"),
    ((0x4B, 0x58, 0x69), "slate"),
    ((0xB5, 0xA6, 0x12), "olive"),
    (COMPUTE, "compute"),
    (COMMUNICATION, "communication"),
    (COPY, "copy"),
];
const COMPUTE: (u8, u8, u8) = (0x00, 0x72, 0xB2);
const COMMUNICATION: (u8, u8, u8) = (0xE6, 0x9F, 0x00);
const COPY: (u8, u8, u8) = (0x00, 0x9E, 0x73);

/// Number of series with their own color.
pub(crate) const SERIES_COLOURS: usize = SERIES.len();

/// Every 32nd value of matplotlib's color map viridis, which is perceptually uniform, and its last value.
const VIRIDIS: [(u8, u8, u8); 9] = [
    (68, 1, 84),
    (71, 44, 122),
    (59, 81, 139),
    (44, 113, 142),
    (33, 144, 141),
    (39, 173, 129),
    (92, 200, 99),
    (170, 220, 50),
    (253, 231, 37),
];

/// Every 32nd value of the map "cool to warm" by K. Moreland (Diverging Color Maps for Scientific Visualization, 2009), which
/// people with any color vision can read: blue below, gray between, red above.
const COOL_WARM: [(u8, u8, u8); 9] = [
    (59, 76, 192),
    (98, 130, 234),
    (141, 176, 254),
    (184, 208, 249),
    (221, 221, 221),
    (245, 196, 173),
    (244, 154, 123),
    (222, 96, 77),
    (180, 4, 38),
];

impl Color {
    /// Red, green and blue on a light ground.
    pub(crate) fn rgb(self) -> (u8, u8, u8) {
        match self {
            Self::Of(Role::Compute) => COMPUTE,
            Self::Of(Role::Communication) => COMMUNICATION,
            Self::Of(Role::Copy) => COPY,
            Self::Of(Role::Idle) => (0xD3, 0xD7, 0xDC),
            Self::Of(Role::Other) => (0x8A, 0x90, 0x98),
            Self::Of(Role::Neutral) => SERIES[3].0,
            Self::Of(Role::Series(number)) => SERIES.get(number).map_or((0x8A, 0x90, 0x98), |(rgb, _)| *rgb),
            Self::Track => (0xC9, 0xDD, 0xEC),
            Self::Ink => (0x1F, 0x23, 0x28),
            Self::Muted => (0x59, 0x63, 0x6E),
            Self::Grid => (0xE4, 0xE7, 0xEB),
            Self::Background => (0xFF, 0xFF, 0xFF),
            Self::Line => (0xD5, 0x5E, 0x00),
            Self::Dark => (0x14, 0x18, 0x1D),
            Self::Heat(level) => mixed(&VIRIDIS, level.min(LEVELS - 1) as f64 / (LEVELS - 1) as f64),
            Self::Deviation(level) => mixed(&COOL_WARM, level.min(DEVIATIONS - 1) as f64 / (DEVIATIONS - 1) as f64),
        }
    }

    /// The color for text on it: of both grounds, the one with more contrast.
    pub(crate) fn ink(self) -> Self {
        let (red, green, blue) = self.rgb();
        // Luma, where green counts most.
        let luma = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
        if luma > BRIGHT { Self::Dark } else { Self::Background }
    }

    /// Name of its variable in style sheets. Dark text and levels of heat maps are the same on every ground and have none.
    pub fn variable(self) -> Option<&'static str> {
        Some(match self {
            Self::Of(Role::Compute) => "compute",
            Self::Of(Role::Communication) => "communication",
            Self::Of(Role::Copy) => "copy",
            Self::Of(Role::Idle) => "idle",
            Self::Of(Role::Other) => "other",
            Self::Of(Role::Neutral) => SERIES[3].1,
            Self::Of(Role::Series(number)) => SERIES.get(number).map_or("other", |(_, name)| name),
            Self::Track => "track",
            Self::Ink => "ink",
            Self::Muted => "muted",
            Self::Grid => "grid",
            Self::Background => "ground",
            Self::Line => "vermilion",
            Self::Heat(_) | Self::Deviation(_) | Self::Dark => return None,
        })
    }

    /// The color as `#rrggbb`.
    pub fn hex(self) -> String {
        let (red, green, blue) = self.rgb();
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// Every color that has a variable.
    #[cfg(test)]
    pub fn all() -> impl Iterator<Item = Self> {
        let roles = [Role::Compute, Role::Communication, Role::Copy, Role::Idle, Role::Other, Role::Neutral];
        let series = (0..SERIES_COLOURS).map(Role::Series);
        let others = [Self::Track, Self::Ink, Self::Muted, Self::Grid, Self::Background, Self::Line];
        roles.into_iter().chain(series).map(Self::Of).chain(others)
    }
}

fn mixed(map: &[(u8, u8, u8); 9], share: f64) -> (u8, u8, u8) {
    let place = share.clamp(0.0, 1.0) * (map.len() - 1) as f64;
    let index = (place.floor() as usize).min(map.len() - 2);
    let (Some(from), Some(to)) = (map.get(index), map.get(index + 1)) else { return (0, 0, 0) };
    let between =
        |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * (place - index as f64)).round() as u8;
    (between(from.0, to.0), between(from.1, to.1), between(from.2, to.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_value_has_one_variable() {
        let mut variables = BTreeMap::new();
        for color in Color::all() {
            let variable = color.variable().unwrap();
            assert_eq!(*variables.entry(color.hex()).or_insert(variable), variable, "{color:?}");
        }
        for level in 0..LEVELS {
            assert!(!variables.contains_key(&Color::Heat(level).hex()));
            assert!(!variables.contains_key(&Color::Deviation(level).hex()));
        }
    }

    #[test]
    fn text_is_readable_on_every_role() {
        let linear = |part: u8| match f64::from(part) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        let light = |color: Color| {
            let (red, green, blue) = color.rgb();
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        for color in Color::all().filter(|color| matches!(color, Color::Of(_))) {
            let (one, other) = (light(color), light(color.ink()));
            let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            assert!(contrast >= 3.0, "{color:?}: {contrast}");
        }
    }

    #[test]
    fn heat_grows_lighter() {
        let light = |level| {
            let (red, green, blue) = Color::Heat(level).rgb();
            0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue)
        };
        assert!((1..LEVELS).all(|level| light(level) > light(level - 1)));
    }
}

//! Totals over the files of a tree.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::advice::{Facts, Recommendation, counters, recommendations, risks};
use super::commands::Target;
use super::file_matches::{FileMatches, Mention};
use super::files::Language;
use super::model::programming_model;
use super::patterns::{Pattern, PatternForm, Patterns, Severity};

/// Maximum number of listed places of a pattern, per file and in total.
const LOCATIONS_OF_FILE: usize = 10;
const LOCATIONS: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DetectedKernel {
    /// Name without namespace and template arguments.
    pub name: String,
    /// File of its definition, otherwise of its first mention.
    pub file: String,
    /// Line in that file, from 1.
    pub line: u32,
    /// The matching pattern there.
    pub launch_type: String,
    /// Number of definitions; several if kernels of different files have the same name.
    pub definition_count: usize,
    /// Number of places that launch it.
    pub launch_count: usize,
    /// The first places that launch it.
    pub launches: Vec<String>,
    /// Whether a launch is in a loop.
    pub launched_in_loop: bool,
}

/// A pattern that occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DetectedPattern {
    /// Its stable name.
    pub pattern_id: String,
    /// Its importance.
    pub severity: Severity,
    /// Its category.
    pub category: String,
    pub description: String,
    /// Number of occurrences.
    pub count: usize,
    /// Number of occurrences in loops.
    pub in_loops: usize,
    /// The first places, as `file:line`.
    pub locations: Vec<String>,
}

/// The facts from source code before there is a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceScan {
    /// The directory as named by the user.
    pub source_dir: String,
    /// The programming model.
    pub programming_model: String,
    /// Files that were read.
    pub files_scanned: usize,
    /// Source files that were not read.
    pub files_skipped: usize,
    pub kernel_count: usize,
    /// Kernels, in the order of files and lines.
    pub detected_kernels: Vec<DetectedKernel>,
    /// Patterns, the most severe first.
    pub detected_patterns: Vec<DetectedPattern>,
    /// Parts that may cost time.
    pub risk_areas: Vec<String>,
    /// Whether the source has markers.
    pub already_instrumented: bool,
    /// Places with markers.
    pub roctx_marker_count: usize,
    /// Advice, the most urgent first.
    pub recommendations: Vec<Recommendation>,
    /// Counters worth collecting.
    pub suggested_counters: Vec<String>,
    /// The command to start with.
    pub suggested_first_command: Option<String>,
}

/// The findings in a file, with its name.
#[derive(Debug)]
pub(crate) struct FileFound {
    /// The path relative to the directory, for display.
    pub name: String,
    /// Its programming language.
    pub language: Language,
    pub found: FileMatches,
}

#[derive(Default)]
struct Places {
    count: usize,
    in_loops: usize,
    locations: Vec<String>,
    loop_locations: Vec<String>,
}

impl Places {
    fn add(&mut self, place: impl FnOnce() -> String, in_loop: bool, of_file: &mut (usize, usize)) {
        self.count += 1;
        self.in_loops += usize::from(in_loop);
        let wanted = of_file.0 < LOCATIONS_OF_FILE && self.locations.len() < LOCATIONS;
        let loop_wanted = in_loop && of_file.1 < LOCATIONS_OF_FILE && self.loop_locations.len() < LOCATIONS;
        if wanted || loop_wanted {
            let place = place();
            if loop_wanted {
                self.loop_locations.push(place.clone());
                of_file.1 += 1;
            }
            if wanted {
                self.locations.push(place);
                of_file.0 += 1;
            }
        }
    }
}

/// Combines the findings. Files are in the order of their names.
pub fn summarize(
    source_dir: String,
    files: &[FileFound],
    skipped: usize,
    patterns: &Patterns,
    target: &Target,
) -> SourceScan {
    let mut places: BTreeMap<usize, Places> = BTreeMap::new();
    let defined: BTreeSet<&str> = sites(files)
        .filter(|(_, site)| site.mention == Mention::Definition)
        .map(|(_, site)| site.name.as_str())
        .collect();
    for file in files {
        let mut of_file: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        // Subscript launches count only if the name is a kernel.
        let maybe = file
            .found
            .kernels
            .iter()
            .filter(|site| site.mention == Mention::MaybeLaunch && defined.contains(site.name.as_str()));
        let hits = file.found.hits.iter().map(|hit| (hit.pattern, hit.line, hit.in_loop));
        for (pattern, line, in_loop) in hits.chain(maybe.map(|site| (site.pattern, site.line, site.in_loop))) {
            let place = || format!("{}:{line}", file.name);
            places.entry(pattern).or_default().add(place, in_loop, of_file.entry(pattern).or_default());
        }
    }
    derive(&mut places, patterns);
    let mut roles: BTreeMap<String, usize> = BTreeMap::new();
    for (at, places) in &places {
        for role in patterns.get(*at).iter().flat_map(|pattern| &pattern.roles) {
            *roles.entry(role.clone()).or_default() += places.count;
        }
    }
    let mut facts = Facts { roles, model: String::new() };
    facts.model = programming_model(&facts, files).to_owned();
    let suggested_counters = counters(&facts);
    let recommendations = recommendations(&facts, &suggested_counters, target);
    let detected_kernels = kernels(files, &defined, patterns);
    let marker_count = facts.count("marker");
    SourceScan {
        source_dir,
        files_scanned: files.len(),
        files_skipped: skipped,
        kernel_count: detected_kernels.len(),
        detected_kernels,
        detected_patterns: detected(&places, patterns),
        risk_areas: risks(&facts),
        already_instrumented: marker_count > 0,
        roctx_marker_count: marker_count,
        suggested_first_command: recommendations
            .iter()
            .find_map(|advice| advice.commands.first())
            .map(|command| command.full_command.clone()),
        recommendations,
        suggested_counters,
        programming_model: facts.model,
    }
}

fn sites(files: &[FileFound]) -> impl Iterator<Item = (&FileFound, &super::file_matches::KernelSite)> {
    files.iter().flat_map(|file| file.found.kernels.iter().map(move |site| (file, site)))
}

/// Adds patterns that follow from others.
fn derive(places: &mut BTreeMap<usize, Places>, patterns: &Patterns) {
    let having = |role: &str| -> Vec<usize> {
        let all = patterns.all().iter().enumerate();
        all.filter(|(_, pattern)| pattern.form != Some(PatternForm::InLoop) && pattern.has_role(role))
            .map(|(at, _)| at)
            .collect()
    };
    for at in patterns.of_form(PatternForm::InLoop).collect::<Vec<_>>() {
        let mut sum = Places::default();
        for own in patterns.get(at).and_then(|pattern| pattern.of.as_deref()).map(having).unwrap_or_default() {
            let Some(places) = places.get(&own) else { continue };
            sum.count += places.in_loops;
            sum.in_loops += places.in_loops;
            sum.locations.extend(places.loop_locations.iter().cloned());
        }
        sum.locations.truncate(LOCATIONS);
        if sum.count > 0 {
            places.insert(at, sum);
        }
    }
    for at in patterns.of_form(PatternForm::Without).collect::<Vec<_>>() {
        let Some(pattern) = patterns.get(at) else { continue };
        let of = |role: &Option<String>| role.as_deref().map(having).unwrap_or_default();
        let is_there = |own: &Vec<usize>| own.iter().any(|at| places.contains_key(at));
        let (present, absent) = (of(&pattern.of), of(&pattern.absent));
        if is_there(&present) && !is_there(&absent) {
            let locations = present.iter().filter_map(|at| places.get(at)).flat_map(|places| &places.locations);
            let locations = locations.take(LOCATIONS / 2).cloned().collect();
            places.insert(at, Places { count: 1, locations, ..Places::default() });
        }
    }
}

fn detected(places: &BTreeMap<usize, Places>, patterns: &Patterns) -> Vec<DetectedPattern> {
    let one = |(at, places): (&usize, &Places)| -> Option<DetectedPattern> {
        let pattern: &Pattern = patterns.get(*at)?;
        Some(DetectedPattern {
            pattern_id: pattern.id.clone(),
            severity: pattern.severity,
            category: pattern.category.clone(),
            description: pattern.idea.clone(),
            count: places.count,
            in_loops: places.in_loops,
            locations: places.locations.clone(),
        })
    };
    let mut detected: Vec<DetectedPattern> = places.iter().filter_map(one).collect();
    detected.sort_by_key(|pattern| pattern.severity);
    detected
}

/// Kernels by name: definitions, and launches in all files.
fn kernels(files: &[FileFound], defined: &BTreeSet<&str>, patterns: &Patterns) -> Vec<DetectedKernel> {
    struct KernelEntry {
        kernel: DetectedKernel,
        mention: Mention,
    }
    let mut order: Vec<KernelEntry> = Vec::new();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (file, site) in sites(files) {
        let is_defined = defined.contains(site.name.as_str());
        if site.mention == Mention::MaybeLaunch && !is_defined {
            continue;
        }
        // A launched variable stands for the kernels that were assigned to it.
        let known: Vec<&String> = site.substitutes.iter().filter(|name| defined.contains(name.as_str())).collect();
        let names: Vec<&String> = match (known.is_empty(), is_defined, site.substitutes.is_empty()) {
            (false, ..) => known,
            (true, false, false) => site.substitutes.iter().collect(),
            _ => vec![&site.name],
        };
        for name in names {
            let at = *by_name.entry(name.clone()).or_insert_with(|| {
                let kernel = DetectedKernel { name: name.clone(), ..DetectedKernel::default() };
                order.push(KernelEntry { kernel, mention: Mention::MaybeLaunch });
                order.len() - 1
            });
            let Some(entry) = order.get_mut(at) else { continue };
            let kernel = &mut entry.kernel;
            if kernel.file.is_empty() || site.mention < entry.mention {
                kernel.file.clone_from(&file.name);
                kernel.line = site.line;
                kernel.launch_type = patterns.get(site.pattern).map(|pattern| pattern.id.clone()).unwrap_or_default();
                entry.mention = site.mention;
            }
            match site.mention {
                Mention::Definition => kernel.definition_count += 1,
                Mention::Declaration => {}
                // A mention without the launch role does not launch anything.
                Mention::Launch if !patterns.get(site.pattern).is_some_and(|pattern| pattern.has_role("launch")) => {}
                Mention::Launch | Mention::MaybeLaunch => {
                    kernel.launch_count += 1;
                    kernel.launched_in_loop |= site.in_loop;
                    if kernel.launches.len() < LOCATIONS_OF_FILE {
                        kernel.launches.push(format!("{}:{}", file.name, site.line));
                    }
                }
            }
        }
    }
    let places: BTreeMap<&str, usize> = files.iter().enumerate().map(|(at, file)| (file.name.as_str(), at)).collect();
    let mut kernels: Vec<DetectedKernel> = order.into_iter().map(|entry| entry.kernel).collect();
    kernels.sort_by_cached_key(|kernel| (places.get(kernel.file.as_str()).copied(), kernel.line, kernel.name.clone()));
    kernels
}

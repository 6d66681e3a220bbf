//! The configurations that are searched.

use std::collections::BTreeMap;

use super::value::Value;

pub(crate) const MAX_CONFIGURATIONS: usize = 200_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    /// Distinct values: numbers in rising order, other values in the order in which they were found.
    pub levels: Vec<Value>,
}

impl Parameter {
    /// The values as numbers, if all are numbers and differ as such: 6.1 and 6.10 do not.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        let numbers: Vec<f64> = self.levels.iter().map(Value::number).collect::<Option<_>>()?;
        numbers.is_sorted_by(|one, two| one < two).then_some(numbers)
    }
}

/// Configurations, each with a value for every parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The parameters, sorted by name.
    pub parameters: Vec<Parameter>,
    /// The level indices of each configuration.
    levels: Vec<Vec<usize>>,
    /// The configurations by their levels.
    places: BTreeMap<Vec<usize>, usize>,
    /// Configurations that were listed more than once.
    pub duplicates: usize,
}

impl Space {
    /// Makes a space from values in the order of the parameter names; duplicates are left out.
    pub fn new(names: Vec<String>, configurations: &[Vec<Value>]) -> Self {
        let mut parameters: Vec<Parameter> =
            names.into_iter().map(|name| Parameter { name, levels: Vec::new() }).collect();
        for (at, parameter) in parameters.iter_mut().enumerate() {
            let mut seen = BTreeMap::new();
            for value in configurations.iter().filter_map(|values| values.get(at)) {
                if seen.insert(value.to_string(), ()).is_none() {
                    parameter.levels.push(value.clone());
                }
            }
            if parameter.levels.iter().all(|level| level.number().is_some()) {
                parameter.levels.sort_by(Value::order);
            }
        }
        let by_text: Vec<BTreeMap<String, usize>> = parameters
            .iter()
            .map(|parameter| parameter.levels.iter().map(ToString::to_string).zip(0..).collect())
            .collect();
        let mut space = Self { parameters, levels: Vec::new(), places: BTreeMap::new(), duplicates: 0 };
        for values in configurations {
            let level = |(value, known): (&Value, &BTreeMap<String, usize>)| known.get(&value.to_string()).copied();
            let levels: Vec<usize> = values.iter().zip(&by_text).filter_map(level).collect();
            if space.places.contains_key(&levels) {
                space.duplicates += 1;
            } else {
                space.places.insert(levels.clone(), space.levels.len());
                space.levels.push(levels);
            }
        }
        space
    }

    /// Returns the number of configurations.
    #[expect(clippy::len_without_is_empty, reason = "a space has a point at least")]
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// The level index of each of a configuration's values.
    pub fn levels(&self, configuration: usize) -> &[usize] {
        self.levels.get(configuration).map_or(&[], Vec::as_slice)
    }

    /// The values of a configuration with the names of the parameters.
    pub fn values(&self, configuration: usize) -> impl Iterator<Item = (&str, &Value)> {
        let levels = self.levels(configuration);
        self.parameters
            .iter()
            .zip(levels)
            .filter_map(|(parameter, level)| Some((parameter.name.as_str(), parameter.levels.get(*level)?)))
    }

    /// The configuration with these texts as values.
    pub fn find(&self, texts: &BTreeMap<String, String>) -> Option<usize> {
        let level = |parameter: &Parameter| {
            let text = texts.get(&parameter.name)?;
            parameter.levels.iter().position(|level| level.to_string() == *text)
        };
        let levels: Option<Vec<usize>> = self.parameters.iter().map(level).collect();
        levels.and_then(|levels| self.places.get(&levels).copied())
    }

    /// Configurations that differ in one parameter: by the next number, or by any other category.
    pub fn neighbours(&self, configuration: usize) -> Vec<usize> {
        let own = self.levels(configuration);
        let mut found = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let Some(level) = own.get(at).copied() else { continue };
            let is_numeric = parameter.numbers().is_some();
            for other in (0..parameter.levels.len()).filter(|other| *other != level) {
                if is_numeric && other.abs_diff(level) > 1 {
                    continue;
                }
                let mut levels = own.to_vec();
                if let Some(place) = levels.get_mut(at) {
                    *place = other;
                }
                found.extend(self.places.get(&levels));
            }
        }
        found
    }
}

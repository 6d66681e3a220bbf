//! Steps without markers: each ends with the choice of its tokens.

use std::ops::Range;

use crate::analysis::inference::kernel_roles::Role;

/// Ranges of the kernels of each step, among kernels in the order of their starts.
///
/// A step ends after the last kernel that chooses tokens before other kernels of the model follow. Kernels after the
/// last step are in no step. A process that trains or makes images, or whose model is not known, has no steps.
pub fn steps_by_tokens(roles: &[Option<Role>]) -> Vec<Range<usize>> {
    if roles.iter().any(|role| matches!(role, Some(Role::Training | Role::Image))) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let (mut start, mut has_model) = (0, false);
    let mut chosen: Option<usize> = None;
    for (place, role) in roles.iter().enumerate() {
        match role {
            Some(Role::TokenChoice) if has_model => chosen = Some(place),
            Some(role) if role.is_of_model() => {
                if let Some(last) = chosen.take() {
                    steps.push(start..last + 1);
                    start = last + 1;
                }
                has_model = true;
            }
            _ => {}
        }
    }
    steps.extend(chosen.map(|last| start..last + 1));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(letters: &str) -> Vec<Option<Role>> {
        let role = |letter| match letter {
            'a' => Some(Role::SharedAttention),
            'e' => Some(Role::Embedding),
            'c' => Some(Role::TokenChoice),
            't' => Some(Role::Training),
            'i' => Some(Role::Image),
            _ => None,
        };
        letters.chars().map(role).collect()
    }

    #[test]
    fn a_step_ends_with_its_tokens() {
        // Two kernels choose the tokens of the first step; what follows them prepares the second.
        assert_eq!(steps_by_tokens(&roles("..a.a.c.c..a.c...")), [0..9, 9..14]);
        let only_step = |letters| {
            let steps = steps_by_tokens(&roles(letters));
            (steps.len(), steps.first().cloned())
        };
        assert_eq!(only_step("e..c"), (1, Some(0..4)));
        // A choosing kernel before the first model kernel ends no step.
        assert_eq!(only_step("c.a.c"), (1, Some(0..5)));
    }

    #[test]
    fn without_tokens_or_a_model_there_are_no_steps() {
        for letters in ["", "...", ".a.a", "..c..c", "a.c.a.ct", "ia.c.a.c"] {
            assert!(steps_by_tokens(&roles(letters)).is_empty(), "{letters}");
        }
    }
}

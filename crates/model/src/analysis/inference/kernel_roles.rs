//! Roles of kernels in their steps, inferred from their names.

use crate::analysis::categories::{Categories, CategoryError};
use crate::analysis::kernel_names::base_name;

const RULES: &str = data!("share/inference_kernels.toml");

spelled! {
    /// Role of a kernel in a step, if it helps to distinguish steps or their kinds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role by word {
        Training = "training",
        Image = "image",
        DecodeAttention = "decode_attention",
        PrefillAttention = "prefill_attention",
        SharedAttention = "shared_attention",
        CacheWrite = "cache_write",
        TokenChoice = "token_choice",
        Embedding = "embedding",
    }
}

impl Role {
    /// Whether only language models have it. A kernel with such a role after a chosen token belongs to another step.
    pub(crate) fn is_of_model(self) -> bool {
        !matches!(self, Self::Training | Self::Image | Self::TokenChoice)
    }
}

/// The rules of `share/inference_kernels.toml`.
pub struct KernelRoles(Categories);

impl KernelRoles {
    /// The built-in rules.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> Result<Self, CategoryError> {
        Ok(Self(Categories::of_rules(RULES, "built-in roles of kernels")?))
    }

    /// The role of a kernel by its display name.
    pub fn role(&self, display_name: &str) -> Option<Role> {
        let word = self.0.category(&base_name(display_name), display_name);
        Role::ALL.into_iter().find(|role| role.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_gives_a_role() {
        let roles = KernelRoles::builtin().unwrap();
        let ids = roles.0.ids();
        assert_eq!(ids.len(), Role::ALL.len() + 1, "{ids:?}");
        assert!(Role::ALL.iter().all(|role| ids.contains(&role.word())), "{ids:?}");
    }

    #[test]
    fn names_of_kernels_have_their_roles() {
        let roles = KernelRoles::builtin().unwrap();
        for line in data!("fixtures/kernel_names/roles.txt").lines().filter(|line| !line.starts_with('#')) {
            let (role, name) = line.split_once('\t').unwrap();
            assert_eq!(roles.role(name).map_or("other", Role::word), role, "{name}");
        }
    }
}

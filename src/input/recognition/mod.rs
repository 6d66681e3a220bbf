//! Finds files and recognizes what they hold.

pub(crate) mod head;
pub(crate) mod unread_content;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        pub(crate) mod captures;
        pub(crate) mod content;
        pub(crate) mod discover;
        pub(crate) mod format;
        pub(crate) mod formats;
        pub(crate) mod index_file;
        pub(crate) mod naming;
        pub(crate) mod skipped;
    }
}

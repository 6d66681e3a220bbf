//! Finds files and recognizes what they hold.

pub mod head;
pub mod unread_content;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        pub mod captures;
        pub mod content;
        pub mod discover;
        pub mod format;
        pub mod formats;
        pub mod naming;
        pub mod skipped;
    }
}

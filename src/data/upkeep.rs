//! Secrets in their files: found, opened, and written anew while every other byte stays as it was.
//!
//! Enters: the bytes of data files, keys, recipients. Leaves: bytes. Never reads or writes a file itself.

mod layout;
mod rekey;

pub use rekey::Opened;

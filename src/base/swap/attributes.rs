//! Extended attributes, access lists among them, from the old file to the new one.

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io;

/// One attribute, or the list of their names, has at most so many bytes on Linux.
const LIMIT: usize = 64 * 1024;

/// Copies what a user sets. Labels of a security module come with the folder.
///
/// # Errors
/// The new file does not take one of them.
pub fn copy(old: &File, new: &File) -> io::Result<()> {
    let mut names = vec![0_u8; LIMIT];
    let length = match flistxattr(old, names.as_mut_slice()) {
        Ok(length) => length,
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    names.truncate(length);
    for name in names.split_inclusive(|byte| *byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok()) {
        let text = name.to_bytes();
        if !text.starts_with(b"user.") && text != b"system.posix_acl_access" {
            continue;
        }
        let mut value = vec![0_u8; LIMIT];
        let length = fgetxattr(old, name, value.as_mut_slice())?;
        fsetxattr(new, name, value.get(..length).unwrap_or_default(), XattrFlags::empty())?;
    }
    Ok(())
}

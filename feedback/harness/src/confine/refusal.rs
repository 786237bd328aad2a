//! Signs that a program was refused something.

use memchr::memmem;

/// Messages that programs write if the system refuses them something, in C, Python, Node and Java.
const SIGNS: [&str; 10] = [
    "Operation not permitted",
    "Permission denied",
    "Read-only file system",
    "Function not implemented",
    "PermissionError",
    "AccessDeniedException",
    "EPERM",
    "EACCES",
    "EROFS",
    "ENOSYS",
];

/// Returns the sign in what a program has written that it was refused something, as a confined program may be.
pub fn refusal(written: &[u8]) -> Option<&'static str> {
    SIGNS.into_iter().find(|sign| memmem::find(written, sign.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_a_refusal_are_found() {
        assert_eq!(refusal(b"sh: 1: cannot create /x: Permission denied\n"), Some("Permission denied"));
        assert_eq!(refusal(b"Error: connect EPERM 127.0.0.1:1 - Local"), Some("EPERM"));
        assert_eq!(refusal(b"unexpected token"), None);
    }
}

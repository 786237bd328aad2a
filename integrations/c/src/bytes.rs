//! Bytes that the library writes and the caller keeps.

use std::mem::ManuallyDrop;
use std::ptr;

use crate::calls::*;

/// Bytes that calls write. Begin with {0}; each call replaces what is in it, and takes more memory only if there is not
/// enough. Only `data` and `len` are of interest; do not change them. `data` may be NULL if `len` is 0.
#[repr(C)]
#[derive(Debug)]
pub struct gramjet_bytes {
    /// The bytes; no zero byte follows them.
    pub data: *mut u8,
    /// The number of bytes.
    pub len: usize,
    /// Number of bytes for which there is memory.
    pub capacity: usize,
}

impl gramjet_bytes {
    /// Takes the memory out.
    ///
    /// # Safety
    ///
    /// The fields must be all zero or as a call has left them.
    unsafe fn take(&mut self) -> Vec<u8> {
        let (data, len, capacity) = (self.data, self.len, self.capacity);
        (self.data, self.len, self.capacity) = (ptr::null_mut(), 0, 0);
        if data.is_null() || capacity == 0 {
            return Vec::new();
        }
        // SAFETY: the fields are those that `put` has taken from a vector, and now have no other owner.
        unsafe { Vec::from_raw_parts(data, len, capacity) }
    }

    fn put(&mut self, bytes: Vec<u8>) {
        let mut bytes = ManuallyDrop::new(bytes);
        (self.data, self.len, self.capacity) = (bytes.as_mut_ptr(), bytes.len(), bytes.capacity());
        if self.capacity == 0 {
            self.data = ptr::null_mut();
        }
    }

    /// Refuses input that lies in the memory that is about to be written.
    pub(crate) fn check_apart(&self, input: &[u8], what: &str) -> Result<(), Failure> {
        let own = (self.data as usize)..(self.data as usize).saturating_add(self.capacity);
        let input = input.as_ptr_range();
        if (input.start as usize) < own.end && own.start < input.end as usize {
            Err((GRAMJET_INVALID_ARGUMENT, format!("{what} lies in the bytes that are written")))
        } else {
            Ok(())
        }
    }

    /// Lets `body` write to the emptied bytes. They are whole whatever it does.
    ///
    /// # Safety
    ///
    /// The fields must be all zero or as a call has left them.
    pub(crate) unsafe fn write<T>(&mut self, body: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        struct Guard<'b>(&'b mut gramjet_bytes, Vec<u8>);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                self.0.put(std::mem::take(&mut self.1));
            }
        }
        // SAFETY: as for this function.
        let mut bytes = unsafe { self.take() };
        bytes.clear();
        let mut guard = Guard(self, bytes);
        body(&mut guard.1)
    }
}

/// Frees the memory and leaves {0}.
///
/// # Safety
///
/// `bytes` must be NULL or point to bytes that are {0} or as a call has left them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gramjet_bytes_free(bytes: *mut gramjet_bytes) {
    // SAFETY: as for this function.
    if let Some(bytes) = unsafe { bytes.as_mut() } {
        // SAFETY: as for this function.
        drop(unsafe { bytes.take() });
    }
}

//! The common parts of all calls: their result, the text of the last error, no unwinding, arguments of C.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum gramjet_status {
    /// Success.
    GRAMJET_OK = 0,
    /// An argument is NULL or cannot be used.
    GRAMJET_INVALID_ARGUMENT = 1,
    /// There is no such grammar, it cannot be read, it does not compile, or it cannot keep the limits.
    GRAMJET_INVALID_GRAMMAR = 2,
    /// The text does not conform to the grammar.
    GRAMJET_MISMATCH = 3,
    /// To parse the text takes more time or memory than there is for it: the grammar is very ambiguous there.
    GRAMJET_TOO_COSTLY = 4,
    /// Every text of the grammar is longer than the greatest length asked for.
    GRAMJET_NO_ROOM = 5,
    /// A defect of gramjet; the handle that was used may only be freed.
    GRAMJET_INTERNAL_ERROR = 6,
    /// The choice bytes have a header that cannot be read, or of another grammar, or of one that was read in another
    /// way.
    GRAMJET_OTHER_GRAMMAR = 7,
}

pub(crate) use gramjet_status::*;

/// Reason why a call has failed, with the text for people.
pub(crate) type Failure = (gramjet_status, String);

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

fn remember(message: &str) {
    // A text that holds a zero byte ends there.
    let whole = message.split('\0').next().unwrap_or_default();
    let message = CString::new(whole).unwrap_or_default();
    // While the thread ends, no call can ask for it.
    let _ = LAST_ERROR.try_with(|last| last.replace(message));
}

/// Runs the body of a call; a failure and a panic become a status and the last error.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> gramjet_status {
    // After a panic, a defect, handles are in a state that is memory safe, but may only be freed, as the status says.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => GRAMJET_OK,
        Ok(Err((status, message))) => {
            remember(&message);
            status
        }
        Err(_) => {
            remember("internal error in gramjet; please report it");
            GRAMJET_INTERNAL_ERROR
        }
    }
}

pub(crate) fn is_null(what: &str) -> Failure {
    (GRAMJET_INVALID_ARGUMENT, format!("{what} is NULL"))
}

/// Returns the object at a pointer.
///
/// # Safety
///
/// `pointer` must be null or point to a `T` that no code writes to while the reference lives.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: as for this function.
    unsafe { pointer.as_ref() }.ok_or_else(|| is_null(what))
}

/// Returns the object at a pointer.
///
/// # Safety
///
/// `pointer` must be null or point to a `T` that no other code uses while the reference lives.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: as for this function.
    unsafe { pointer.as_mut() }.ok_or_else(|| is_null(what))
}

/// Returns the bytes at a pointer.
///
/// # Safety
///
/// `data` must be null or point to `len` bytes that no code writes to while the slice lives.
pub(crate) unsafe fn slice<'a>(data: *const u8, len: usize, what: &str) -> Result<&'a [u8], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(is_null(what));
    }
    if isize::try_from(len).is_err() {
        return Err((GRAMJET_INVALID_ARGUMENT, format!("the length of {what} is more than there is memory")));
    }
    // SAFETY: as for this function; a slice has at most `isize::MAX` bytes.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// Returns the text of a C string; `None` for NULL.
///
/// # Safety
///
/// `text` must be null or a C string that no code writes to while the text lives.
pub(crate) unsafe fn string<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as for this function.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str().map_err(|_| (GRAMJET_INVALID_ARGUMENT, format!("{what} is not UTF-8 text")))?;
    Ok(Some(text))
}

/// Returns why the last call in this thread that failed did so, as a text of one or more lines; empty if none has
/// failed. It lives up to the next call in this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the version of the library, such as "0.1.0"; it lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}

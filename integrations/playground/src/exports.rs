//! The functions that the page calls. A request goes into a buffer, and its answer comes back in it.
//!
//! The contract:
//!
//! 1. `gramjet_request(n)` returns the place of `n` bytes, and the page writes the request there, as UTF-8.
//! 2. `gramjet_answer()` answers it. It returns the number of bytes of the answer, which is UTF-8, too.
//! 3. `gramjet_answer_at()` returns the place of the answer. It is valid until the next call of `gramjet_request`.
//!
//! Memory may grow in each call, so the page looks at it anew after each. If `gramjet_answer` does not return, because
//! of a panic, of too deep a recursion or for want of memory, the instance is of no more use for requests.
//! `gramjet_failure()` returns the number of bytes of the message of a panic, 0 if there was none, and
//! `gramjet_failure_at()` their place.

use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static FAILURE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request of some bytes, and returns where it goes.
// SAFETY: the name begins with the crate's, and nothing else that is linked has it.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_request(len: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(len, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the request, and returns the number of bytes of the answer.
// SAFETY: the name begins with the crate's, and nothing else that is linked has it.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_answer() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        FAILURE.with_borrow_mut(|failure| *failure = panic.to_string().into_bytes());
    }));
    let request = BUFFER.take();
    let answer = super::answer(&String::from_utf8_lossy(&request)).into_bytes();
    BUFFER.set(answer);
    BUFFER.with_borrow(Vec::len)
}

/// Returns where the answer is.
// SAFETY: the name begins with the crate's, and nothing else that is linked has it.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_answer_at() -> *const u8 {
    BUFFER.with_borrow(|buffer| buffer.as_ptr())
}

/// Returns the number of bytes of the message of a panic, 0 if there was none.
// SAFETY: the name begins with the crate's, and nothing else that is linked has it.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_failure() -> usize {
    FAILURE.with_borrow(Vec::len)
}

/// Returns where the message of a panic is.
// SAFETY: the name begins with the crate's, and nothing else that is linked has it.
#[unsafe(no_mangle)]
pub extern "C" fn gramjet_failure_at() -> *const u8 {
    FAILURE.with_borrow(|failure| failure.as_ptr())
}

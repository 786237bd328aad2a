//! The fields of a request, checked.

use serde_json::Value;

/// The most bytes of a text in a request.
const MOST_BYTES: usize = 1 << 20;

/// A request of the page.
pub struct Request(pub Value);

impl Request {
    /// Returns a text.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.0[name].as_str().ok_or_else(|| format!("the request has no text {name:?}"))?;
        match text.len() > MOST_BYTES {
            true => Err(format!("The {name} has more than 1 MiB: use the command.")),
            false => Ok(text),
        }
    }

    /// Returns a number.
    pub fn number(&self, name: &str) -> Result<u64, String> {
        self.0[name].as_u64().ok_or_else(|| format!("the request has no number {name:?}"))
    }

    /// Returns true if something is asked for.
    pub fn is(&self, name: &str) -> Result<bool, String> {
        self.0[name].as_bool().ok_or_else(|| format!("the request does not say whether {name:?}"))
    }
}

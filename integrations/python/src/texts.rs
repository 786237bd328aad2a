//! Texts as Python gives them: `str`, which is UTF-8 here, or anything with bytes.

use std::borrow::Cow;
use std::ops::Deref;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};

/// The bytes of a text.
pub struct Text<'a>(Cow<'a, [u8]>);

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Text<'a>> {
        if let Ok(bytes) = object.extract::<&'a [u8]>() {
            return Ok(Text(Cow::Borrowed(bytes)));
        }
        if object.is_instance_of::<PyString>() {
            return Ok(Text(Cow::Owned(object.extract::<String>()?.into_bytes())));
        }
        if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
            // Others could change what is in them.
            let bytes = object.py().get_type::<PyBytes>().call1((object,))?;
            return Ok(Text(Cow::Owned(bytes.extract::<Vec<u8>>()?)));
        }
        let kind = object.get_type().name()?.to_string();
        Err(PyTypeError::new_err(format!("a text is str, bytes, bytearray or memoryview, not {kind}")))
    }
}

/// One text or several.
pub struct Texts<'a>(pub Vec<Text<'a>>);

impl<'a, 'py> FromPyObject<'a, 'py> for Texts<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Texts<'a>> {
        if let Ok(text) = object.extract::<Text<'a>>() {
            return Ok(Texts(vec![text]));
        }
        let mut texts = Vec::new();
        for item in object.try_iter()? {
            let text = item?.extract::<Text<'_>>()?.0.into_owned();
            texts.push(Text(Cow::Owned(text)));
        }
        Ok(Texts(texts))
    }
}

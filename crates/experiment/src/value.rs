//! Values of parameters: numbers and words.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in the parameter's unit.
    Number(f64),
    /// A word, where there is nothing to count.
    Text(String),
}

/// The values that make a cell, by the parameters' keys.
pub type Parameters = BTreeMap<String, Value>;

/// Parameters from pairs: `parameters([("threads", 2.into()), ("layout", "shared".into())])`.
pub fn parameters<const N: usize>(pairs: [(&str, Value); N]) -> Parameters {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The cell's name in files and messages: `layout=shared threads=2`.
pub fn name(parameters: &Parameters) -> String {
    let words: Vec<String> = parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    words.join(" ")
}

impl Value {
    /// The number, unless it is a word.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Number(number.into())
    }
}

/// Exact up to 2^53.
impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number as f64)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_a_stable_name_whatever_the_order() {
        let one = parameters([("threads", 2_u32.into()), ("layout", "shared".into())]);
        let other = parameters([("layout", "shared".into()), ("threads", 2.0.into())]);
        assert_eq!(name(&one), "layout=shared threads=2");
        assert_eq!(one, other);
    }

    #[test]
    fn values_are_plain_json() {
        let cell = parameters([("size", 16_u64.into()), ("layout", "shared".into())]);
        let text = serde_json::to_string(&cell).unwrap();
        assert_eq!(text, r#"{"layout":"shared","size":16.0}"#);
        assert_eq!(serde_json::from_str::<Parameters>(&text).unwrap(), cell);
    }
}

//! Texts of other processes, which may have written anything: a terminal would obey control characters.

use serde_json::Value;

/// On one line.
pub fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// With its ends of lines.
pub fn lines(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() && letter != '\n', " ")
}

/// All texts in it.
pub fn value(value: Value) -> Value {
    match value {
        Value::String(text) => line(&text).into(),
        Value::Array(values) => values.into_iter().map(self::value).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (line(&key), self::value(value))).collect())
        }
        other => other,
    }
}

/// A text that stays where it is, with as many bytes.
pub fn in_place(text: &mut [u8]) {
    for at in 0..text.len() {
        let (now, next) = (text[at], text.get(at + 1));
        // The control characters outside of ASCII are U+0080 to U+009F, of two bytes in UTF-8.
        if now == 0xc2 && next.is_some_and(|next| (0x80..=0x9f).contains(next)) {
            text[at..at + 2].fill(b' ');
        } else if now.is_ascii_control() {
            text[at] = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "G1\u{1b}[2J\u{9b}1m\u{7f}\u{e9}\r\n\t";

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(line(HOSTILE), "G1 [2J 1m \u{e9}   ");
        assert_eq!(lines(HOSTILE), "G1 [2J 1m \u{e9} \n ");
        let mut bytes = HOSTILE.as_bytes().to_vec();
        in_place(&mut bytes);
        assert_eq!(bytes, "G1 [2J  1m \u{e9}   ".as_bytes());
    }

    #[test]
    fn keys_and_texts_inside_are_cleaned() {
        let hostile = serde_json::json!({"a\u{7}": ["\u{1b}", {"b": "\n"}], "c": 1});
        assert_eq!(value(hostile), serde_json::json!({"a ": [" ", {"b": " "}], "c": 1}));
    }
}

//! Text in drawings: as markup, as wide as it will be, and where there is room for it.

use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Text that cannot become markup.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text at a place; `anchor`: which end of it stands there.
pub fn text(markup: &mut String, class: &str, x: impl Display, y: f64, anchor: &str, words: &str) {
    let words = escaped(words);
    let _ =
        write!(markup, r#"<text class="{class}" x="{x}" y="{y:.1}" text-anchor="{anchor}">{words}</text>"#);
}

/// A line from place to place.
pub fn line(markup: &mut String, class: &str, from: (&str, f64), to: (&str, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = write!(markup, r#"<line class="{class}" x1="{x1}" y1="{y1:.1}" x2="{x2}" y2="{y2:.1}"/>"#);
}

/// A share of the width.
pub fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// The width of a text in letters of 12 pixels: those of DejaVu Sans, which is wider than what most readers have.
pub fn width(text: &str) -> f64 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | '\'' | '|' | ' ' | '.' | ',' | ':' | ';' | '(' | ')' | '[' | ']' | 'f' | 't'
        | 'r' | '-' => 4.7,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 11.4,
        'A'..='Z' | '+' | '<' | '>' | '=' => 8.8,
        letter if letter > '\u{2000}' => 12.0,
        _ => 7.6,
    };
    text.chars().map(letter).sum()
}

/// A text in lines of so many pixels; words that are longer are broken.
pub fn lines(text: &str, pixels: f64) -> Vec<Cow<'_, str>> {
    textwrap::wrap(text, (pixels / 7.2) as usize)
}

/// Which of these labels, each with the share of the width at which it stands, have room where so many pixels are: the outermost first,
/// then what fits between.
pub fn with_room(labels: &[(f64, &str)], pixels: f64) -> Vec<bool> {
    let last = labels.len().saturating_sub(1);
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut shown = vec![false; labels.len()];
    for outer in [true, false] {
        for (index, (share, label)) in labels.iter().enumerate() {
            if (index == 0 || index == last) != outer {
                continue;
            }
            let half = width(label) / 2.0 + 5.0;
            let (from, to) = (share * pixels - half, share * pixels + half);
            if taken.iter().all(|(start, end)| to <= *start || from >= *end) {
                taken.push((from, to));
                shown[index] = true;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(escaped("</svg>&\"x\""), "&lt;/svg&gt;&amp;&quot;x&quot;");
    }

    #[test]
    fn crowded_labels_give_way_to_the_outermost() {
        let labels: Vec<(f64, &str)> = (0..=10).map(|n| (f64::from(n) / 10.0, "1000")).collect();
        let shown = with_room(&labels, 200.0);
        assert!(shown[0] && shown[10] && !shown[1], "{shown:?}");
        assert!((3..=5).contains(&shown.iter().filter(|shown| **shown).count()), "{shown:?}");
        assert!(with_room(&labels, 2000.0).into_iter().all(|shown| shown));
        assert!(with_room(&[], 100.0).is_empty());
    }
}

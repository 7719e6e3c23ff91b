use super::*;

fn point(series: usize, at: f64, median: f64, half: f64) -> Point {
    let value = Interval { median, low: median - half, high: median + half };
    Point { series, at, value, text: crate::numbers::interval(&value, "ns"), values: 7 }
}

/// Two lines over numbers and a word, one with a gap, and a published value.
fn small(kind: Kind) -> Figure {
    let tick = |at: f64, label: &str| Tick { at, label: label.into(), number: label != "growing" };
    Figure {
        kind,
        title: "Time & <place>".into(),
        unit: "ns".into(),
        x: Axis {
            name: "TLAB".into(),
            words: true,
            ticks: vec![tick(0.0, "1k"), tick(1.0, "4k"), tick(2.0, "64k"), tick(3.0, "growing")],
            ..Axis::default()
        },
        series: vec![
            Series::of("a"),
            Series::of("b <i>"),
            Series { published: true, like: Some(1), ..Series::of("c") },
        ],
        panels: vec![Panel {
            points: vec![
                point(0, 0.0, 20.0, 2.0),
                point(0, 1.0, 10.0, 0.0),
                point(0, 2.0, 12.0, 1.0),
                point(0, 3.0, 11.0, 1.0),
                point(1, 0.0, 5.0, 0.0),
                point(1, 2.0, 6.0, 0.0),
            ],
            gaps: vec![Gap { series: 1, at: 1.0, text: "unavailable: it crashed".into() }],
            references: vec![Mark { series: 2, at: Some(0.0), value: 30.0, text: "30 ns".into() }],
            ..Panel::default()
        }],
        ..Figure::default()
    }
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn a_line_ends_before_a_gap_and_before_a_word() {
    let drawing = small(Kind::Lines).drawing();
    assert_eq!(count(&drawing, "mark point\""), 6);
    assert_eq!(count(&drawing, "mark published\""), 1);
    // Only the first series has neighbours: three numbers in a row, and the word stands alone.
    let curve = drawing.split_once(r#"<path class="curve" d=""#).unwrap().1.split_once('"').unwrap().0;
    assert_eq!(
        (count(&drawing, r#"<path class="curve""#), count(curve, "M"), count(curve, "L")),
        (1, 1, 2),
        "{curve}"
    );
}

#[test]
fn every_kind_draws_every_point_and_says_what_is_missing() {
    for kind in [Kind::Bars, Kind::Heat] {
        let drawing = small(kind).drawing();
        assert_eq!(count(&drawing, " point\""), 6, "{kind:?}");
        assert!(drawing.contains("unavailable: it crashed</title>"));
    }
    assert_eq!(count(&small(Kind::Bars).drawing(), "row published"), 1);
    let mut nothing = small(Kind::Lines);
    nothing.panels =
        vec![Panel { gaps: vec![Gap { series: 0, at: 0.0, text: "no <b>".into() }], ..Panel::default() }];
    assert!(nothing.drawing().contains(r#"<p class="empty unavailable">no &lt;b&gt;</p>"#));
}

#[test]
fn words_are_never_markup_and_places_are_numbers() {
    for kind in [Kind::Lines, Kind::Bars, Kind::Heat] {
        let mut figure = small(kind);
        for log in [false, true] {
            figure.log = log;
            let drawing = figure.drawing();
            assert!(drawing.contains("Time &amp; &lt;place&gt;") && !drawing.contains("<i>"), "{drawing}");
            assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
        }
    }
    let lonely = Figure {
        panels: vec![Panel { points: vec![point(0, 0.0, 0.0, 0.0)], ..Panel::default() }],
        ..small(Kind::Heat)
    };
    for kind in [Kind::Lines, Kind::Bars, Kind::Heat] {
        assert!(!Figure { kind, ..lonely.clone() }.drawing().contains("NaN"), "{kind:?}");
    }
}

/// All that stands as text and where: `(y, share of the width, words)`.
fn texts(drawing: &str) -> Vec<(f64, Option<f64>, String)> {
    let number = |part: &str, key: &str| Some(part.split_once(key)?.1.split('"').next()?.to_owned());
    let parts = drawing.split("<text ").skip(1);
    let text = |part: &str| {
        let x = number(part, r#" x=""#)?;
        let y = number(part, r#" y=""#)?.parse().ok()?;
        let words = part.split_once('>')?.1.split_once("</text>")?.0.to_owned();
        Some((y, x.strip_suffix('%').and_then(|x| x.parse().ok()), words))
    };
    parts.filter_map(text).collect()
}

#[test]
fn no_text_stands_outside() {
    for kind in [Kind::Lines, Kind::Bars, Kind::Heat] {
        let drawing = small(kind).drawing();
        let heights = drawing
            .split(r#" height=""#)
            .skip(1)
            .filter_map(|part| part.split('"').next()?.parse::<f64>().ok());
        let height = heights.fold(0.0, f64::max);
        let texts = texts(&drawing);
        assert!(texts.len() >= 8, "{texts:?}");
        for (y, share, words) in texts {
            assert!((8.0..=height - 2.0).contains(&y), "{kind:?} {words}: {y} of {height}");
            assert!(share.is_none_or(|share| (0.0..=100.0).contains(&share)), "{words}");
        }
    }
}

#[test]
fn the_same_figure_is_the_same_drawing() {
    let figure = Figure {
        title: "Golden".into(),
        unit: "ns".into(),
        log: true,
        base: Some(10.0),
        x: Axis {
            name: "threads".into(),
            log: true,
            ticks: [1.0, 2.0].map(|at| Tick { at, label: at.to_string(), number: true }).into(),
            ..Axis::default()
        },
        series: vec![Series::of("one")],
        panels: vec![Panel {
            points: vec![point(0, 1.0, 5.0, 1.0), point(0, 2.0, 50.0, 0.0)],
            ..Panel::default()
        }],
        ..Figure::default()
    };
    let golden = include_str!("golden.svg.html");
    let drawing = figure.drawing().replace("><", ">\n<") + "\n";
    assert_eq!(drawing, golden, "if it looks right, this is the new golden.svg.html:\n{drawing}");
}

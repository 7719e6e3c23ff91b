//! The page as a browser shows it: what is drawn is what was measured, and it can be read on a desk and on a telephone.

mod chromium;

use chromium::Browser;
use experiment::Quantity;
use experiment::results::{Findings, Results};
use std::path::Path;

const MISSING: &str = "no chromium on PATH that starts (apt-get install chromium, or set TERRACE_CHROMIUM)";

/// How many cells a plot has, said again in other words than the page's.
fn known_cells(findings: &Findings, plot: usize) -> usize {
    let plot = &findings.declaration.plots[plot];
    let of_plot = findings.cells.iter().filter(|cell| {
        plot.only.iter().all(|(key, value)| cell.parameters.get(key) == Some(value))
            && cell.parameters.contains_key(&plot.x)
    });
    of_plot.filter(|cell| matches!(cell.metrics.get(&plot.metric), Some(Quantity::Known { .. }))).count()
}

fn every_plot_has_its_points(browser: &mut Browser, results: &Results) {
    for findings in &results.experiments {
        let name = &findings.declaration.name;
        for index in 0..findings.declaration.plots.len() {
            let figure =
                format!(r#"document.querySelector('figure[data-experiment="{name}"][data-plot="{index}"]')"#);
            let drawn = browser.ask(&format!("{figure}.querySelectorAll('.point').length"));
            assert_eq!(drawn, known_cells(findings, index), "points of {name} {index}");
            let size = browser.ask(&format!("{figure}.querySelector('.canvas').clientHeight"));
            assert!(size.as_u64().unwrap() > 40, "{name} {index} is empty");
        }
    }
    let published =
        "document.querySelectorAll('figure[data-experiment=atomics][data-plot=\"0\"] .published').length";
    assert_eq!(browser.ask(published), 6, "published values beside the measured ones");
    let canaries: usize = results.canaries.iter().map(|canary| canary.values.len()).sum();
    assert_eq!(browser.ask("document.querySelectorAll('#canaries .point').length"), canaries);
}

/// What is simulated is drawn: a measured and a simulated point for each cell.
fn every_simulated_cell_is_drawn(browser: &mut Browser, results: &Results) {
    let all = r#"[...document.querySelectorAll('figure[data-experiment="simulated"]')]"#;
    let points =
        browser.ask(&format!("{all}.flatMap(figure => [...figure.querySelectorAll('.point')]).length"));
    assert_eq!(points, 2 * results.simulated.len());
    let empty = browser
        .ask(&format!("{all}.filter(figure => figure.querySelector('.canvas').clientHeight <= 40).length"));
    assert_eq!(empty, 0);
}

fn it_can_be_read(browser: &mut Browser, what: &str) {
    let overflow = browser.ask("document.documentElement.scrollWidth - innerWidth");
    assert!(overflow.as_i64().unwrap() <= 0, "{what}: {overflow} px too wide");
    let small = browser.ask(
        "[...document.querySelectorAll('body *')].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())
            && !e.closest('script, noscript') && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.outerHTML.slice(0, 80))",
    );
    assert_eq!(small, serde_json::json!([]), "{what}: too small to read");
    let boxes = "const box = e => e.getBoundingClientRect(), name = e => e.outerHTML.slice(0, 120);
        const drawings = [...document.querySelectorAll('.drawing')];";
    let ask = |browser: &mut Browser, expression: &str| {
        browser.ask(&format!("(() => {{ {boxes} return {expression}; }})()"))
    };
    // Marks and bars have an extent, and lie in their drawing; so do all texts.
    let outside = ask(
        browser,
        "drawings.flatMap(d => [...d.querySelectorAll('.point, text')].filter(e => {
            const [a, b] = [box(d.matches('.heat') ? e.closest('svg') : d), box(e)];
            return b.width > 0 && (b.left < a.left - 8 || b.right > a.right + 8 || b.top < a.top - 2 || b.bottom > a.bottom + 2);
        }).map(name))",
    );
    assert_eq!(outside, serde_json::json!([]), "{what}: outside of the drawing");
    let flat = ask(
        browser,
        "drawings.flatMap(d => [...d.querySelectorAll('.mark, .cell rect')].filter(e => box(e).width < 3).map(name))",
    );
    assert_eq!(flat, serde_json::json!([]), "{what}: without an extent");
    let over = ask(
        browser,
        "drawings.flatMap(d => {
            const texts = [...d.querySelectorAll('text')].map(e => [e, box(e)]).filter(([, b]) => b.width > 0);
            return texts.filter(([e, a], i) => texts.slice(i + 1).some(([, b]) =>
                a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 5 && b.top < a.bottom - 5)).map(([e]) => name(e));
        })",
    );
    assert_eq!(over, serde_json::json!([]), "{what}: texts over each other");
}

/// Pointer, keyboard, legend and theme do what they say.
fn it_answers(browser: &mut Browser) {
    let legend = "document.querySelector('figure[data-experiment=atomics] .legend button')";
    browser.ask(&format!("{legend}.click()"));
    assert_eq!(browser.ask(&format!("{legend}.getAttribute('aria-pressed')")), "false");
    browser.ask(&format!("{legend}.click()"));
    let paper = "getComputedStyle(document.body).backgroundColor";
    let before = browser.ask(paper);
    browser.ask("document.getElementById('theme').click()");
    assert_ne!(browser.ask(paper), before, "the toggle changes the theme");
    browser.ask("document.getElementById('theme').click()");
    assert_eq!(browser.ask(paper), before);

    let panel = "document.querySelector('figure[data-experiment=atomics][data-plot=\"0\"] .lines')";
    browser.ask(&format!("{panel}.scrollIntoView({{block: 'center', behavior: 'instant'}}); {panel}.focus({{preventScroll: true}})"));
    let tip = "document.getElementById('tip')";
    let read = format!("{tip}.hidden ? 'hidden' : {tip}.innerText");
    for _ in 0..2 {
        browser.ask(&format!(
            "{panel}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowRight', bubbles: true}}))"
        ));
        browser.settle();
    }
    let text = browser.ask(&read);
    let text = text.as_str().unwrap();
    assert!(text.starts_with("threads 2") && text.contains("147 ns") && text.contains("lock xadd"), "{text}");
    let mouse = |browser: &mut Browser, kind: &str, share: f64, count: u32| {
        let at = browser.ask(&format!(
            "(r => ({{x: r.x + r.width * {share}, y: r.y + r.height * 0.6}}))({panel}.querySelector('.window').getBoundingClientRect())"
        ));
        browser.call(
            "Input.dispatchMouseEvent",
            serde_json::json!({"type": kind, "x": at["x"], "y": at["y"], "button": "left", "clickCount": count}),
        );
        browser.settle();
    };
    mouse(browser, "mouseMoved", 0.72, 0);
    let text = browser.ask(&read);
    assert!(text.as_str().unwrap().starts_with("threads 8"), "{text}");
    // Dragging shows a part, a double click all of it.
    let width = format!("{panel}.querySelector('.area .back').getBoundingClientRect().width");
    let before = browser.ask(&width).as_f64().unwrap();
    mouse(browser, "mousePressed", 0.1, 1);
    mouse(browser, "mouseMoved", 0.5, 1);
    mouse(browser, "mouseReleased", 0.5, 1);
    let zoomed = browser.ask(&width).as_f64().unwrap();
    assert!((2.0..3.0).contains(&(zoomed / before)), "{zoomed} of {before}");
    for count in [1, 2] {
        mouse(browser, "mousePressed", 0.3, count);
        mouse(browser, "mouseReleased", 0.3, count);
    }
    assert!((browser.ask(&width).as_f64().unwrap() - before).abs() < 1.0);
    mouse(browser, "mouseMoved", 0.72, 0);
}

/// Looks at a page on a desk and on a telephone, in light and dark; it may complain of nothing and ask the network for nothing.
fn every_look(name: &str, results: &Results, mut look: impl FnMut(&mut Browser, &str, &Path)) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    terrace_lab_report::write(results, &folder).unwrap();
    std::fs::write(folder.join("tables.txt"), terrace_lab_report::text::run(results, 100)).unwrap();
    let Some(program) = chromium::found() else {
        skips::skip!("{MISSING}");
        return;
    };
    let Some(mut browser) = Browser::start(&program) else {
        skips::skip!("{} does not start here: run it by hand to see why", program.display());
        return;
    };
    for (width, height) in [(1280, 900), (390, 844)] {
        for scheme in ["light", "dark"] {
            let what = format!("{width}-{scheme}");
            browser.look(width, height, scheme);
            browser.open(&format!("file://{}", folder.join("index.html").display()));
            it_can_be_read(&mut browser, &what);
            let picture = browser.screenshot(true);
            assert!(picture.starts_with(b"\x89PNG") && picture.len() > 50_000, "{what}");
            std::fs::write(folder.join(format!("{what}.png")), picture).unwrap();
            look(&mut browser, &what, &folder);
        }
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let mut elsewhere = browser.requests();
    elsewhere.retain(|url| !url.starts_with("file:"));
    assert_eq!(elsewhere, Vec::<String>::new(), "the page needs the network");
}

#[test]
fn the_page_shows_what_was_measured_at_every_width_and_in_light_and_dark() {
    let results = lab::fixture::results();
    every_look("report", &results, |browser, what, folder| {
        every_plot_has_its_points(browser, &results);
        it_answers(browser);
        std::fs::write(folder.join(format!("{what}-hover.png")), browser.screenshot(false)).unwrap();
        it_can_be_read(browser, what);
        every_plot_has_its_points(browser, &results);
        let text = std::fs::read_to_string(folder.join("results.json")).unwrap();
        assert_eq!(serde_json::from_str::<Results>(&text).unwrap(), results);
    });
}

#[test]
fn simulated_values_can_be_read_beside_measured_ones() {
    let results = lab::fixture::simulable();
    every_look("simulated-report", &results, |browser, _, folder| {
        assert!(folder.join("simulated.csv").exists());
        every_simulated_cell_is_drawn(browser, &results);
    });
}

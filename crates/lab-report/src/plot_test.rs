use super::*;
use lab::fixture;

fn layout(findings: &Findings, index: usize) -> Layout {
    Layout::new(findings, &findings.declaration.plots[index])
}

fn figure(findings: &Findings, index: usize) -> Figure {
    layout(findings, index).figure
}

#[test]
fn every_known_cell_is_a_point_of_its_series_and_panel() {
    let found = fixture::atomics();
    let figure = figure(&found, 0);
    assert_eq!(figure.points(), 6 * 3 * 5);
    assert_eq!(
        figure.panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(),
        ["shared line", "padded lines", "falsely shared line"]
    );
    assert_eq!(figure.series[0], Series { label: "lock add".into(), published: false, like: None });
    assert!(figure.x.log && !figure.x.words && figure.x.ticks.len() == 5);
    for panel in &figure.panels {
        for point in &panel.points {
            let mut cells = found.cells.iter().filter(|cell| {
                cell.parameters["operation"].to_string() == figure.series[point.series].label
                    && cell.parameters["layout"].to_string() == panel.title
                    && cell.parameters["threads"].number() == Some(point.at)
            });
            assert_eq!(cells.next().unwrap().metrics["ns"].interval(), Some(point.value));
        }
    }
}

#[test]
fn published_values_are_series_of_their_own_in_their_panel() {
    let figure = figure(&fixture::atomics(), 0);
    let published: Vec<&Series> = figure.series.iter().filter(|series| series.published).collect();
    assert_eq!(published.len(), 2);
    assert!(
        published[0].label.starts_with("published: Thompson, Nehalem 2.8 GHz: lock "),
        "{}",
        published[0].label
    );
    assert_eq!(published[0].like, Some(2));
    assert_eq!(figure.panels.iter().map(|panel| panel.references.len()).collect::<Vec<_>>(), [6, 0, 0]);
}

#[test]
fn what_is_not_to_be_had_is_missing_with_its_reason() {
    let Layout { figure, missing, .. } = layout(&fixture::atomics(), 2);
    assert_eq!((figure.points(), missing.len()), (0, 1));
    let (reason, cells) = missing.first_key_value().unwrap();
    assert!(reason.starts_with("unavailable: the hypervisor shows no performance counters"), "{reason}");
    assert_eq!(cells.len(), 6 * 3 * 5);
}

#[test]
fn a_zero_makes_a_logarithmic_scale_linear_and_says_so() {
    let Layout { figure, notes, .. } = layout(&fixture::atomics(), 1);
    assert!(!figure.log);
    assert_eq!(notes, ["The scale of values is linear because some are 0."]);
}

#[test]
fn sizes_with_a_word_among_them_are_places_in_the_order_met() {
    let figure = figure(&fixture::hab(), 1);
    assert!(figure.x.words);
    let labels: Vec<&str> = figure.x.ticks.iter().map(|tick| tick.label.as_str()).collect();
    assert_eq!(labels, ["1k", "4k", "16k", "64k", "128k", "512k", "growing"]);
    assert!(!figure.x.ticks[6].number);
    assert_eq!(figure.panels[0].references[0].at, Some(6.0));
    assert_eq!(figure.series[0].label, "buffers none");
}

#[test]
fn what_a_plot_does_not_mention_tells_series_apart() {
    let mut found = fixture::tlab();
    found.declaration.plots[0].panels.clear();
    let figure = figure(&found, 0);
    assert_eq!(figure.series.iter().filter(|series| !series.published).count(), 4 * 3);
    let mut places: Vec<(usize, u64)> =
        figure.panels[0].points.iter().map(|point| (point.series, point.at as u64)).collect();
    let all = places.len();
    places.dedup();
    assert_eq!(places.len(), all);
}

#[test]
fn a_value_published_without_a_place_holds_everywhere() {
    let figure = figure(&fixture::zeroing(), 0);
    let mark = &figure.panels[0].references[0];
    assert_eq!(mark.at, Some(100_000.0));
    assert_eq!(figure.series[mark.series].like, None);
    let bars = layout(&fixture::tlab(), 0).figure;
    assert!(bars.panels.iter().all(|panel| panel.references.len() == 3 && panel.references.iter().any(|mark| mark.at.is_none())));
}

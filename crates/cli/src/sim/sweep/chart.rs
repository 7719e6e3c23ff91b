//! A small plot of speed-ups by threads, as SVG.

use crate::sim::page::escaped;
use std::fmt::Write;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 230.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// A line: its name, its colour's number, and its points with their hover texts.
pub struct Series {
    pub name: String,
    pub colour: usize,
    /// Threads and speed-up.
    pub points: Vec<(u32, f64)>,
}

/// A round step that divides `most` into about five.
fn step(most: f64) -> f64 {
    let rough = (most / 5.0).max(1e-9);
    let power = 10_f64.powf(rough.log10().floor());
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|round| round * power >= rough);
    round.unwrap_or(10.0) * power
}

/// From here on a linear axis would show nothing of what is near 1.
const LOGARITHMIC: f64 = 8.0;

/// Where speed-ups stand between the bottom, 0, and the top, 1.
struct Scale {
    ticks: Vec<f64>,
    least: f64,
    most: f64,
    logarithmic: bool,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Scale {
        let most = values.clone().fold(1.2, f64::max);
        if most < LOGARITHMIC {
            let step = step(most);
            let count = (most / step).ceil() as u32;
            let ticks: Vec<f64> = (0..=count).map(|number| f64::from(number) * step).collect();
            return Scale { least: 0.0, most: f64::from(count) * step, ticks, logarithmic: false };
        }
        let lowest = values.fold(1.0, f64::min).max(0.01).log2().floor() as i32;
        let highest = most.log2().ceil() as i32;
        let every = ((highest - lowest) / 7 + 1) as usize;
        let ticks = (lowest..=highest).step_by(every).map(|power| 2_f64.powi(power)).collect();
        Scale { ticks, least: 2_f64.powi(lowest), most: 2_f64.powi(highest), logarithmic: true }
    }

    fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value.max(self.least) / self.least).log2() / (self.most / self.least).log2()
        } else {
            value / self.most
        }
    }
}

/// The plot: threads on a logarithmic axis, speed-ups from 0 on, or on a logarithmic axis where they are large.
pub fn svg(series: &[Series]) -> String {
    let all = || series.iter().flat_map(|line| &line.points);
    let scale = Scale::of(all().map(|(_, value)| *value));
    let least_threads = f64::from(all().map(|(threads, _)| *threads).min().unwrap_or(1)).log2();
    let most_threads = f64::from(all().map(|(threads, _)| *threads).max().unwrap_or(1)).log2();
    let span = (most_threads - least_threads).max(0.1);
    let x = |threads: u32| {
        LEFT + 8.0 + (f64::from(threads).log2() - least_threads) / span * (WIDTH - LEFT - RIGHT - 16.0)
    };
    let y = |value: f64| TOP + (1.0 - scale.place(value)) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(r#"<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">"#);
    let right = WIDTH - RIGHT;
    for value in scale.ticks.iter().copied() {
        let place = y(value);
        let _ = write!(
            svg,
            r#"<line class="rule" x1="{LEFT}" x2="{right}" y1="{place:.1}" y2="{place:.1}"/><text x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
            LEFT - 6.0,
            place + 4.0,
            (value * 100.0).round() / 100.0
        );
    }
    let one = y(1.0);
    let _ = write!(svg, r#"<line class="base" x1="{LEFT}" x2="{right}" y1="{one:.1}" y2="{one:.1}"/>"#);
    let mut places: Vec<u32> = all().map(|(threads, _)| *threads).collect();
    places.sort_unstable();
    places.dedup();
    let mut free = 0.0;
    for threads in places {
        let place = x(threads);
        if place < free {
            continue;
        }
        free = place + 26.0;
        let _ = write!(
            svg,
            r#"<text x="{place:.1}" y="{:.1}" text-anchor="middle">{threads}</text>"#,
            HEIGHT - 22.0
        );
    }
    let middle = f64::midpoint(LEFT, right);
    let _ = write!(svg, r#"<text x="{middle}" y="{}" text-anchor="middle">threads</text>"#, HEIGHT - 4.0);
    for line in series {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|(threads, value)| format!("{:.1},{:.1}", x(*threads), y(*value)))
            .collect();
        let colour = line.colour;
        let _ = write!(svg, r#"<polyline class="line s{colour}" points="{}"/>"#, path.join(" "));
        for (threads, value) in &line.points {
            let _ = write!(
                svg,
                r#"<circle class="dot s{colour}" cx="{:.1}" cy="{:.1}" r="4.5"><title>{}, {threads} threads: {value:.2}</title></circle>"#,
                x(*threads),
                y(*value),
                escaped(&line.name)
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (most, round) in [(1.2, 0.25), (5.0, 1.0), (37.0, 10.0), (0.9, 0.2)] {
            assert!((step(most) - round).abs() < 1e-9, "{most}: {}", step(most));
        }
    }

    #[test]
    fn large_speed_ups_have_a_logarithmic_axis() {
        let scale = Scale::of([0.9, 100.0].into_iter());
        assert_eq!((scale.least, scale.most), (0.5, 128.0));
        assert!((scale.place(8.0) - 0.5).abs() < 1e-9 && scale.ticks.len() <= 8);
        let scale = Scale::of([0.9, 1.1].into_iter());
        assert_eq!((scale.least, scale.place(0.0), scale.logarithmic), (0.0, 0.0, false));
    }

    #[test]
    fn a_single_point_is_drawn_inside() {
        let svg = svg(&[Series { name: "<core>".into(), colour: 1, points: vec![(4, 2.0)] }]);
        assert!(svg.contains("&lt;core&gt;, 4 threads: 2.00") && !svg.contains("NaN"), "{svg}");
    }
}

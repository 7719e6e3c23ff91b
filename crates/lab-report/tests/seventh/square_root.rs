//! An experiment as docs/architecture.md adds one: everything that it is stands here.

use experiment::{
    Bench, Better, Cell, Claim, Declaration, Experiment, Kind, Measured, Metric, Parameter, Plan, Plot,
    Reference, Relation, Result, Runner, Sample, Term, parameters,
};
use std::hint::black_box;
use std::time::{Duration, Instant};

pub const NAME: &str = "square_root";
const WIDTHS: [u32; 2] = [32, 64];

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    Declaration {
        name: NAME.into(),
        title: "Square roots".into(),
        question: "What does a square root cost?".into(),
        parameters: vec![Parameter::new("width", "width", "bits")],
        metrics: vec![Metric::new("ns", "time", "ns", Better::Lower, "time of a loop over its square roots")],
        plots: vec![Plot::new(Kind::Bars, "A square root", "ns", "width", &[])],
        references: vec![Reference::new("an example", "ns", [("width", 64_u32.into())], 5.0)],
        ..Declaration::default()
    }
}

fn plan(_: &Bench) -> Result<Plan> {
    let cell = |width: u32| Cell {
        parameters: parameters([("width", width.into())]),
        seconds: 0.01,
        runner: Runner::native(move || Ok(Sample::default().value("ns", nanoseconds(width)))),
    };
    Ok(Plan { cells: WIDTHS.map(cell).into(), rounds: 3, ..Plan::default() })
}

fn nanoseconds(width: u32) -> f64 {
    const LENGTH: Duration = Duration::from_millis(2);
    let (mut roots, begin) = (0_u32, Instant::now());
    while begin.elapsed() < LENGTH {
        for number in 1..=1000_u16 {
            match width {
                32 => drop(black_box(f32::from(black_box(number)).sqrt())),
                _ => drop(black_box(f64::from(black_box(number)).sqrt())),
            }
        }
        roots += 1000;
    }
    begin.elapsed().as_secs_f64() * 1e9 / f64::from(roots)
}

fn claims(_: &Measured) -> Vec<Claim> {
    let of = |width: u32| Term::metric(format!("{width} bits"), "ns").at("width", width);
    let claim = Claim::new("a square root takes less than a microsecond", "an example");
    vec![claim.that(of(64).is(Relation::Below, 1000.0))]
}

fn answer(measured: &Measured) -> String {
    let of = |width: u32| measured.median("ns", &[("width", width.into())]);
    match of(32).zip(of(64)) {
        Some((single, double)) => format!("{single:.2} ns in single precision, {double:.2} ns in double."),
        None => "It was not measured.".into(),
    }
}

//! Ranges of values and the ticks on them.

/// What is left free beside the outermost values, as a share.
const PAD: f64 = 0.06;

/// A range of values, linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    pub log: bool,
}

impl Scale {
    /// A range that holds these values. Linear ones begin at 0 unless all values lie far above it.
    pub fn over((low, high): (f64, f64), log: bool, from_zero: bool) -> Scale {
        if log {
            let wide = ((high.log10() - low.log10()) * PAD).max(PAD);
            return Scale { low: low / 10_f64.powf(wide), high: high * 10_f64.powf(wide), log };
        }
        let low = if from_zero || low < 0.6 * high { low.min(0.0) } else { low };
        let pad = PAD * [high - low, high.abs(), 1.0].into_iter().find(|span| *span > 0.0).unwrap_or(1.0);
        Scale { low: if low == 0.0 { 0.0 } else { low - pad }, high: high + pad, log }
    }

    /// Where a value lies, from 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let to = |number: f64| if self.log { number.max(self.low).ln() } else { number };
        let share = (to(value) - to(self.low)) / (to(self.high) - to(self.low));
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The value at a share.
    pub fn at(&self, share: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        }
    }

    /// Round numbers, about `most` at most.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        if self.log { self.logarithmic(most) } else { linear(self.low, self.high, most) }
    }

    /// As many between the powers of ten, or as few powers, as there is room for.
    fn logarithmic(&self, most: usize) -> Vec<f64> {
        const CHOICES: [(&[f64], i32); 8] = [
            (&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], 1),
            (&[1.0, 2.0, 5.0], 1),
            (&[1.0, 3.0], 1),
            (&[1.0], 1),
            (&[1.0], 2),
            (&[1.0], 3),
            (&[1.0], 4),
            (&[1.0], 6),
        ];
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let ticks = |(factors, every): &(&[f64], i32)| -> Vec<f64> {
            let powers = powers.clone().filter(|power| power % every == 0);
            // Through text: powers of ten as a reader would write them.
            let number = |power, factor| format!("{factor}e{power}").parse().unwrap_or(factor);
            let all = powers.flat_map(|power| factors.iter().map(move |factor| number(power, *factor)));
            all.filter(|value| (self.low..=self.high).contains(value)).collect()
        };
        let choices: Vec<Vec<f64>> = CHOICES.iter().map(ticks).filter(|ticks| ticks.len() >= 2).collect();
        let fitting = choices.iter().find(|ticks| ticks.len() <= most + 2);
        match fitting.or_else(|| choices.last().filter(|_| self.high / self.low >= 10.0)) {
            Some(ticks) => ticks.clone(),
            None => linear(self.low, self.high, most),
        }
    }
}

/// Round numbers on a linear scale: a step of 1, 2 or 5 in its power of ten.
pub fn linear(low: f64, high: f64, most: usize) -> Vec<f64> {
    let rough = (high - low) / most.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * 0.999).unwrap_or(10.0) * power;
    let first = (low / step - 1e-9).ceil();
    let tick = |n: usize| (first + n as f64) * step;
    // Sums of tenths are not tenths: rounded where a reader would.
    let rounded = |tick: f64| format!("{tick:.11e}").parse().unwrap_or(tick);
    (0..).map(tick).take_while(|tick| *tick <= high + step * 1e-9).map(rounded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(linear(0.0, 1.27, 5), [0.0, 0.5, 1.0]);
        assert_eq!(linear(0.0, 0.31, 4), [0.0, 0.1, 0.2, 0.3]);
        assert_eq!(linear(-0.3, 0.3, 6), [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]);
        assert_eq!(linear(97.0, 104.0, 4), [98.0, 100.0, 102.0, 104.0]);
        assert_eq!(linear(3.0, 3.0, 4), [3.0]);
    }

    #[test]
    fn logarithmic_ticks_are_as_many_as_there_is_room_for() {
        let ticks = |low, high, most| Scale { low, high, log: true }.ticks(most);
        assert_eq!(ticks(4.0, 350.0, 6), [5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(ticks(0.9, 1.1e8, 5), [1.0, 100.0, 1e4, 1e6, 1e8]);
        assert_eq!(ticks(0.9, 1.3e3, 4), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(ticks(31.0, 38.0, 4), [32.0, 34.0, 36.0, 38.0], "within a power of ten");
        assert!(ticks(1e-9, 1e-7, 4).contains(&1e-8));
    }

    #[test]
    fn ranges_hold_their_values_and_begin_at_zero_unless_that_is_far() {
        let scale = Scale::over((2.0, 10.0), false, false);
        assert_eq!((scale.low, scale.share(0.0)), (0.0, 0.0));
        assert!(Scale::over((9.0, 10.0), false, false).low > 8.0);
        assert_eq!(Scale::over((9.0, 10.0), false, true).low, 0.0);
        assert!(Scale::over((0.0, 0.0), false, false).high > 0.0);
        let log = Scale::over((1.0, 100.0), true, false);
        assert!((log.share(10.0) - 0.5).abs() < 1e-12 && log.share(-1.0) == 0.0);
        assert!((log.at(log.share(7.0)) - 7.0).abs() < 1e-9);
        assert_eq!(Scale { low: 1.0, high: 1.0, log: false }.share(1.0), 0.0);
    }
}

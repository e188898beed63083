//! How long transactions took: percentiles in little room.
//!
//! A storm may have a hundred million transactions, so times are counted, not kept. Buckets are as wide as a 64th of
//! the time that they stand for, so that a percentile is wrong by less than two percent:
//!
//! ```text
//!   0 1 2 … 63 | 64 65 … 127 | 128 130 … 254 | 256 260 … 508 | …   microseconds
//!    width 1        width 1         width 2         width 4
//! ```

use std::time::Duration;

/// The number of buckets for each power of two, as a power of two.
const PRECISION: u32 = 6;
const PER_POWER: usize = 1 << PRECISION;

/// Counts of times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latency {
    counts: Vec<u64>,
    total: u64,
    max: Duration,
}

impl Latency {
    /// Counts one.
    pub fn add(&mut self, time: Duration) {
        let bucket = bucket(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.max = self.max.max(time);
    }

    /// Counts all that somebody else has counted.
    pub fn merge(&mut self, other: &Latency) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.max = self.max.max(other.max);
    }

    /// The time that so many percent did not exceed; `None` if there are none.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        let rank = (self.total as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut passed = 0;
        let found = self.counts.iter().position(|count| {
            passed += count;
            passed >= rank
        })?;
        Some(Duration::from_micros(upper(found)).min(self.max))
    }

    /// The longest.
    pub fn max(&self) -> Option<Duration> {
        (self.total > 0).then_some(self.max)
    }
}

fn bucket(micros: u64) -> usize {
    let shift = (u64::BITS - micros.leading_zeros()).saturating_sub(PRECISION + 1);
    shift as usize * PER_POWER + (micros >> shift) as usize
}

/// The largest time in a bucket.
fn upper(bucket: usize) -> u64 {
    let shift = (bucket / PER_POWER).saturating_sub(1) as u32;
    let low = bucket - shift as usize * PER_POWER;
    ((low as u64 + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_a_bucket_that_is_narrow() {
        let mut last = None;
        for micros in (0..20).flat_map(|power| (0..97).map(move |part| (1u64 << power) + part * (1 << power) / 97)) {
            let upper = upper(bucket(micros));
            assert!(upper >= micros && (upper - micros) * 64 <= micros, "{micros} → {upper}");
            last = last.max(Some(bucket(micros)));
        }
        assert!(last.is_some_and(|last| last < 1_500), "{last:?}");
    }

    #[test]
    fn percentiles_are_told() {
        let mut half = Latency::default();
        let mut other = Latency::default();
        (1..=50).for_each(|ms| half.add(Duration::from_millis(ms)));
        (51..=100).for_each(|ms| other.add(Duration::from_millis(ms)));
        half.merge(&other);
        let ms = |percent| half.percentile(percent).unwrap().as_secs_f64() * 1_000.0;
        for percent in [50.0, 95.0, 99.0] {
            assert!((ms(percent) / percent - 1.0).abs() < 0.02, "{percent}: {}", ms(percent));
        }
        assert_eq!(half.percentile(100.0), half.max());
        assert_eq!((Latency::default().percentile(50.0), Latency::default().max()), (None, None));
    }
}

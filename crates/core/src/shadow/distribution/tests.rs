use super::*;
use proptest::prelude::*;

fn ranks(distribution: Distribution, count: u64) -> Ranks {
    Ranks::new(&distribution, count).unwrap()
}

const BELL_SHAPE: Distribution = Distribution::Normal { mean: 0.5, deviation: 0.2 };

fn shares(ranks: &Ranks, draws: u64) -> Vec<f64> {
    let mut counts = vec![0u64; ranks.count() as usize];
    // Equidistant draws, a power of two of them: the share of a rank is the length of its interval.
    (0..draws).for_each(|at| counts[ranks.rank(at * (u64::MAX / draws + 1)) as usize] += 1);
    counts.iter().map(|count| *count as f64 / draws as f64).collect()
}

#[test]
fn uniform_and_weighted_are_exact() {
    assert_eq!(shares(&ranks(Distribution::Uniform, 4), 1 << 12), [0.25; 4]);
    assert_eq!(shares(&ranks(Distribution::Weighted(vec![1, 0, 3]), 3), 1 << 12), [0.25, 0.0, 0.75]);
    let halves = ranks(Distribution::Weighted(vec![4, 1]), 10);
    let expect = [0.16, 0.16, 0.16, 0.16, 0.16, 0.04, 0.04, 0.04, 0.04, 0.04];
    let found: Vec<f64> = (0..10).map(|rank| halves.probability(rank)).collect();
    assert!(found.iter().zip(expect).all(|(found, expect)| (found - expect).abs() < 1e-12), "{found:?}");
    // Five numbers in two stretches: two and three.
    let uneven = ranks(Distribution::Weighted(vec![1, 1]), 5);
    assert!((uneven.probability(1) - 0.25).abs() < 1e-12 && (uneven.probability(2) - 1.0 / 6.0).abs() < 1e-12);
}

#[test]
fn zipf_ranks_have_their_weights() {
    for s in [0.0, 0.4, 0.99, 1.0, 1.5, 3.0] {
        let count = 200_000u64;
        let zipf = ranks(Distribution::Zipf(s), count);
        let total: f64 = (1..=count).map(|n| (n as f64).powf(-s)).sum();
        let mut sum = 0.0;
        for rank in 0..count {
            let exact = ((rank + 1) as f64).powf(-s) / total;
            let off = (zipf.probability(rank) / exact - 1.0).abs();
            let bound = if rank < SINGLE { 1e-6 } else { s / 240.0 + 1e-6 };
            assert!(off <= bound, "s {s}, rank {rank}: off by {off}");
            assert!((zipf.cumulative(rank) - sum).abs() < 1e-5 * s + 1e-9, "s {s}, rank {rank}");
            sum += exact;
        }
    }
}

#[test]
fn huge_ranges_take_no_memory() {
    for distribution in [Distribution::Zipf(0.4), Distribution::Zipf(1.0), BELL_SHAPE] {
        let huge = ranks(distribution, 1 << 63);
        assert!(huge.firsts.len() < 6_000, "{}", huge.firsts.len());
        assert_eq!(huge.rank(0), 0);
        assert!(huge.rank(u64::MAX) > (1 << 63) / 100 * 99);
    }
}

#[test]
fn the_bell_is_one() {
    let areas = [(1.0, 0.341344746068543), (1.959963984540054, 0.475), (-3.0, -0.498650101968370), (40.0, 0.5)];
    for (z, expect) in areas {
        assert!((bell(z) - expect).abs() < 1e-14, "{z}: {}", bell(z));
    }
    let count = 100_000;
    let normal = ranks(BELL_SHAPE, count);
    let within = bell(2.5) - bell(-2.5);
    for rank in (0..count).step_by(37) {
        let z = (rank as f64 / count as f64 - 0.5) / 0.2;
        let exact = (bell(z) - bell(-2.5)) / within;
        assert!((normal.cumulative(rank) - exact).abs() < 2e-6, "{rank}");
    }
    assert!((normal.probability(10) / normal.probability(count - 11) - 1.0).abs() < 0.02);
}

#[test]
fn all_ranks_can_be_drawn() {
    for distribution in [Distribution::Uniform, Distribution::Zipf(16.0), BELL_SHAPE] {
        let all = ranks(distribution, 300);
        assert!((0..300).all(|rank| all.start(rank) < all.start(rank + 1)));
    }
}

#[test]
fn nonsense_is_refused() {
    let check = |distribution: Distribution, count, expect: &str| {
        assert_eq!(Ranks::new(&distribution, count).unwrap_err().to_string(), expect);
    };
    check(Distribution::Uniform, 0, "a distribution over nothing; there must be at least one number");
    check(Distribution::Zipf(f64::NAN), 5, "the exponent of Zipf is NaN; it must be 0 to 16");
    check(Distribution::Weighted(vec![1, 2]), 1, "2 weights for 1 numbers; give one weight per number, or fewer");
    check(Distribution::Weighted(vec![0]), 1, "the weights add up to 0; their sum must lie between 1 and 2^62");
    let flat = Distribution::Normal { mean: 0.5, deviation: 0.0 };
    let expect = "the deviation of the normal distribution is 0; it must be a share of the range, 0.001 to 1000";
    check(flat, 5, expect);
    check(
        Distribution::Uniform,
        u64::MAX,
        "a distribution over 18446744073709551615 numbers; there can be at most 2^63",
    );
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        (0.0..3.0).prop_map(Distribution::Zipf),
        (0.0..1.0, 0.05..2.0).prop_map(|(mean, deviation)| Distribution::Normal { mean, deviation }),
        prop::collection::vec(0u64..9, 1..8)
            .prop_filter("some weight", |weights| weights.iter().any(|w| *w > 0))
            .prop_map(Distribution::Weighted),
    ]
}

proptest! {
    /// The two questions have answers that agree: a draw means a rank if and only if it lies between the starts.
    #[test]
    fn starts_and_ranks_agree(distribution in any_distribution(), bits in 3u32..63, low: u64, draw: u64) {
        let count = (1u64 << bits) + low % (1 << bits);
        let ranks = ranks(distribution, count);
        let rank = ranks.rank(draw);
        prop_assert!(rank < count);
        prop_assert!(ranks.start(rank) <= u128::from(draw) && u128::from(draw) < ranks.start(rank + 1));
        let start = ranks.start(rank);
        prop_assert_eq!(ranks.rank(start as u64), rank);
        if let Some(before) = (start as u64).checked_sub(1) {
            prop_assert!(ranks.rank(before) < rank);
        }
    }
}

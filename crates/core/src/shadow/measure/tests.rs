use super::*;
use crate::shadow::distribution::{Distribution, Ranks};
use crate::shadow::sampler::{Access, Sampler};

/// The goodness of so many draws from a distribution over so many keys.
fn goodness(distribution: &Distribution, access: Access, keys: u64, draws: usize, seed: u64) -> Goodness {
    let ranks = Ranks::new(distribution, keys).unwrap();
    let mut sampler = Sampler::new(access, seed, &[]);
    let mut classes: Vec<(u64, f64)> = (0..keys).map(|rank| (0, ranks.probability(rank))).collect();
    (0..draws).for_each(|_| classes[ranks.rank(sampler.draw()) as usize].0 += 1);
    Goodness::of(&classes)
}

/// The bars: as near to 1 as the paper reports, for the table of its experiments (2,000 keys, one in five dynamic).
#[test]
fn even_draws_fit_better_than_chance_ever_would() {
    for seed in 0..5 {
        for draws in [2_000, 8_000, 19_200, 100_000] {
            let uniform = goodness(&Distribution::Uniform, Access::Even, 1_600, draws, seed);
            let zipf = goodness(&Distribution::Zipf(0.4), Access::Even, 1_600, draws, seed);
            assert!(uniform.miss_log10() <= -100.0, "seed {seed}, {draws}: {uniform:?}");
            assert!(zipf.miss_log10() <= -12.0, "seed {seed}, {draws}: {zipf:?}");
            assert!((uniform.beta(), zipf.beta()) == (1.0, 1.0));
        }
    }
}

/// And as it should be: what is drawn independently has a β that is uniform, over 1,000 seeds.
#[test]
fn the_beta_of_independent_draws_is_uniform() {
    for distribution in [Distribution::Uniform, Distribution::Zipf(0.4)] {
        let beta = |seed| goodness(&distribution, Access::Independent, 100, 1_500, seed).beta();
        let mut betas: Vec<f64> = (0..1_000).map(beta).collect();
        let (distance, probability) = kolmogorov_smirnov(&mut betas);
        assert!(probability > 0.01, "{distribution:?}: distance {distance}, probability {probability}");
    }
}

/// The test must be able to fail: a slightly wrong distribution, and even draws, do.
#[test]
fn what_does_not_fit_is_seen() {
    let ranks = Ranks::new(&Distribution::Zipf(0.2), 100).unwrap();
    let mut sampler = Sampler::new(Access::Independent, 1, &[]);
    let mut classes = vec![(0, 0.01); 100];
    (0..20_000).for_each(|_| classes[ranks.rank(sampler.draw()) as usize].0 += 1);
    assert!(Goodness::of(&classes).tails.above / std::f64::consts::LN_10 < -20.0);
    let mut betas: Vec<f64> =
        (0..50).map(|seed| goodness(&Distribution::Uniform, Access::Even, 100, 500, seed).beta()).collect();
    assert!(kolmogorov_smirnov(&mut betas).1 < 1e-10);
}

#[test]
fn small_classes_are_pooled() {
    // Expected: 50, 50, 2, 2, 2, 1, 1 – the small ones make one class of six, and what is left over joins it.
    let classes = [(48, 50.0), (54, 50.0), (1, 2.0), (1, 2.0), (2, 2.0), (2, 1.0), (0, 1.0)];
    let goodness = Goodness::of(&classes);
    let expect = 4.0 / 50.0 + 16.0 / 50.0 + 4.0 / 8.0;
    assert_eq!((goodness.accesses, goodness.degrees), (108, 2));
    assert!((goodness.statistic - expect).abs() < 1e-12, "{goodness:?}");
    // P(χ² with 2 degrees ≥ x) = e^(−x/2).
    assert!((goodness.beta() - (-expect / 2.0).exp()).abs() < 1e-12);
}

#[test]
fn too_little_says_nothing() {
    for classes in [&[][..], &[(7, 1.0)], &[(1, 1.0), (1, 1.0)], &[(0, 0.5), (0, 0.5)], &[(3, 0.0)]] {
        let goodness = Goodness::of(classes);
        assert_eq!((goodness.degrees, goodness.beta()), (0, 1.0), "{classes:?}");
    }
}

#[test]
fn the_percentage_points_of_kolmogorov_are_known() {
    // 1,000 numbers at the same distance from where they should be.
    let check = |shift: f64, low: f64, high: f64| {
        let mut numbers: Vec<f64> = (0..1_000).map(|at| (f64::from(at) + 0.5) / 1_000.0 * (1.0 - shift)).collect();
        let (distance, probability) = kolmogorov_smirnov(&mut numbers);
        assert!((distance - shift).abs() < 2e-3, "{distance}");
        assert!((low..high).contains(&probability), "{shift}: {probability}");
    };
    check(0.0, 0.999, 1.001);
    check(0.0428, 0.04, 0.06);
    check(0.0513, 0.008, 0.012);
    check(0.2, 0.0, 1e-20);
}

#[test]
fn alpha_counts_what_was_refused_and_skipped_apart() {
    let mut alphas = Alphas::default();
    *alphas.of_mut(OperationKind::Update) = Accessibility { valid: 90, invalid: 10, refused: 60, skipped: 40 };
    let update = alphas.of(OperationKind::Update);
    assert_eq!((update.alpha(), update.alpha_of_all()), (0.9, 0.45));
    assert_eq!(alphas.of(OperationKind::Insert).alpha(), 1.0);
    let mut sum = alphas.clone();
    sum.add(&alphas);
    assert_eq!(sum.of(OperationKind::Update).refused, 120);
    let names = OperationKind::ALL.map(OperationKind::name);
    assert_eq!(names, ["item-read", "predicate-read", "insert", "update", "delete"]);
}

//! Tails of the χ² distribution, as logarithms.
//!
//! `1 − 10⁻¹⁰⁰` is not a double: it is 1. So both tails are computed by themselves, and as logarithms, which hold
//! `10⁻¹⁰⁰⁰⁰⁰` as well. With `a` half the degrees of freedom and `x` half the statistic they are the regularised
//! incomplete gamma functions `P(a, x)` (below) and `Q(a, x) = 1 − P(a, x)` (above):
//!
//! ```text
//!                  xᵃ e⁻ˣ        x        x²
//!   P(a, x) = ────────── (1 + ───── + ────────────── + …)      converges fast for x < a + 1
//!               Γ(a + 1)       a + 1   (a + 1)(a + 2)
//!
//!               xᵃ e⁻ˣ       1      1·(1 − a)   2·(2 − a)
//!   Q(a, x) = ────────  ─────────── ─────────── ─────────── …   a continued fraction, for x ≥ a + 1
//!                Γ(a)    x + 1 − a − x + 3 − a − x + 5 − a −
//! ```
//!
//! The smaller of the two is always the one that is computed; the other is one minus it.

/// The logarithms of both tails of a χ² distribution: below the statistic, above it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tails {
    /// ln P(χ² < statistic).
    pub below: f64,
    /// ln P(χ² ≥ statistic).
    pub above: f64,
}

/// The tails of χ² with so many degrees of freedom at a statistic. With no degrees of freedom it is 0 for certain.
pub fn chi_square_tails(degrees: u64, statistic: f64) -> Tails {
    if degrees == 0 || statistic <= 0.0 {
        return Tails { below: f64::NEG_INFINITY, above: 0.0 };
    }
    gamma_tails(degrees as f64 / 2.0, statistic / 2.0)
}

fn gamma_tails(a: f64, x: f64) -> Tails {
    let power = a * x.ln() - x;
    if x < a + 1.0 {
        let below = (power - ln_gamma(a + 1.0) + series(a, x).ln()).min(0.0);
        Tails { below, above: ln_one_minus(below) }
    } else {
        let above = (power - ln_gamma(a) + fraction(a, x).ln()).min(0.0);
        Tails { below: ln_one_minus(above), above }
    }
}

/// 1 + x/(a + 1) + x²/((a + 1)(a + 2)) + …
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut at) = (1.0, 1.0, a);
    while term > sum * f64::EPSILON {
        at += 1.0;
        term *= x / at;
        sum += term;
    }
    sum
}

/// The continued fraction, from its beginning (Lentz's method). Its denominators never vanish for x ≥ a + 1.
fn fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / b;
    let mut product = d;
    for at in 1..1_000_000u32 {
        let numerator = -f64::from(at) * (f64::from(at) - a);
        b += 2.0;
        d = 1.0 / (b + numerator * d);
        c = b + numerator / c;
        let factor = c * d;
        product *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    product
}

/// ln(1 − eˡ), for l ≤ 0, without losing digits at either end.
fn ln_one_minus(l: f64) -> f64 {
    if l > -std::f64::consts::LN_2 { (-l.exp_m1()).ln() } else { (-l.exp()).ln_1p() }
}

/// ln Γ(x) for x > 0: Stirling's series, after shifting x to where seven terms are enough.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 12.0 {
        product *= x;
        x += 1.0;
    }
    // B₂ₖ / (2k (2k − 1)), with Bernoulli's numbers.
    const TERMS: [f64; 7] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    let tail = TERMS.iter().rev().fold(0.0, |sum, term| sum / (x * x) + term) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + tail - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expect: f64, tolerance: f64) {
        assert!((found - expect).abs() <= tolerance * expect.abs().max(1.0), "{found} is not {expect}");
    }

    #[test]
    fn factorials_have_their_logarithms() {
        let mut expect = 0.0;
        for n in 1..200u32 {
            close(ln_gamma(f64::from(n)), expect, 1e-14);
            expect += f64::from(n).ln();
        }
        close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln(), 1e-14);
    }

    /// The percentage points that tables give.
    #[test]
    fn tables_agree() {
        let rows = [(1, 3.841_458_821, 0.05), (1, 0.003_932_140, 0.95), (10, 18.307_038, 0.05), (10, 2.558_212, 0.99)];
        let more = [(100, 124.342_113, 0.05), (100, 70.064_895, 0.99), (30, 59.702_8, 0.001), (1, 10.827_566, 0.001)];
        for (degrees, statistic, above) in rows.into_iter().chain(more) {
            let tails = chi_square_tails(degrees, statistic);
            close(tails.above.exp(), above, 3e-7);
            close(tails.below.exp(), 1.0 - above, 3e-7);
        }
    }

    /// With two degrees of freedom the tail is e⁻ˣ; with 2n, a sum of n terms.
    #[test]
    fn closed_forms_agree() {
        for x in [1e-100, 1e-3, 0.5, 1.0, 3.0, 40.0, 5_000.0] {
            let tails = chi_square_tails(2, 2.0 * x);
            close(tails.above, -x, 1e-13);
            close(tails.below, if x < 1e-10 { x.ln() } else { (-(-x).exp_m1()).ln() }, 1e-13);
        }
        for (n, x) in [(5u32, 2.0f64), (5, 9.0), (20, 3.0), (20, 60.0)] {
            let mut term = 1.0;
            let mut sum = 1.0;
            for k in 1..n {
                term *= x / f64::from(k);
                sum += term;
            }
            close(chi_square_tails(2 * u64::from(n), 2.0 * x).above, sum.ln() - x, 1e-12);
        }
    }

    #[test]
    fn tails_that_are_no_doubles_can_be_told() {
        let tails = chi_square_tails(2_000, 80.0);
        // xᵃ e⁻ˣ / Γ(a + 1) · 1/(1 − x/(a + 1) …): the leading terms, by hand.
        let expect = 1_000.0 * 40f64.ln() - 40.0 - ln_gamma(1_001.0) + (1_001.0f64 / 961.0).ln();
        close(tails.below, expect, 1e-4);
        assert!(tails.below / std::f64::consts::LN_10 < -900.0);
        assert_eq!(tails.above, 0.0);
        assert!(chi_square_tails(10, 10_000.0).above / std::f64::consts::LN_10 < -2_000.0);
    }

    #[test]
    fn the_ends_are_certain() {
        assert_eq!(chi_square_tails(0, 0.0), Tails { below: f64::NEG_INFINITY, above: 0.0 });
        assert_eq!(chi_square_tails(5, 0.0), Tails { below: f64::NEG_INFINITY, above: 0.0 });
    }

    #[test]
    fn many_classes_are_no_problem() {
        let middle = chi_square_tails(1_000_000, 1_000_000.0);
        // The median lies two thirds below the mean; the density there is 1/√(4π·10⁶).
        close(middle.above.exp(), 0.5 - 0.666_667 / (4.0 * std::f64::consts::PI * 1e6).sqrt(), 1e-6);
    }
}

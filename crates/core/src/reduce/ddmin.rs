//! Delta debugging: a small part of a list that still passes a test.
//!
//! After Zeller and Hildebrandt, *Simplifying and isolating failure-inducing input* (2002), with complements only: what
//! is tried is always the list without a chunk. Chunks begin with the whole list and are halved.
//!
//! ```text
//!   1 2 3 4 5 6 7 8      only 3 and 6 matter
//!   . . . . . . . .      without 1–8: no
//!   . . . . 5 6 7 8      without 1–4: no
//!   1 2 3 4 . . . .      without 5–8: no
//!       3 4 5 6 7 8      without 1–2: yes
//!       . . 5 6 7 8      without 3–4: no
//!       3 4 . . 7 8      without 5–6: no
//!       3 4 5 6          without 7–8: yes
//!       3     6          without 4, without 5: yes
//! ```

/// A sub-list of `items` that passes the test and of which no single item can be left out: it is 1-minimal.
///
/// `items` itself is taken to pass; it is not tested. At most `n² + 3n` tests are run, and about `k · log n` if only `k`
/// items matter.
pub fn ddmin<T: Clone>(items: &[T], passes: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut kept = items.to_vec();
    let mut size = kept.len();
    while size > 0 {
        let removed = sweep(&mut kept, size, passes);
        // At size 1, one more sweep as long as something goes: what went may have been the reason for something else.
        if size > 1 {
            size = size.div_ceil(2).min(kept.len());
        } else if !removed {
            break;
        }
    }
    kept
}

/// Leaves out every chunk of the given size that can be left out, from left to right; tells whether there was one.
fn sweep<T: Clone>(kept: &mut Vec<T>, size: usize, passes: &mut dyn FnMut(&[T]) -> bool) -> bool {
    let mut removed = false;
    let mut start = 0;
    while start < kept.len() {
        let end = (start + size).min(kept.len());
        let candidate: Vec<T> = kept[..start].iter().chain(&kept[end..]).cloned().collect();
        if passes(&candidate) {
            *kept = candidate;
            removed = true;
        } else {
            start = end;
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reduces 0..n with a test; gives the result and the number of tests.
    fn run(n: usize, test: impl Fn(&[usize]) -> bool) -> (Vec<usize>, usize) {
        let items: Vec<usize> = (0..n).collect();
        let mut tests = 0;
        let kept = ddmin(&items, &mut |candidate: &[usize]| {
            tests += 1;
            test(candidate)
        });
        (kept, tests)
    }

    #[test]
    fn what_matters_is_left() {
        let check = |n: usize, needed: &[usize], tests_max: usize| {
            let (kept, tests) = run(n, |candidate| needed.iter().all(|item| candidate.contains(item)));
            assert_eq!(kept, needed);
            assert!(tests <= tests_max, "{n} items, {needed:?} needed: {tests} tests");
        };
        check(0, &[], 0);
        check(1, &[], 1);
        check(1, &[0], 3);
        check(8, &[2, 5], 20);
        check(100, &[], 1);
        check(100, &[99], 20);
        check(100, &[0, 50, 99], 50);
        check(1_000, &[1, 500], 60);
        check(16, &(0..16).collect::<Vec<_>>(), 16 * 4);
    }

    #[test]
    fn a_test_that_is_not_monotone_still_gives_a_minimal_list() {
        // Passes with an even number of items: no single one can be left out, but all can.
        assert_eq!(run(8, |candidate| candidate.len() % 2 == 0).0, []);
        // 3 is needed only as long as 2 is there.
        let (kept, _) =
            run(4, |candidate| candidate.contains(&0) && (!candidate.contains(&2) || candidate.contains(&3)));
        assert_eq!(kept, [0]);
    }

    proptest! {
        #[test]
        fn every_needed_set_is_found_exactly(n in 0usize..40, needed in prop::collection::btree_set(0usize..40, 0..6)) {
            let needed: Vec<usize> = needed.into_iter().filter(|item| *item < n).collect();
            let (kept, tests) = run(n, |candidate| needed.iter().all(|item| candidate.contains(item)));
            prop_assert_eq!(kept, needed);
            prop_assert!(tests <= n * n + 3 * n);
        }
    }
}

//! How large everything is.

/// Districts of a warehouse, always.
pub(super) const DISTRICTS: i64 = 10;
/// Lines that an order has at most.
pub(super) const LINES_MAX: i64 = 15;
/// Lines that an order has at least.
pub(super) const LINES_MIN: i64 = 5;

/// There is a warehouse for so many customers.
const CUSTOMERS_PER_WAREHOUSE: i64 = 1_000;
/// Fewer customers of a district than this leave too few names and too few orders to deliver.
const CUSTOMERS_MIN: i64 = 10;

/// How many there are of everything, as in the specification's clause 4.3 but for one factor: a district has 3,000
/// customers there, and [`Sizes::customers`] here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Warehouses.
    pub(super) warehouses: i64,
    /// Customers of a district. Each has one order at first.
    pub(super) customers: i64,
}

impl Sizes {
    /// With about so many customers: one warehouse for every thousand, ten districts each.
    pub(super) fn of(customers: usize) -> Sizes {
        let customers = i64::try_from(customers).unwrap_or(i64::MAX);
        let warehouses = (customers / CUSTOMERS_PER_WAREHOUSE).max(1);
        Sizes { warehouses, customers: (customers / (warehouses * DISTRICTS)).max(CUSTOMERS_MIN) }
    }

    /// Items: 100,000 for 3,000 customers of a district.
    pub(super) fn items(&self) -> i64 {
        self.customers * 100 / 3
    }

    /// Last names of customers: 1,000 for 3,000.
    pub(super) fn names(&self) -> i64 {
        (self.customers / 3).min(1_000)
    }

    /// Orders of a district that are delivered at first: 2,100 of 3,000.
    pub(super) fn delivered(&self) -> i64 {
        self.customers - self.customers * 3 / 10
    }

    /// All districts: warehouse and number, both from 1.
    pub(super) fn districts(&self) -> impl Iterator<Item = (i64, i64)> {
        let warehouses = self.warehouses;
        (1..=warehouses).flat_map(|w| (1..=DISTRICTS).map(move |d| (w, d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_are_those_of_the_specification() {
        let full = Sizes { warehouses: 1, customers: 3_000 };
        assert_eq!((full.items(), full.names(), full.delivered()), (100_000, 1_000, 2_100));
        let check =
            |keys, warehouses, customers| assert_eq!(Sizes::of(keys), Sizes { warehouses, customers }, "{keys}");
        check(1, 1, 10);
        check(100, 1, 10);
        check(999, 1, 99);
        check(1_000, 1, 100);
        check(5_500, 5, 110);
    }
}

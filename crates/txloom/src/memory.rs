//! How much memory a check may take.

use std::fs;

/// Assumed where the system does not tell.
const BYTES_DEFAULT: u64 = 4 << 30;

/// Half of the memory that the system could give now.
pub fn affordable_bytes() -> u64 {
    let told = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available(&told).map_or(BYTES_DEFAULT, |bytes| bytes / 2)
}

/// The line `MemAvailable:` of `/proc/meminfo`, in bytes.
fn available(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }
}

//! Numbers that are kept in 32 bits: places in a file, ids of files, objects and events.

/// A count or a place as it is kept: half as large as a `usize`.
///
/// What is counted is limited long before: a file to 16 MiB, a repository to 400,000 files. So a number that does not
/// fit is an error of this program, and a wrong place would be worse than its end.
///
/// # Panics
///
/// If the number does not fit.
#[track_caller]
#[expect(clippy::cast_possible_truncation, reason = "asserted")]
pub fn to_u32(number: usize) -> u32 {
    assert!(u32::try_from(number).is_ok(), "{number} does not fit into 32 bits: a limit on what is read was left out");
    number as u32
}

#[cfg(test)]
mod tests {
    use super::to_u32;

    #[test]
    fn what_fits_is_kept() {
        assert_eq!(to_u32(0), 0);
        assert_eq!(to_u32(u32::MAX as usize), u32::MAX);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    #[should_panic(expected = "4294967296 does not fit into 32 bits")]
    fn what_does_not_fit_is_never_another_place() {
        to_u32(u32::MAX as usize + 1);
    }
}

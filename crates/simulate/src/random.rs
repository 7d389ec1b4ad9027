//! Chance without memory: a number for a seed, a thing and a question. So one draw more or less in one place changes no draw in
//! another, and two boots of one seed differ only where their repositories do.

/// From 0 to 1.
pub(crate) fn draw(seed: u64, thing: u32, question: u32) -> f64 {
    let mut mixed = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(u64::from(thing).wrapping_mul(0xD1B5_4A32_D192_ED03))
        .wrapping_add(u64::from(question).wrapping_mul(0x8CB9_2BA7_2F3D_8DD7));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^= mixed >> 31;
    f64::from((mixed >> 32) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn draws_are_even_and_repeat() {
        let all: Vec<f64> = (0..10_000).map(|seed| draw(seed, 3, 1)).collect();
        let mean = all.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        assert!((draw(7, 3, 1) - draw(7, 3, 1)).abs() < f64::EPSILON);
        assert!((draw(7, 3, 1) - draw(7, 4, 1)).abs() > f64::EPSILON);
    }
}

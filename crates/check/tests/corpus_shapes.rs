//! Shapes that real repositories have, each rebuilt small below `shapes/`: what must be found in them, what must not be
//! reported, and what has to be survived. A new directory is picked up by itself.

mod story;

use fixtures::Shelf;

/// Shapes that the program does not read or judge right yet, and why.
const NOT_YET: &[(&str, &str)] = &[];

#[test]
fn every_shape_is_read_and_reported_as_it_should_be() {
    story::tell_all(Shelf::Shapes, NOT_YET);
}

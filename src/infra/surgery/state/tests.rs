//! States made by hand.

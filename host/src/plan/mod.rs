//! Matching orders and symmetry breaking.

//! What the host prepares: ON_k, Rank(ON_1) renumbering, τ and the priority bounds.

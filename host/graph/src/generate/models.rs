//! The models' edges.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use super::stream;
use crate::Builder;
use crate::build::EdgeBlock;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::parallel::on_threads;

/// Edges of one R-MAT stream.
const RMAT_RUN: u64 = 1 << 16;

pub(super) fn rng(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(stream);
    rng
}

/// A number below `bound`, each equally likely (Lemire, ACM TOMACS 29:1, 2019).
pub(super) fn below(rng: &mut ChaCha8Rng, bound: u64) -> u64 {
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        let low = product as u64;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// A number in [0, 1) with 53 random bits.
pub(super) fn unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

pub(super) fn rmat(
    builder: &mut Builder,
    seed: u64,
    scale: u32,
    edges: u64,
    [a, b, c]: [f64; 3],
    context: &Context,
) -> Result<()> {
    let threshold = |p: f64| (p * (1u64 << 32) as f64) as u64;
    let (a, ab, abc) = (threshold(a), threshold(a + b), threshold(a + b + c));
    let runs = edges.div_ceil(RMAT_RUN) as usize;
    let run = |run: usize| {
        let count = RMAT_RUN.min(edges - run as u64 * RMAT_RUN);
        let mut rng = rng(seed, stream::EDGES + run as u64);
        let mut block = EdgeBlock::with_capacity(count as usize);
        for _ in 0..count {
            let (mut u, mut v) = (0, 0);
            for _ in 0..scale {
                let r = u64::from(rng.next_u32());
                u = 2 * u + u64::from(r >= ab);
                v = 2 * v + u64::from((r >= a && r < ab) || r >= abc);
            }
            block.push(u, v);
        }
        block
    };
    let threads = context.threads().min(runs).max(1);
    let parts = on_threads(threads, |t| {
        (t..runs)
            .step_by(threads)
            .take_while(|_| !context.cancel.is_cancelled())
            .map(run)
            .collect::<Vec<_>>()
    });
    context.cancel.check()?;
    parts.into_iter().flatten().for_each(|block| builder.block(block));
    Ok(())
}

/// Number of pairs of different vertices.
pub(super) fn pairs(vertices: u64) -> u64 {
    vertices * vertices.saturating_sub(1) / 2
}

/// The pair (u, v), v < u, with this number: row u begins at u (u - 1) / 2.
pub(super) fn pair(index: u64) -> (u64, u64) {
    let mut u = ((1 + 8 * u128::from(index)).isqrt() as u64).div_ceil(2);
    while pairs(u) > index {
        u -= 1;
    }
    while pairs(u + 1) <= index {
        u += 1;
    }
    (u, index - pairs(u))
}

/// `count` different numbers below `bound`, each set equally likely: draws until there are
/// enough, of the numbers wanted or (where these are more) of those left out.
pub(super) fn sample(
    rng: &mut ChaCha8Rng,
    bound: u64,
    count: u64,
    context: &Context,
) -> Result<Vec<u64>> {
    let wanted = count.min(bound - count);
    let mut chosen: Vec<u64> = Vec::new();
    while (chosen.len() as u64) < wanted {
        context.cancel.check()?;
        for _ in chosen.len() as u64..wanted {
            chosen.push(below(rng, bound));
        }
        chosen.sort_unstable();
        chosen.dedup();
    }
    if wanted == count {
        return Ok(chosen);
    }
    let mut out = chosen.into_iter().peekable();
    Ok((0..bound).filter(|index| out.next_if_eq(index).is_none()).collect())
}

/// Each pair with probability p, by drawing how many pairs are passed over (Batagelj and Brandes,
/// Phys. Rev. E 71, 036113, 2005): time linear in vertices and edges.
pub(super) fn bernoulli(
    builder: &mut Builder,
    seed: u64,
    vertices: u64,
    p: f64,
    context: &Context,
) -> Result<()> {
    let mut rng = rng(seed, stream::EDGES);
    let end = pairs(vertices);
    let log_absent = libm::log1p(-p);
    let (mut u, mut row_end) = (1, 1);
    let mut index = 0u64;
    for round in 0u64.. {
        if round % 4096 == 0 {
            context.cancel.check()?;
        }
        let passed = if p >= 1.0 {
            0.0
        } else if p <= 0.0 {
            break;
        } else {
            libm::log(1.0 - unit(&mut rng)) / log_absent
        };
        // Positive, and a cast stops at the largest number.
        index = index.saturating_add(passed as u64);
        if index >= end {
            break;
        }
        while index >= row_end {
            u += 1;
            row_end += u;
        }
        builder.edge(u, index + u - row_end);
        index += 1;
    }
    Ok(())
}

pub(super) fn barabasi_albert(
    builder: &mut Builder,
    rng: &mut ChaCha8Rng,
    vertices: u64,
    edges_per_vertex: u64,
    context: &Context,
) -> Result<()> {
    let core = edges_per_vertex + 1;
    // Every end of every edge, so a vertex occurs deg(v) times.
    let mut ends: Vec<u32> = Vec::new();
    let join = |builder: &mut Builder, ends: &mut Vec<u32>, u: u64, v: u64| {
        builder.edge(u, v);
        ends.extend([u as u32, v as u32]);
    };
    for u in 1..core {
        for v in 0..u {
            join(builder, &mut ends, u, v);
        }
    }
    let mut chosen: Vec<u32> = Vec::new();
    for u in core..vertices {
        if u % 1024 == 0 {
            context.cancel.check()?;
        }
        chosen.clear();
        while (chosen.len() as u64) < edges_per_vertex {
            let v = ends[below(rng, ends.len() as u64) as usize];
            if !chosen.contains(&v) {
                chosen.push(v);
            }
        }
        for &v in &chosen {
            join(builder, &mut ends, u, v.into());
        }
    }
    Ok(())
}

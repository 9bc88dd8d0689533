use std::io::BufRead;
use gramer::{*, engine::Engine};
fn main() {
    let mut a = std::env::args().skip(1);
    let what = a.next().unwrap(); let k: usize = a.next().unwrap().parse().unwrap();
    let threads: usize = a.next().unwrap().parse().unwrap();
    let mut b = graph::Builder::new();
    for l in std::io::stdin().lock().lines() { let l = l.unwrap(); if l.starts_with('#')||l.starts_with('i') {continue}
        let mut t = l.split(|c: char| c.is_whitespace()||c==','); let (Some(x),Some(y)) = (t.next(), t.next()) else {continue};
        b.edge(x.parse().unwrap(), y.parse().unwrap()); }
    let g = b.build();
    // renumber by degree, crude
    let mut o: Vec<u32> = (0..g.vertices() as u32).collect();
    o.sort_by_key(|&v| std::cmp::Reverse(g.view().degree(v)));
    let mut n = vec![0u64; o.len()]; for (i,&v) in o.iter().enumerate() { n[v as usize]=i as u64; }
    let mut b = graph::Builder::new();
    for v in 0..g.vertices() as u32 { for &u in g.view().neighbours(v) { if u<v { b.edge(n[u as usize], n[v as usize]); } } }
    let g = b.build();
    let task = match what.as_str() { "cf" => Task::Clique{k}, "max" => Task::MaximalCliques, "mc" => Task::Motif{k, induced: task::Induced::Vertex}, _=> Task::Motif{k, induced: task::Induced::Edge}};
    let t = std::time::Instant::now();
    let out = engine::cpu::Cpu.run(&g, &task, None, &Context::with_threads(threads)).unwrap();
    eprintln!("mine {:?}", t.elapsed());
    for c in out.results { println!("{} {}", pattern::name(&c.pattern), c.count); }
}

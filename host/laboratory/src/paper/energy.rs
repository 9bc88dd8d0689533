//! Figure 11a: an estimate of the energy.

use super::performance::{CONTAINED, CPU_WATTS, POWER_RATIO, Run, cases, note, of_paper};
use super::report::{Answer, Block, Cases, Claim, Finding, Verdict, span};
use super::{Lab, NOT_RUN, csv_table, finds_nothing, in_orders, short, times};
use crate::explore::task;
use gramer_base::error::Result;

/// Figure 11a: an estimate of the energy, which contains too much of the paper's for a verdict.
pub(super) fn energy(lab: &Lab<'_>) -> Result<([Block; 2], Claim)> {
    let watts = CPU_WATTS / POWER_RATIO;
    let mut rows = vec![];
    // Energies of Fractal and of RStream in ours, by order.
    let mut ratios: [[Cases; 2]; 2] = Default::default();
    for (input, name) in cases(lab) {
        let Some([_, fractal, rstream]) = of_paper(input, name) else { continue };
        let all = lab.sweep(input, name, &["order=descending,ascending"])?;
        let found = in_orders(&all, &[]);
        let (_, mined) = task(name)?;
        let nothing = found.iter().any(|&m| finds_nothing(name, m));
        let none = if nothing { ", no frequent pattern" } else { "" };
        let mut row = vec![format!("{} {}{}{none}", short(name), input.name, note(input, name))];
        let wholes = found.map(|m| m.map(|m| Run::new(lab, input, name, &mined, m).whole));
        row.extend(found.iter().zip(wholes).map(|(m, whole)| {
            times(m.zip(whole).map(|(m, whole)| (whole, whole * m.uncertainty())), 2)
        }));
        let cell = |number: Option<f64>, digits: usize| {
            number.map_or(NOT_RUN.into(), |n| format!("{n:.digits$}"))
        };
        row.extend(wholes.map(|whole| cell(whole.map(|w| watts * w), 0)));
        for (time, ratios) in [fractal, rstream].into_iter().zip(&mut ratios) {
            let theirs = CPU_WATTS * time;
            row.push(format!("{theirs:.0}"));
            for (whole, ratios) in wholes.into_iter().zip(ratios) {
                let ratio = whole.map(|w| theirs / (watts * w));
                row.push(cell(ratio, 1));
                if !nothing {
                    ratios.add(ratio);
                }
            }
        }
        rows.push(row);
    }
    let header = [
        "task",
        "run_ms_ascending",
        "run_ms_descending",
        "energy_mj_ascending",
        "energy_mj_descending",
        "fractal_mj",
        "fractal_of_ours_ascending",
        "fractal_of_ours_descending",
        "rstream_mj",
        "rstream_of_ours_ascending",
        "rstream_of_ours_descending",
    ];
    let text = format!(
        "Energy without DRAM, an estimate: power by time; no power was measured. The paper \
         takes the CPU's thermal design power, {CPU_WATTS} W, and its ratios of energy are {POWER_RATIO:.2} times \
         those of times, so its design takes {watts:.1} W. Ours is assumed to take as much: \
         the same device and clock, and by synthesis no more of any resource; \
         docs/results/hardware/energy.md estimates it by counted activity instead. Times are those of table III, with \
         the paper's set-up."
    );
    let claim = Claim {
        place: "figure 11a",
        claim: "5.79 to 678.34 times less energy than RStream, 9.40 to 129.72 than Fractal",
        bar: String::new(),
        answer: Answer::Each([0, 1].map(|order| Finding {
            verdict: Verdict::None(CONTAINED),
            ours: format!(
                "{} times less than RStream, {} than Fractal",
                span(&ratios[1][order].values, 2),
                span(&ratios[0][order].values, 2)
            ),
        })),
        why: "estimated by the paper's own ratios, not measured (below)".into(),
    };
    let table = Block::File("figure-11.csv".into(), csv_table(&header, &rows));
    Ok(([Block::Text(text), table], claim))
}

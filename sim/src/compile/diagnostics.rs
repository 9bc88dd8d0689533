//! Diagnostics of Verilator about the sources.

use std::path::Path;

/// Maximum of diagnostics in a message: the first one often causes the others.
const FAULTS: usize = 3;

/// Extracts the diagnostics from Verilator's output, in order: location, problem, source line and caret. Omits include
/// chains and hints on silencing warnings. Files of `sources` get their full path. Returns nothing if Verilator
/// reports no location.
pub(super) fn faults(output: &str, sources: &Path) -> Option<String> {
    let mut found: Vec<String> = vec![];
    let mut more = 0;
    let mut inside = false;
    for line in output.lines() {
        if line.starts_with('%') {
            inside = place(line).is_some();
            match inside {
                true if found.len() < FAULTS => found.push(with_path(line, sources)),
                true => (more, inside) = (more + 1, false),
                false => {}
            }
        } else if inside
            && is_source(line)
            && let Some(fault) = found.last_mut()
        {
            *fault += "\n";
            *fault += line;
        }
    }
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    (!found.is_empty()).then(|| found.join("\n"))
}

/// File of `%Error-KIND: FILE:LINE:COLUMN: …`.
fn place(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(": ")?;
    let (file, rest) = rest.split_once(':')?;
    let (number, _) = rest.split_once(':')?;
    number.parse::<u32>().is_ok().then_some(file)
}

fn with_path(line: &str, sources: &Path) -> String {
    match place(line).filter(|file| sources.join(file).is_file()) {
        Some(file) => line.replacen(file, &sources.join(file).display().to_string(), 1),
        None => line.into(),
    }
}

/// Whether a line is `   38 |   text` or the caret below it.
fn is_source(line: &str) -> bool {
    line.split_once('|').is_some_and(|(number, _)| {
        let number = number.trim();
        number.is_empty() || number.parse::<u32>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: &str = "\
%Warning-WIDTH: gramer_replacement.sv:38:50: Operator SHIFTR expects 39 bits on the LHS.
                                           : ... In instance gramer_core.i_memory.i_edges.i_replacement
   38 |       score[w] = (lru_i ? '0 : {rank_i[w], 3'b0} >> 6);
      |                                                  ^~
                gramer_onchip_memory.sv:184:1: ... note: In file included from gramer_onchip_memory.sv
                gramer_core.sv:332:1: ... note: In file included from gramer_core.sv
                ... For warning description see https://verilator.org/warn/WIDTH?v=5.006
                ... Use \"/* verilator lint_off WIDTH */\" and lint_on around source to disable this message.
%Error: Exiting due to 1 warning(s)
";

    #[test]
    fn a_fault_has_its_place_its_line_and_a_caret() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("gramer_replacement.sv"), "").unwrap();
        let text = faults(WIDTH, folder.path()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        let file = folder.path().join("gramer_replacement.sv");
        let start = format!("%Warning-WIDTH: {}:38:50: Operator SHIFTR", file.display());
        assert!(lines[0].starts_with(&start), "{text}");
        assert!(lines[1].starts_with("   38 |") && lines[2].ends_with("^~"), "{text}");
    }

    #[test]
    fn the_first_faults_are_enough() {
        let error = "%Error: a.sv:7:1: syntax error\n    7 | end\n      | ^\n    b.sv:1:1: ... note: In file included\n";
        let text = faults(&error.repeat(5), Path::new("/nowhere")).unwrap();
        assert_eq!(text.lines().count(), 10, "{text}");
        assert!(text.ends_with("      | ^\nand 2 more"), "{text}");
        assert_eq!(faults("%Error: Cannot find file\n", Path::new(".")), None);
    }
}

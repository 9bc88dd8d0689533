//! What the command line calls the settings and engines that messages of the libraries name.

use crate::device;

/// Options that aren't called as the settings are: by setting.
const OPTIONS: [(&str, &str); 3] = [
    ("max_vertices", "--max-graph-vertices"),
    ("verify", "no --trust-image"),
    ("edge_labels", "--no-edge-labels"),
];

/// A message of the libraries with the names of options in it.
pub fn told(text: &str) -> String {
    gramer_base::error::told(text, option, engine)
}

fn engine(name: &str) -> String {
    match name {
        "cpu" => "the CPU engine (--device cpu)".into(),
        _ => format!("`--device {name}`"),
    }
}

fn option(setting: &str) -> String {
    match OPTIONS.iter().find(|(name, _)| *name == setting) {
        Some((_, option)) => (*option).into(),
        None if device::readers_of(setting).next().is_some() => format!("--set {setting}"),
        None => format!("--{}", setting.replace('_', "-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::CommandFactory;

    /// Every setting that a library names is an option of a command.
    #[test]
    fn settings_are_options() {
        fn options(command: &clap::Command, all: &mut Vec<String>) {
            all.extend(command.get_arguments().filter_map(|a| a.get_long()).map(String::from));
            command.get_subcommands().for_each(|c| options(c, all));
        }
        let mut all = vec![];
        options(&Cli::command(), &mut all);
        let mut seen = 0;
        let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    // Its settings are options of `gramer-lab`.
                    if !path.ends_with("laboratory") {
                        folders.push(path);
                    }
                } else if path.extension().is_some_and(|e| e == "rs")
                    && !path.ends_with("base/src/error.rs")
                    && !path.ends_with("cli/src/options.rs")
                {
                    let text = std::fs::read_to_string(&path).unwrap();
                    for rest in
                        text.split("the setting `").skip(1).filter(|rest| !rest.starts_with('{'))
                    {
                        let setting = rest.split('`').next().unwrap();
                        let name = option(setting);
                        let name = name.rsplit_once("--").unwrap().1.to_string();
                        let set = name.strip_prefix("set ").map(device::readers_of);
                        let known =
                            all.contains(&name) || set.is_some_and(|mut of| of.next().is_some());
                        assert!(known, "{}: {setting}", path.display());
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 10);
        assert_eq!(told("the setting `max_vertices` is 3"), "--max-graph-vertices is 3");
        assert_eq!(told("the setting `tau` is 3"), "--set tau is 3");
        assert_eq!(told("use the engine `cpu`"), "use the CPU engine (--device cpu)");
    }
}

//! Shares one C++ function between all instances of a module.
//!
//! Verilator keeps a module that isn't inlined as a class, but generates its functions once per instance: bodies that
//! differ only in the numbers of temporaries (`__Vfunc_name__17__a` of an inlined SystemVerilog function,
//! `__Vtableidx3`) and labels, in the instance's path in messages of assertions, and in line breaks. Eight PUs then
//! take eight times the instruction cache, which limits the simulation. [`share`] keeps one function of each kind and
//! calls it for all instances.
//!
//! Inputs that are connected differently must be public (`public_flat_rd`); otherwise Verilator substitutes the
//! parent's expression for them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::scan::{self, Temporary};

/// Function of one instance, or of a class as a whole.
struct Function {
    file: usize,
    /// From its head to its closing brace.
    span: Range<usize>,
    name: String,
    class: String,
    /// The instance's encoded path.
    instance: Option<String>,
    /// Normalised body, without parts that may differ between instances.
    shape: String,
    /// Numbers of its temporaries, in the order of their first use.
    numbers: Vec<String>,
    /// The subset that are members of the class.
    members: BTreeSet<String>,
}

/// Replaces the scope's path in messages by the part below the instance, appended to the instance's name.
fn relative(body: &str, instance: &str) -> String {
    let path = instance.replace("__KET__", "]").replace("__BRA__", "[").replace("__DOT__", ".");
    // Below an instance that is a separate class, the name continues without a dot.
    let path = path.replace("__", ".");
    let (mut changed, mut done) = (String::with_capacity(body.len()), 0);
    for found in scan::messages(body) {
        let below = match body[found.path.clone()].strip_prefix(&path) {
            Some(below) if below.is_empty() || below.starts_with('.') => {
                below.strip_prefix('.').unwrap_or(below)
            }
            _ => continue,
        };
        let before = [&body[done..found.path.start], below, &body[found.path.end..found.name]];
        changed.extend(before.into_iter().chain(["vlSelf->name()"]));
        done = found.span.end;
    }
    changed + &body[done..]
}

/// Kind of a temporary: numbers are unique per kind.
fn number(found: &Temporary<'_>) -> String {
    let called = found.kind.starts_with("__Vfunc_") || found.kind.starts_with("__Vtask_");
    let apart = if called { "" } else { found.kind };
    [apart, found.number].concat()
}

/// The instance in a function's name.
fn instance(name: &str) -> Option<&str> {
    let (_, below) = name.split_once("__TOP__")?;
    let path = below.trim_end_matches(|c: char| c.is_ascii_digit());
    let path = if path.len() < below.len() { path.strip_suffix("__") } else { None };
    path.filter(|path| !path.is_empty())
}

/// Normalises a body: removes white space and renumbers temporaries in the order of first use; also returns their
/// numbers in that order.
fn shape(body: &str) -> (String, Vec<String>) {
    let (mut numbers, mut shape, mut done) = (Vec::new(), String::with_capacity(body.len()), 0);
    for found in scan::temporaries(body) {
        let number = number(&found);
        let at = numbers.iter().position(|n| *n == number).unwrap_or_else(|| {
            numbers.push(number);
            numbers.len() - 1
        });
        shape.extend([&body[done..found.span.start], found.kind, &format!("#{at}"), found.after]);
        done = found.span.end;
    }
    shape.push_str(&body[done..]);
    shape.retain(|c| !c.is_whitespace());
    (shape, numbers)
}

/// Numbers of the temporaries that are members of the class, which other functions may read.
fn members(body: &str) -> BTreeSet<String> {
    let (mut numbers, mut last) = (BTreeSet::new(), None);
    for found in scan::temporaries(body) {
        // One per name: what its own name has further behind is part of it.
        let name = scan::member(body, found.span.start);
        if name.is_some() && name != last {
            numbers.insert(number(&found));
            last = name;
        }
    }
    numbers
}

fn functions(file: usize, text: &str) -> Vec<Function> {
    let function = |head: scan::Head<'_>| {
        let begin = head.span.end;
        let end = begin + text[begin..].find("\n}\n")? + "\n}\n".len();
        let body = &text[begin..end];
        let instance = instance(head.name);
        let own = instance.map_or_else(|| body.to_string(), |i| relative(body, i));
        let (shape, numbers) = shape(&own.replace(head.name, "this function"));
        Some(Function {
            file,
            span: head.span.start..end,
            name: head.name.to_string(),
            class: head.class.to_string(),
            instance: instance.map(str::to_string),
            shape,
            numbers,
            members: members(body),
        })
    };
    scan::heads(text).filter_map(function).collect()
}

/// Whether the functions in each of `groups` (equal functions of different instances of a class) are
/// interchangeable.
///
/// Temporaries that are members get the numbers of the group's first function. This is safe if each instance renumbers
/// them consistently in all its functions, and no function outside of the groups uses them. (Each class numbers its
/// members separately.)
fn consistent(class: &[&Function], groups: &[Vec<&Function>]) -> bool {
    let mut renamed: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut taken: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut known = BTreeSet::new();
    for group in groups {
        for function in group {
            let instance = function.instance.as_deref().unwrap_or_default();
            for (own, first) in function.numbers.iter().zip(&group[0].numbers) {
                if !function.members.contains(own) {
                    continue;
                }
                known.extend([own.as_str(), first.as_str()]);
                match renamed.insert((instance, own), first) {
                    Some(before) if before != first => return false,
                    None if !taken.insert((instance, first)) => return false,
                    _ => {}
                }
            }
        }
    }
    let grouped: BTreeSet<&str> = groups.iter().flatten().map(|f| f.name.as_str()).collect();
    class
        .iter()
        // It sets every member once, before any other function runs.
        .filter(|f| !grouped.contains(f.name.as_str()) && !f.name.ends_with("_ctor_var_reset"))
        .all(|f| f.members.iter().all(|member| !known.contains(member.as_str())))
}

/// Removes instances that occur in fewer groups than others.
fn of_all(groups: Vec<Vec<&Function>>) -> Vec<Vec<&Function>> {
    let mut times: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for function in groups.iter().flatten() {
        *times.entry(function.instance.clone()).or_default() += 1;
    }
    let most = times.values().copied().max().unwrap_or(0);
    let left = groups
        .into_iter()
        .map(|group| group.into_iter().filter(|f| times[&f.instance] == most).collect::<Vec<_>>());
    left.filter(|group| group.len() > 1).collect()
}

/// Replaces calls of removed functions by calls of their representatives.
fn renamed(text: &str, stands: &BTreeMap<&str, &str>) -> String {
    let (mut changed, mut done) = (String::with_capacity(text.len()), 0);
    for (end, _) in text.match_indices('(') {
        let name = scan::word_start(text, end)..end;
        if let Some(other) = stands.get(&text[name.clone()]) {
            changed.extend([&text[done..name.start], other]);
            done = end;
        }
    }
    changed + &text[done..]
}

/// Keeps one of several equal functions of a module's instances in Verilated sources; returns the number of
/// removed functions.
pub(crate) fn share(texts: &mut [String]) -> usize {
    let all: Vec<Function> =
        texts.iter().enumerate().flat_map(|(file, text)| functions(file, text)).collect();
    let mut classes: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    for function in &all {
        classes.entry(&function.class).or_default().push(function);
    }
    // New text in place of old, by file; and which function stands for which.
    let mut edits: Vec<Vec<(Range<usize>, String)>> = vec![Vec::new(); texts.len()];
    let mut stands: BTreeMap<&str, &str> = BTreeMap::new();
    for class in classes.values() {
        let mut groups: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in class.iter().filter(|f| f.instance.is_some()) {
            groups.entry(&function.shape).or_default().push(function);
        }
        let mut groups: Vec<Vec<&Function>> =
            groups.into_values().filter(|g| g.len() > 1).collect();
        // One instance stands for the others in all groups, wherever in the files its functions are: their
        // temporaries keep its numbers.
        groups.iter_mut().for_each(|group| group.sort_by_key(|f| &f.instance));
        // An instance that is as the others in some groups alone would stand for them there, and another one
        // in the rest.
        if !consistent(class, &groups) {
            groups = of_all(groups);
        }
        if !consistent(class, &groups) {
            continue;
        }
        for group in groups {
            let (first, others) = group.split_first().expect("it has two at least");
            let instance = first.instance.as_deref().expect("all of a group have one");
            let text = relative(&texts[first.file][first.span.clone()], instance);
            edits[first.file].push((first.span.clone(), text));
            for other in others {
                edits[other.file].push((other.span.clone(), String::new()));
                stands.insert(&other.name, &first.name);
            }
        }
    }
    for (text, mut edits) in texts.iter_mut().zip(edits) {
        edits.sort_by_key(|(span, _)| span.start);
        for (span, new) in edits.into_iter().rev() {
            text.replace_range(span, &new);
        }
        *text = renamed(text, &stands);
    }
    stands.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Function of instance `i` of class `Vx_pu`, nested in an instance that is also a class.
    fn function(i: usize, kind: &str, body: &str) -> String {
        let name =
            format!("Vx_pu___{kind}__TOP__core__DOT__i_pus__gen_pu__BRA__{i}__KET____DOT__i_pu__0");
        format!(
            "VL_INLINE_OPT void {name}(Vx_pu* vlSelf) {{\n    \
             VL_DEBUG_IF(VL_DBG_MSGF(\"+ {name}\\n\"); );\n{body}\n}}\n\n"
        )
    }

    fn message(i: usize) -> String {
        format!(
            "    VL_WRITEF(\"[%0t] %%Error: a.sv:1: Assertion failed in \
             %Ncore.i_pus.gen_pu[{i}].i_pu.i_fifo: full\\n\",\n        \
             64,VL_TIME_UNITED_Q(1),-12,vlSymsp->name());"
        )
    }

    fn calls(kind: &str) -> String {
        let call = |i: usize| {
            let path = format!("core__DOT__i_pus__gen_pu__BRA__{i}__KET____DOT__i_pu");
            format!("    Vx_pu___{kind}__TOP__{path}__0((&vlSymsp->TOP__{path}));\n")
        };
        format!("void Vx___024root___eval(Vx___024root* vlSelf) {{\n{}{}}}\n", call(0), call(1))
    }

    #[test]
    fn instances_that_differ_in_numbers_paths_and_lines_become_one() {
        let body = |i: usize, space: &str| {
            // Tables and labels are numbered apart: of the first instance they and a function have one number.
            let (function, table) = (20 + 5 * i, 20 + i);
            format!(
                "    VlWide<3>/*95:0*/ __Vtemp_h{i}fd8e51__0;\n    \
                 __Vfunc_after__{function}__a = __Vtableidx{table};{space}\n    \
                 vlSelf->__Vfunc_less__{}__b = __Vtemp_h{i}fd8e51__0[0U];\n    \
                 goto __Vlabel{function};\n    __Vlabel{function}: ;\n{}",
                function + 1,
                message(i)
            )
        };
        let mut texts = vec![
            function(0, "nba", &body(0, "")) + &function(1, "nba", &body(1, "\n   ")),
            calls("nba"),
        ];
        assert_eq!(share(&mut texts), 1);
        assert!(!texts[0].contains("BRA__1"), "{}", texts[0]);
        assert!(texts[0].contains("Assertion failed in %Ni_fifo: full"), "{}", texts[0]);
        assert!(texts[0].contains("-12,vlSelf->name()"), "{}", texts[0]);
        // Called once for each instance, by one name.
        assert_eq!(texts[1].matches("___nba__TOP__core__DOT__i_pus__gen_pu__BRA__0").count(), 2);
        assert_eq!(texts[1].matches("(&vlSymsp->TOP__core__DOT__i_pus__gen_pu__BRA__1").count(), 1);
    }

    #[test]
    fn what_differs_otherwise_stays() {
        for (first, second) in [
            ("    vlSelf->a = vlSymsp->TOP.heads[0U];", "    vlSelf->a = vlSymsp->TOP.heads[1U];"),
            // Two temporaries are not one.
            ("    __Vfunc_f__1__a = __Vfunc_f__2__a;", "    __Vfunc_f__3__a = __Vfunc_f__3__a;"),
            // A message that names another instance.
            (&message(0), &message(0)),
        ] {
            let mut texts =
                vec![function(0, "nba", first) + &function(1, "nba", second), calls("nba")];
            let before = texts.clone();
            assert_eq!(share(&mut texts), 0, "{first}");
            assert_eq!(texts, before);
        }
    }

    #[test]
    fn a_member_that_another_function_reads_keeps_its_number() {
        let body = |n: usize| format!("    vlSelf->__Vfunc_less__{n}__b = 2;");
        let other = |n: usize| format!("    vlSelf->__Vfunc_less__{n}__b = 3;");
        let pair = function(0, "nba", &body(1)) + &function(1, "nba", &body(2));
        let reads = |n: usize, i: usize| {
            function(i, "act", &format!("    vlSelf->a{i} = vlSelf->__Vfunc_less__{n}__b;"))
        };
        for (others, went) in [
            (String::new(), 1),
            // A function outside of the groups knows the second's, or the first's.
            (reads(2, 1), 0),
            (reads(1, 0), 0),
            // Another pair renumbers in another way, or in the same, wherever its functions are.
            (function(0, "act", &other(4)) + &function(1, "act", &other(2)), 0),
            (function(0, "act", &other(1)) + &function(1, "act", &other(2)), 2),
            (function(1, "act", &other(2)) + &function(0, "act", &other(1)), 2),
        ] {
            let mut texts = vec![pair.clone() + &others, calls("nba")];
            assert_eq!(share(&mut texts), went, "{others}");
        }
    }

    #[test]
    fn an_instance_that_is_as_the_others_in_some_functions_alone_keeps_all_of_its_own() {
        let member = |i: usize| format!("    vlSelf->__Vfunc_less__{}__b = 2;", i + 1);
        let more = |i: usize| member(i) + &format!("\n    vlSelf->of_0 = {};", i == 0);
        let of = |i: usize| function(i, "nba", &member(i)) + &function(i, "act", &more(i));
        let mut texts = vec![(0..3).map(of).collect::<String>()];
        assert_eq!(share(&mut texts), 2);
        let left = |i: usize| texts[0].matches(&format!("gen_pu__BRA__{i}__KET__")).count() > 0;
        assert_eq!([left(0), left(1), left(2)], [true, true, false]);
    }
}

//! Scanner for Verilator's C++. Hand-written: compiling a regular-expression library took longer than the rest of
//! this crate, and a small one takes seconds on the megabytes of a model.

use std::ops::Range;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// End of the word that contains position `from`.
fn word_end(text: &str, from: usize) -> usize {
    let more = text.as_bytes()[from..].iter().take_while(|&&byte| is_word(byte)).count();
    from + more
}

/// Start of the word that ends at `end`.
pub(crate) fn word_start(text: &str, end: usize) -> usize {
    let more = text.as_bytes()[..end].iter().rev().take_while(|&&byte| is_word(byte)).count();
    end - more
}

/// Splits the leading word off a text; `None` if there is none.
pub(crate) fn split_word(text: &str) -> Option<(&str, &str)> {
    Some(text.split_at(word_end(text, 0))).filter(|(word, _)| !word.is_empty())
}

/// Rest of a text after its leading digits; `None` without a digit.
pub(crate) fn behind_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// Head of a member function of a module's class: the line `void NAME(CLASS* vlSelf) {`.
pub(crate) struct Head<'a> {
    pub(crate) span: Range<usize>,
    pub(crate) name: &'a str,
    pub(crate) class: &'a str,
}

pub(crate) fn heads(text: &str) -> impl Iterator<Item = Head<'_>> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let span = at..at + line.len();
        at = span.end;
        let (name, class) = head(line)?;
        Some(Head { span, name, class })
    })
}

fn head(line: &str) -> Option<(&str, &str)> {
    let mut rest = line;
    while let Some(attribute) = rest.strip_prefix("VL_") {
        rest = split_word(attribute)?.1.strip_prefix(' ')?;
    }
    let (name, rest) = split_word(rest.strip_prefix("void ")?)?;
    let (class, rest) = split_word(rest.strip_prefix('(')?)?;
    (rest == "* vlSelf) {\n").then_some((name, class))
}

/// Name of a numbered temporary: of an inlined function, up to its variable (`__Vfunc_after__17__`), index of a
/// look-up table (`__Vtableidx3`), or a wide expression, named by a hash that includes the instance's path
/// (`__Vtemp_h1b5__0`). Each kind is numbered separately.
pub(crate) struct Temporary<'a> {
    pub(crate) span: Range<usize>,
    /// Text before the number.
    pub(crate) kind: &'a str,
    pub(crate) number: &'a str,
    /// `__` if the name continues after the number.
    pub(crate) after: &'a str,
}

/// Finds all, without those nested in an earlier one.
pub(crate) fn temporaries(text: &str) -> impl Iterator<Item = Temporary<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].find("__V")?;
            if let Some(found) = temporary(text, at) {
                at = found.span.end;
                return Some(found);
            }
            at += 1;
        }
    })
}

/// Parses the one that starts at `at`.
fn temporary(text: &str, at: usize) -> Option<Temporary<'_>> {
    let rest = &text[at..];
    let (number, numbered) = if let Some(fixed) =
        ["__Vtableidx", "__Vtemp_", "__Vlabel"].into_iter().find(|fixed| rest.starts_with(fixed))
    {
        (at + fixed.len(), number(text, at + fixed.len())?)
    } else if rest.starts_with("__Vfunc_") || rest.starts_with("__Vtask_") {
        // The function's name may have such parts too: the first that a number follows is its end, but for
        // the number of a block that it lies in.
        let name = at + "__Vfunc_".len();
        (name + 1..word_end(text, name)).find_map(|end| {
            let begin = end + "__".len();
            let ends = text[end..].starts_with("__") && !text[at..end].ends_with("__BRA");
            ends.then(|| number(text, begin)).flatten().map(|n| (begin, n))
        })?
    } else {
        return None;
    };
    let end = if text[numbered..].starts_with("__") { numbered + 2 } else { numbered };
    Some(Temporary {
        span: at..end,
        kind: &text[at..number],
        number: &text[number..numbered],
        after: &text[numbered..end],
    })
}

/// End of the number, or of the hash with a number, that starts at `at`; the word may only continue after
/// `__`.
fn number(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let behind = match rest.strip_prefix('h') {
        Some(hash) => {
            let more = hash.trim_start_matches(|c: char| matches!(c, '0'..='9' | 'a'..='f'));
            let hashed = Some(more).filter(|more| more.len() < hash.len())?;
            behind_digits(hashed.strip_prefix("__")?)?
        }
        None => behind_digits(rest)?,
    };
    let ended = behind.starts_with("__") || !behind.bytes().next().is_some_and(is_word);
    ended.then_some(text.len() - behind.len())
}

/// Start of the word at `at` if it is a member access, after `->` or a dot.
pub(crate) fn member(text: &str, at: usize) -> Option<usize> {
    let word = word_start(text, at);
    (text[..word].ends_with("->") || text[..word].ends_with('.')).then_some(word)
}

/// Message of an assertion: `"TEXT%NPATH:TEXT", 64, VL_TIME_UNITED_Q(1), -12, vlSymsp->name()`.
pub(crate) struct Message {
    pub(crate) span: Range<usize>,
    /// Path of the scope.
    pub(crate) path: Range<usize>,
    /// Start of the model's name, which precedes the path.
    pub(crate) name: usize,
}

/// All messages.
pub(crate) fn messages(text: &str) -> impl Iterator<Item = Message> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text[at..].find('"')?;
            if let Some(found) = message(text, at) {
                at = found.span.end;
                return Some(found);
            }
            at += 1;
        }
    })
}

/// Parses the message with the first quote of its text at `quote`.
fn message(text: &str, quote: usize) -> Option<Message> {
    let (shown, rest) = text[quote + 1..].split_once('"')?;
    let scope = shown[..shown.rfind(':')?].rfind("%N")? + "%N".len();
    let path = quote + 1 + scope;
    let path = path..path + shown[scope..].find(':')?;
    let mut rest = rest.strip_prefix(',')?;
    for argument in ["64,", "VL_TIME_UNITED_Q(1),", "-12,"] {
        rest = rest.trim_start().strip_prefix(argument)?;
    }
    let rest = rest.trim_start();
    let behind = rest.strip_prefix("vlSymsp->name()")?;
    Some(Message { span: quote..text.len() - behind.len(), path, name: text.len() - rest.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporaries_end_at_their_numbers() {
        let text = "__Vfunc_after__17__a = __Vtask_f__0; b.__Vtableidx3 + __Vtemp_h1b5__0[0U] + \
                    x__Vfunc_on__Vfunc_two__2__3__b, __Vtemp_12; goto __Vlabel7; \
                    __Vfunc_gen__BRA__5__KET____DOT__same__9__a;";
        let found: Vec<_> = temporaries(text).map(|t| (t.kind, t.number, t.after)).collect();
        let wanted = [
            ("__Vfunc_after__", "17", "__"),
            ("__Vtask_f__", "0", ""),
            ("__Vtableidx", "3", ""),
            ("__Vtemp_", "h1b5__0", ""),
            ("__Vfunc_on__Vfunc_two__", "2", "__"),
            ("__Vtemp_", "12", ""),
            ("__Vlabel", "7", ""),
            ("__Vfunc_gen__BRA__5__KET____DOT__same__", "9", "__"),
        ];
        assert_eq!(found, wanted);
        // No number, one in a word, a hash without one, a name that is none, another variable of Verilator's.
        for none in
            ["__Vfunc_f__a", "__Vtableidx3a", "__Vtemp_h1b5", "__Vfunc___1", "__Vdly__a__1", "__V"]
        {
            assert_eq!(temporaries(none).count(), 0, "{none}");
        }
    }

    #[test]
    fn a_member_is_behind_an_arrow_or_a_dot() {
        let at = |text: &str| member(text, text.find("__V").unwrap());
        assert_eq!(at("vlSelf->__Vtableidx3"), Some(8));
        assert_eq!(at("vlSelf->i_pu__DOT____Vtableidx3"), Some(8));
        assert_eq!(at("TOP.x__Vtableidx3"), Some(4));
        assert_eq!(at("a > __Vtableidx3"), None);
        assert_eq!(at("__Vtableidx3"), None);
    }

    #[test]
    fn heads_are_lines_of_functions_of_classes() {
        let line = "VL_INLINE_OPT VL_ATTR_COLD void Vx_pu___nba__0(Vx_pu* vlSelf) {\n";
        let text =
            ["// text\n", line, "    void a(b* vlSelf) {\n", "void c(int d) {\n", line].concat();
        let found: Vec<_> = heads(&text).map(|h| (h.name, h.class, &text[h.span])).collect();
        assert_eq!(found, [("Vx_pu___nba__0", "Vx_pu", line); 2]);
        assert_eq!(heads(line.trim_end()).count(), 0);
    }

    #[test]
    fn messages_have_the_path_behind_the_last_scope() {
        let text = "f(\"a\", \"b: %N c %Ncore.x: full: d\",\n  64,VL_TIME_UNITED_Q(1), -12,vlSymsp->name());\
                    g(\"%Ncore.y: e\", 32, VL_TIME_UNITED_Q(1), -12, vlSymsp->name());";
        let found: Vec<_> =
            messages(text).map(|m| (&text[m.path], &text[m.name..m.span.end])).collect();
        assert_eq!(found, [("core.x", "vlSymsp->name()")]);
    }
}

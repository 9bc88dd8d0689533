//! Filters from text.

use std::str::FromStr;

use gramer_base::error::{Error, Result, quote};

use super::{
    Attribute, Comparison, Condition, Filter, Operand, PatternComparison, PatternCondition,
    Relation, Variable,
};
use crate::{named, similar};

/// Maximum length of a filter's text in characters.
const LONGEST: usize = 10_000;

impl FromStr for Filter {
    type Err = Error;

    /// Reads the language of the [module](super).
    ///
    /// # Errors
    /// [`Error::Usage`] with the text, the number of the first wrong character (from 1), and what may stand there.
    fn from_str(text: &str) -> Result<Self> {
        let reader = Reader { text, characters: text.chars().collect(), at: 0 };
        if reader.characters.len() > LONGEST {
            return Err(Error::usage(format!("the filter has more than {LONGEST} characters")));
        }
        reader.filter()
    }
}

/// What a comparison may begin with, and its right side.
const COMPARISON: &str =
    "`label(u)`, `degree(u)`, `size`, `pattern`, `adjacent(u, v)`, `not` or a number";
const RIGHT: &str = "`label(u)`, `degree(u)`, `size` or a number";

/// A comparison of a condition.
enum Part {
    Vertices(Comparison),
    Pattern(PatternComparison),
}

struct Reader<'a> {
    text: &'a str,
    characters: Vec<char>,
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, at: usize, what: impl std::fmt::Display) -> Error {
        Error::usage(format!("the filter {}, character {}: {what}", quote(self.text), at + 1))
    }

    /// Error at the next word or sign.
    fn expected(&self, what: &str) -> Error {
        let rest = &self.characters[self.at..];
        let word: String = rest.iter().take_while(|c| c.is_alphanumeric()).collect();
        match rest.first() {
            None => self.wrong(self.at, format_args!("the filter ends here; expected {what}")),
            Some(c) if word.is_empty() => {
                let found = quote(c.to_string());
                self.wrong(self.at, format_args!("{found} is not {what}"))
            }
            Some(_) => self.wrong(self.at, format_args!("{} is not {what}", quote(word))),
        }
    }

    fn spaces(&mut self) {
        while self.characters.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Takes a sign if it comes next.
    fn sign(&mut self, sign: &str) -> bool {
        self.spaces();
        let length = sign.chars().count();
        let comes = self.characters[self.at..].iter().take(length).copied().eq(sign.chars());
        self.at += if comes { length } else { 0 };
        comes
    }

    /// Takes a word if it comes next and no longer one does.
    fn word(&mut self, word: &str) -> bool {
        let before = self.at;
        let comes = self.sign(word)
            && !self.characters.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
        if !comes {
            self.at = before;
            self.spaces();
        }
        comes
    }

    fn filter(mut self) -> Result<Filter> {
        let mut filter = Filter { vertices: vec![], patterns: vec![] };
        loop {
            self.condition(&mut filter)?;
            if !self.sign(",") {
                break;
            }
        }
        self.spaces();
        match self.at < self.characters.len() {
            true => Err(self.expected("`,`, `or` or the end")),
            false => Ok(filter),
        }
    }

    fn condition(&mut self, filter: &mut Filter) -> Result<()> {
        self.spaces();
        let begins = self.at;
        let mut all = vec![self.comparison()?];
        while self.word("or") {
            all.push(self.comparison()?);
        }
        if all.iter().any(|part| matches!(part, Part::Pattern(_))) {
            let of_patterns = |part| match part {
                Part::Pattern(comparison) => Ok(comparison),
                Part::Vertices(size) if size.is_of_size() => Ok(PatternComparison::Size(size)),
                Part::Vertices(_) => {
                    let what = "a condition with `pattern` may otherwise compare only `size` with a number";
                    Err(self.wrong(begins, what))
                }
            };
            let all: Result<_> = all.into_iter().map(of_patterns).collect();
            filter.patterns.push(PatternCondition(all?));
            return Ok(());
        }
        let of_vertices = |part| match part {
            Part::Vertices(comparison) => Some(comparison),
            Part::Pattern(_) => None,
        };
        let comparisons: Vec<Comparison> = all.into_iter().filter_map(of_vertices).collect();
        // Both (u, v) and (v, u) must pass.
        if let [Comparison::Numbers(Operand::Of(a, x), relation, Operand::Of(b, y))] =
            comparisons[..]
            && a == b
            && x != y
            && matches!(relation, Relation::Less | Relation::Greater)
        {
            let what = "no pair of vertices passes: a condition must hold for a pair in both orders; use `!=`, or \
                        join it with another by `or`";
            return Err(self.wrong(begins, what));
        }
        filter.vertices.push(Condition(comparisons));
        Ok(())
    }

    fn comparison(&mut self) -> Result<Part> {
        let mut negated = false;
        while self.word("not") {
            negated = !negated;
        }
        if self.word("adjacent") {
            self.pair()?;
            return Ok(Part::Vertices(Comparison::Adjacent(!negated)));
        }
        if self.word("pattern") {
            return self.named(negated).map(Part::Pattern);
        }
        let begins = self.at;
        let left = self.operand(COMPARISON)?;
        let relation = self.relation()?;
        let right_at = {
            self.spaces();
            self.at
        };
        let right = self.operand(RIGHT)?;
        match (left, right) {
            (Operand::Number(_), Operand::Number(_)) => {
                return Err(
                    self.wrong(begins, "both sides are numbers; one must be of a vertex or `size`")
                );
            }
            (Operand::Size, Operand::Size | Operand::Of(..)) | (Operand::Of(..), Operand::Size) => {
                return Err(self.wrong(right_at, "`size` is compared with a number"));
            }
            (Operand::Of(a, _), Operand::Of(b, _)) if a != b => {
                return Err(self.wrong(
                    right_at,
                    "a label is compared with a label or a number, a degree with a degree",
                ));
            }
            (Operand::Of(_, x), Operand::Of(_, y)) if x == y => {
                return Err(self.wrong(right_at, "both sides are of one vertex; compare u with v"));
            }
            _ => {}
        }
        let relation = if negated { relation.negated() } else { relation };
        Ok(Part::Vertices(Comparison::Numbers(left, relation, right)))
    }

    /// What follows `pattern`.
    fn named(&mut self, negated: bool) -> Result<PatternComparison> {
        let equal = match (self.sign("=="), self.sign("!=")) {
            (false, false) => return Err(self.expected("`==` or `!=`")),
            (equal, _) => equal,
        };
        self.spaces();
        let of_name = |c: &&char| c.is_alphanumeric() || "-.+,".contains(**c);
        let mut name: String = self.characters[self.at..].iter().take_while(of_name).collect();
        // A comma may be of the name, as in `K3,3`, or follow it.
        while named(&name).is_none() && name.contains(',') {
            name.truncate(name.rfind(',').unwrap_or_default());
        }
        let Some(pattern) = named(&name) else {
            let known = match similar(&name).first() {
                Some(similar) => format!("; did you mean {similar}?"),
                None => ", such as `triangle` or `4-cycle`".into(),
            };
            let what = format!("{} is not the name of a pattern{known}", quote(&name));
            return Err(self.wrong(self.at, what));
        };
        if pattern.vertices() < 2 || !pattern.is_connected() {
            let what = format!("{} is not a connected pattern of 2 vertices or more", quote(&name));
            return Err(self.wrong(self.at, what));
        }
        self.at += name.chars().count();
        Ok(PatternComparison::Is { name, pattern, wanted: equal != negated })
    }

    /// `(u, v)` or `(v, u)`.
    fn pair(&mut self) -> Result<()> {
        self.punctuation("(")?;
        let first = self.variable()?;
        self.punctuation(",")?;
        self.spaces();
        let at = self.at;
        if self.variable()? == first {
            return Err(self.wrong(at, "no vertex is adjacent to itself; write `adjacent(u, v)`"));
        }
        self.punctuation(")")
    }

    /// An operand; `expected` is what may stand there.
    fn operand(&mut self, expected: &str) -> Result<Operand> {
        for (word, attribute) in [("label", Attribute::Label), ("degree", Attribute::Degree)] {
            if self.word(word) {
                self.punctuation("(")?;
                let variable = self.variable()?;
                self.punctuation(")")?;
                return Ok(Operand::Of(attribute, variable));
            }
        }
        if self.word("size") {
            return Ok(Operand::Size);
        }
        self.spaces();
        let begins = self.at;
        let digits: String =
            self.characters[begins..].iter().take_while(|c| c.is_ascii_digit()).collect();
        if digits.is_empty() {
            return Err(self.expected(expected));
        }
        self.at += digits.len();
        let number = digits.parse().map_err(|_| {
            self.wrong(begins, format_args!("{} is above {}", quote(&digits), u32::MAX))
        })?;
        Ok(Operand::Number(number))
    }

    fn relation(&mut self) -> Result<Relation> {
        // The longer signs come first.
        match Relation::SIGNS.iter().find(|(_, sign)| self.sign(sign)) {
            Some((relation, _)) => Ok(*relation),
            None => Err(self.expected("`==`, `!=`, `<`, `<=`, `>` or `>=`")),
        }
    }

    fn variable(&mut self) -> Result<Variable> {
        if self.word("u") {
            Ok(Variable::U)
        } else if self.word("v") {
            Ok(Variable::V)
        } else {
            Err(self.expected("`u` or `v`"))
        }
    }

    fn punctuation(&mut self, sign: &str) -> Result<()> {
        match self.sign(sign) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{sign}`"))),
        }
    }
}

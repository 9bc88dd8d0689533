// set_plan_walker against a walk through random plans that was written down before: each operation with what is
// answered to it. Sets have any number of lines here, and any of their entries are candidates; where sets
// lie follows from the marks and rewinds alone.
#include "set_plans.hpp"

namespace {

struct Stored {
  unsigned first_max = 0, lines = 0, base = 0;
};
/// What comes next: an operation with its answer, or the end of a unit.
struct Event {
  bool done = false;
  unsigned level = 0;
  Operation op;
  unsigned lines = 0, lanes = 0, cut = 0; // make: lines of the set; walk: candidates
  Line line = {};
};

/// Writes a walk down, and decides what the sets are.
struct Walk {
  Bench &b;
  const std::vector<Word> &words;
  const Labels &labels;
  uint32_t first, last;
  std::deque<Event> &events;
  std::vector<uint32_t> entries;
  std::vector<Stored> sets = std::vector<Stored>(PLAN_SETS);

  Event event(const Word &w) const {
    Event e;
    e.op.word = w, e.level = unsigned(entries.size()) - 1;
    for (size_t v = 0; v < entries.size(); ++v) e.op.images[v] = entries[v] & ID;
    if (w.streams) e.op.source = entries[w.of];
    e.op.low = labels.low[w.label], e.op.limit = labels.high[w.label];
    return e;
  }
  void level(size_t at, unsigned top) {
    bool empty = false;
    for (const bool root = entries.size() == 1;; ++at) {
      const Word &w = words[at];
      Event e = event(w);
      if (w.kind == WORD_COUNT) {
        events.push_back(e);
        b.hit("terms", w.term == TERM_LAST);
        if (w.term == TERM_FIRST || w.term == TERM_SECOND) continue;
        return;
      }
      if (w.kind == WORD_MAKE) {
        e.lines = b.chance(10) ? 0 : b.chance(70) ? 1 : 1 + b.random(4);
        sets[w.to] = {unsigned(b.random(ID)), e.lines, top};
        top += e.lines, empty |= !e.lines;
        events.push_back(e);
        b.hit("an empty set", !e.lines), b.hit("a set made again", !root && e.lines);
        continue;
      }
      const Stored set = sets[w.from];
      unsigned from = root ? first : 0, to = root ? std::min(last, set.lines) : set.lines;
      b.hit("a range of lines", root && from < to && (from || to < set.lines));
      b.hit("a range without lines", root && from >= to && set.lines);
      if (empty || from >= to) return;
      for (unsigned line = from; line < to; ++line) {
        e.op.at = set.base + line, e.line = random_line(b), e.lanes = 0;
        if (events.size() < 2000) {
          if (b.chance(4)) e.lanes = 0xffff;
          else for (unsigned left = b.random(4); left; --left) e.lanes |= 1u << b.random(16);
        }
        e.cut = b.chance(15);
        events.push_back(e);
        b.hit("no candidate in a line", !e.lanes), b.hit("every lane a candidate", e.lanes == 0xffff);
        b.hit("cut before the last line", e.cut && line + 1 < to), b.hit("several lines of candidates", line > from);
        const auto candidates = e.line;
        for (unsigned lane = 0; lane < 16; ++lane) {
          if (!(e.lanes >> lane & 1)) continue;
          entries.push_back(candidates[lane]);
          level(at + 1, top);
          entries.pop_back();
        }
        if (e.cut) return;
      }
      return;
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  Bench b("set_plan_walker",
          {"a level", "two levels", "all levels", "as many words as there are", "one word on a level", "several sets on a level", "an empty set",
           "a set made again", "a range of lines", "a range without lines", "no candidate in a line", "every lane a candidate",
           "several lines of candidates", "cut before the last line", "operations wait", "operations are taken at once", "answers at once",
           "answers late", "several units", "a unit at once behind another", "a mark at each level", "a rewind at each level", "a label", "another label than before", "waits for its set", "terms", "reset in between"},
          argc, argv);
  auto &d = *b.dut;
  d.word_write_i = d.unit_valid_i = d.op_ready_i = d.made_i = d.walked_i = d.empty_i = 0;
  uint32_t marked = 0, rewound = 0;
  unsigned labelled = 0;
  for (int n = 0; n < 160; ++n) {
    d.unit_valid_i = d.op_ready_i = d.made_i = d.walked_i = d.empty_i = 0;
    b.reset(d.rst_i);
    // A plan: on each level some sets, then a walk, and a count on the last.
    const unsigned levels = n % 10 == 9 ? PLACED : 1 + b.random(n % 2 ? 3 : PLACED);
    std::vector<Word> words;
    auto filled = [&](unsigned level) {
      Word w;
      w.difference = b.random(2), w.pairs = b.random(2), w.stored = b.random(2), w.streams = b.random(2), w.of = b.random(level + 1);
      w.from = b.random(PLAN_SETS), w.to = b.random(PLAN_SETS), w.bounds = b.random(128), w.conflicts = b.random(128);
      w.label = b.random(PLAN_LABELS);
      return w;
    };
    const bool wide = n % 10 == 9;
    for (unsigned l = 0; l < levels; ++l) {
      const bool last = l + 1 == levels;
      const unsigned sets = wide ? (PLAN_WORDS - levels) / levels + (l < (PLAN_WORDS - levels) % levels) : b.random(3) + (!last && l == 0);
      std::vector<unsigned> made;
      for (unsigned s = 0; s < sets; ++s) {
        Word w = filled(l);
        w.kind = WORD_MAKE;
        words.push_back(w), made.push_back(w.to);
      }
      Word w = filled(l);
      w.kind = last ? WORD_COUNT : WORD_WALK;
      // Along a set that there is: one of this level, or one of the root's that stays.
      if (!last) w.from = made.empty() ? words[0].to : made[b.random(made.size())];
      if (last && !wide && b.chance(30)) {
        for (unsigned term : {TERM_FIRST, TERM_SECOND}) {
          Word first = filled(l);
          first.kind = WORD_COUNT, first.term = term;
          words.push_back(first);
        }
        w.term = TERM_LAST;
      }
      words.push_back(w);
      b.hit("one word on a level", sets == 0 && l), b.hit("several sets on a level", sets > 1);
    }
    // A set that later words overwrite no longer belongs to the root; every level then has its own sets.
    for (size_t at = 1; at < words.size(); ++at)
      if (words[at].kind == WORD_MAKE && words[at].to == words[0].to) words[at].to = (words[0].to + 1) % PLAN_SETS;
    for (size_t at = 0, begin = 0; at < words.size(); ++at) {
      if (words[at].kind == WORD_MAKE) continue;
      if (words[at].kind == WORD_WALK) words[at].from = at > begin ? words[begin + b.random(at - begin)].to : words[0].to;
      begin = at + 1;
    }
    b.hit("a level", levels == 1), b.hit("two levels", levels == 2), b.hit("all levels", levels == PLACED);
    b.hit("as many words as there are", words.size() == PLAN_WORDS);
    const Labels labels(b, ID);
    write_plan(b, d, labels, words);

    std::deque<Event> events;
    std::deque<uint64_t> units;
    for (unsigned u = 1 + b.random(4); u; --u) {
      const uint32_t root = uint32_t(b.random(ID)) | uint32_t(1 + b.random(63)) << ID_W;
      const bool range = b.chance(40);
      Walk walk{b, words, labels, range ? uint32_t(b.random(3)) : 0, range ? uint32_t(b.random(4)) : uint32_t(LAST_ALL), events, {root}};
      walk.level(0, 0);
      Event done;
      done.done = true;
      events.push_back(done);
      units.push_back(uint64_t(root & ID) | uint64_t(root >> ID_W) << 26 | uint64_t(walk.first) << 40 | uint64_t(walk.last) << 52);
    }
    b.hit("several units", units.size() > 2);

    // The packer's part: a stack of lines, the table of sets.
    std::vector<Stored> table(PLAN_SETS);
    std::vector<unsigned> mark(PLACED);
    unsigned top = 0;
    bool empty = false;
    struct Made { uint64_t when; unsigned to, lines; };
    std::deque<Made> making;
    Event walked;
    uint64_t walked_at = 0;
    const unsigned late = b.chance(50) ? 0 : 30, ready = b.chance(50) ? 100 : 40;
    b.hit("answers at once", !late), b.hit("answers late", late), b.hit("operations are taken at once", ready == 100);
    Stored shown;
    const size_t stop = n % 20 == 19 ? events.size() / 2 : 0;
    uint64_t limit = 3'000'000, quiet = 0;
    while (quiet < 10) {
      d.unit_valid_i = !units.empty();
      if (!units.empty()) d.unit_i = units.front();
      d.op_ready_i = b.chance(ready);
      d.made_i = !making.empty() && making.front().when <= b.cycle;
      if (d.made_i) {
        const Made &m = making.front();
        table[m.to] = {unsigned(b.random(ID)), m.lines, top};
        top += m.lines, empty |= !m.lines;
        making.pop_front();
      }
      d.empty_i = empty;
      d.walked_i = walked_at && walked_at <= b.cycle;
      if (d.walked_i) walked_at = 0;
      drive(d.walked_line_i, d.walked_i ? walked.line : random_line(b));
      d.walked_lanes_i = d.walked_i ? walked.lanes : b.random(1 << 16), d.walked_cut_i = d.walked_i ? walked.cut : b.random(2);
      pack(d.set_i, {{shown.first_max, ID_W}, {shown.lines, place_bits() + 1}, {shown.base, place_bits()}});
      b.settle();
      b.hit("operations wait", d.op_valid_o && !d.op_ready_i);
      b.equal(d.unit_take_o, d.unit_valid_i && d.idle_o, "a unit is taken");
      if (!making.empty() && !d.op_valid_o && !events.empty() && !events.front().done && events.front().op.word.kind != WORD_WALK)
        for (const Made &m : making) b.hit("waits for its set", events.front().op.word.stored && m.to == events.front().op.word.from);
      if (d.unit_take_o) {
        b.check(!units.empty(), "a unit that isn't there");
        b.hit("a unit at once behind another", d.unit_done_o);
        units.pop_front();
      }
      if (d.unit_done_o) {
        b.check(!events.empty() && events.front().done, "plan %d: a unit ends too early", n);
        events.pop_front();
      }
      if (d.op_valid_o) {
        b.check(!events.empty() && !events.front().done, "plan %d: an operation too much", n);
        const Event &e = events.front();
        const auto got = unpack(d.op_o, operation_widths());
        b.equal(got[1], e.op.word.bits(), "the word");
        for (const Made &m : making)
          b.check(e.op.word.kind == WORD_WALK || !e.op.word.stored || m.to != e.op.word.from, "a set is used before it is there");
        if (e.op.word.kind == WORD_WALK) b.equal(got[2], e.op.at, "the line of the set");
        if (e.op.word.streams && e.op.word.kind != WORD_WALK) b.equal(got[3], e.op.source, "the list");
        b.equal(got[4], e.op.low, "the range of the label"), b.equal(got[5], e.op.limit, "its end");
        b.hit("a label", e.op.word.label), b.hit("another label than before", e.op.word.label != labelled);
        labelled = e.op.word.label;
        for (unsigned v = 0; v <= e.level; ++v) b.equal(got[6 + PLACED - 1 - v], e.op.images[v], "an image");
        if (d.op_ready_i) {
          if (e.op.word.kind == WORD_MAKE) {
            const uint64_t earliest = making.empty() ? b.cycle : making.back().when;
            making.push_back({std::max(b.cycle, earliest) + 1 + (late ? b.random(late) : 0), e.op.word.to, e.lines});
          } else if (e.op.word.kind == WORD_WALK) {
            walked = e, walked_at = b.cycle + 1 + (late ? b.random(late) : 0);
          }
          events.pop_front();
        }
      }
      if (d.mark_o) {
        b.check(d.level_o < PLACED, "a mark of a level that there isn't");
        mark[d.level_o] = top, marked |= 1u << d.level_o;
      }
      if (d.rewind_o) {
        b.check(making.empty(), "a rewind while a set is made");
        top = d.level_o ? mark[d.level_o] : 0, empty = false, rewound |= 1u << d.level_o;
      }
      b.check(d.busy_o || (making.empty() && !walked_at), "idle while something is made");
      b.hit("a mark at each level", marked == (1u << PLACED) - 2), b.hit("a rewind at each level", rewound == (1u << PLACED) - 1);
      shown = table[d.set_o];
      b.rise();
      quiet = units.empty() && !d.busy_o ? quiet + 1 : 0;
      b.check(--limit, "plan %d does not end: %zu events are left", n, events.size());
      if (stop && events.size() < stop) break;
    }
    if (stop && !events.empty()) {
      b.hit("reset in between");
      continue;
    }
    b.check(events.empty(), "plan %d: %zu events are missing", n, events.size());
  }
  return b.end();
}

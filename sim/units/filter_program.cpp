// filter_program against its rule: conditions of several words, of which one must hold, for each earlier vertex if the
// condition is about pairs. The bench writes and copies rows as the scheduler does, and candidates come only from events
// that the program lets through. Without a filter everything passes in the same cycle.
#include "messages.hpp"
#include <deque>

using W = FilterWord;

struct Attributes {
  uint32_t degree, label;
};

/// What a word says of the new vertex and an earlier one.
static bool holds(const W &word, const Found &f, const Attributes &other, bool adjacent) {
  const uint32_t left = word.left == W::NEW_LABEL    ? f.record.label
                        : word.left == W::NEW_DEGREE ? f.record.degree
                        : word.left == W::SIZE       ? f.size + 1
                                                     : word.constant;
  const uint32_t right = word.right == W::OTHER_LABEL    ? other.label
                         : word.right == W::OTHER_DEGREE ? other.degree
                         : word.right == W::ADJACENT     ? adjacent
                                                         : word.constant;
  const bool related = word.relation == W::EQUAL ? left == right : word.relation == W::LESS ? left < right : left > right;
  return related != word.negated;
}

/// Any filter of so many words.
static std::vector<W> random_words(Bench &b, unsigned length) {
  std::vector<W> words;
  for (unsigned w = 0; w < length; ++w) {
    W word;
    word.pairs = w && !words.back().ends ? words.back().pairs : b.chance(70);
    word.left = word.pairs ? b.random(4) : b.chance(30) ? unsigned(W::SIZE) : b.random(2);
    word.right = !word.pairs ? W::RIGHT_CONSTANT : word.left == W::LEFT_CONSTANT ? b.random(3) : b.random(4);
    word.relation = b.random(3);
    word.constant = b.chance(10) ? ~0u : uint32_t(b.random(4));
    word.negated = b.chance(50);
    word.ends = w + 1 == length || b.chance(50);
    word.last = w + 1 == length;
    words.push_back(word);
  }
  return words;
}

/// Whether a candidate is refused; the corners that it meets.
static bool refuses(Bench &b, const std::vector<W> &words, const Found &f, const Attributes *row) {
  bool refused = false;
  for (size_t begin = 0, end; begin < words.size(); begin = end + 1) {
    for (end = begin; !words[end].ends;) ++end;
    const bool pairs = words[begin].pairs;
    const unsigned positions = pairs ? f.size : 1;
    unsigned failing = 0, failed = 0;
    for (unsigned p = 0; p < positions; ++p) {
      bool met = false;
      for (size_t w = begin; w <= end; ++w) {
        const W &word = words[w];
        const bool yes = holds(word, f, row[p], f.mask >> p & 1);
        b.hit("a later word holds", w > begin && !met && yes);
        b.hit("label of the new vertex", word.left == W::NEW_LABEL && yes);
        b.hit("degree of the new vertex", word.left == W::NEW_DEGREE && yes);
        b.hit("size", word.left == W::SIZE && yes && f.size > 0);
        b.hit("adjacency", word.right == W::ADJACENT && yes);
        b.hit("a constant with an earlier vertex", word.left == W::LEFT_CONSTANT && word.right < W::ADJACENT && yes);
        b.hit("equal", word.relation == W::EQUAL && yes);
        b.hit("less", word.relation == W::LESS && yes);
        b.hit("greater", word.relation == W::GREATER && yes);
        b.hit("largest degree", word.right == W::OTHER_DEGREE && row[p].degree == ~0u && yes);
        met |= yes;
      }
      if (!met && !failing++) failed = p;
    }
    b.hit("only the last position fails", positions > 2 && failing == 1 && failed + 1 == positions);
    b.hit("only the first position fails", positions > 2 && failing == 1 && failed == 0);
    b.hit("a pair refused", pairs && failing);
    b.hit("a vertex refused", !pairs && failing);
    b.hit("a later condition fails", begin && !refused && failing);
    refused |= failing != 0;
  }
  b.hit("start vertex", f.size == 0 && !refused);
  b.hit("start vertex refused", f.size == 0 && refused);
  b.hit("deepest embedding", f.size + 1 == DEPTH);
  return refused;
}

int main(int argc, char **argv) {
  Bench b("filter_program",
          {"no filter", "one word", "all words", "a candidate in each cycle", "as close as the words allow",
           "start vertex", "start vertex refused", "deepest embedding", "only the last position fails",
           "only the first position fails", "a pair refused", "a vertex refused", "a later word holds",
           "a later condition fails", "label of the new vertex", "degree of the new vertex", "size", "adjacency",
           "a constant with an earlier vertex", "equal", "less", "greater", "largest degree", "row copied",
           "copied row changed after", "filter of another run", "reset under way"},
          argc, argv);
  auto &d = *b.dut;
  Attributes rows[16][16] = {};
  d.word_write_i = d.write_i = d.copy_i = d.valid_i = d.filters_i = 0;
  b.reset(d.rst_i);
  int fresh = -1;
  // Attributes that are often equal.
  const auto degree = [&]() { return b.chance(5) ? ~0u : uint32_t(b.random(4)); };
  const auto label = [&]() { return uint32_t(b.random(1 << LABEL_W)); };
  for (unsigned run = 0; run < 400; ++run) {
    const bool filters = run % 8 != 7;
    const unsigned length = run % 8 == 0 ? 1 : run % 8 == 1 ? FILTER_WORDS : 1 + b.random(FILTER_WORDS);
    const std::vector<W> words = random_words(b, length);
    b.hit("no filter", !filters);
    b.hit("one word", filters && length == 1);
    b.hit("all words", filters && length == FILTER_WORDS);
    b.hit("filter of another run", run > 8 && filters);
    d.filters_i = filters;
    // The rest of the beat is 0.
    for (unsigned w = 0; filters && w < 8; ++w) {
      d.word_write_i = 1;
      d.word_at_i = w;
      d.word_i = w < length ? words[w].number() : 0;
      b.tick();
    }
    d.word_write_i = 0;
    for (unsigned at = 0; run % 20 == 0 && at < SLOTS * DEPTH; ++at) {
      const unsigned s = at / DEPTH, p = at % DEPTH;
      rows[s][p] = {degree(), label()};
      d.write_i = 1, d.row_i = s, d.lane_i = p, d.degree_i = rows[s][p].degree, d.label_i = rows[s][p].label;
      b.tick();
    }
    d.write_i = 0;
    struct Expected {
      Found of;
      bool refused;
      uint64_t due;
    };
    std::deque<Expected> expected;
    std::deque<bool> events(4); // on their way through the extender
    uint64_t latest = 0;
    unsigned streak = 0;
    const unsigned rate = run % 3 == 0 ? 100 : 50;
    for (unsigned n = 0; n < 300; ++n) {
      const bool resets = run % 50 == 49 && n == 200;
      d.rst_i = resets;
      d.valid_i = events.front() && n < 280;
      events.pop_front();
      Found f;
      f.slot = b.random(SLOTS);
      f.size = b.chance(10) ? 0 : b.chance(10) ? DEPTH - 1 : b.random(b.chance(50) ? 4 : DEPTH);
      f.last = b.chance(30);
      f.vertex = uint32_t(b.random());
      f.mask = f.size ? b.random(1u << f.size) : 0;
      f.key = b.random(1 << KEY_W);
      f.record = {b.random(1ull << EDGE_W), degree(), label()};
      f.cursor = {unsigned(b.random(DEPTH)), unsigned(b.random(DEPTH)), b.random(1ull << EDGE_W), b.random(1ull << EDGE_W)};
      f.drive(d.found_i);
      // Rows change, but not those of candidates under test.
      const auto tested = [&](unsigned slot) {
        for (const Expected &e : expected)
          if (e.of.slot == slot) return true;
        return d.valid_i && f.slot == slot;
      };
      const unsigned row = b.random(SLOTS), to = b.random(SLOTS), lane = b.random(DEPTH);
      const Attributes value{degree(), label()};
      d.row_i = row, d.lane_i = lane, d.degree_i = value.degree, d.label_i = value.label, d.copy_to_i = to;
      d.write_i = b.chance(30) && !tested(row);
      d.copy_i = !d.write_i && b.chance(10) && !tested(to);
      b.settle();

      if (d.valid_i && !resets) {
        const bool refused = filters && refuses(b, words, f, rows[f.slot]);
        b.hit("as close as the words allow", filters && !expected.empty() && b.cycle - latest == length && length > 1);
        // One cycle to read the row, one a word, one for the verdict.
        expected.push_back({f, refused, filters ? b.cycle + length + 2 : b.cycle});
        latest = b.cycle;
        b.hit("a candidate in each cycle", filters && length == 1 && ++streak > 20);
      } else {
        streak = 0;
      }
      const bool due = !expected.empty() && expected.front().due == b.cycle;
      if (!resets) b.equal(d.valid_o, due, "valid_o");
      if (due && !resets) {
        const Expected &e = expected.front();
        b.equal(d.refused_o, e.refused, "refused_o");
        const auto r = unpack(d.found_o, {SLOT_W, SIZE_W, 1, 32, unsigned(DEPTH), EDGE_W, 32, LABEL_W, KEY_W, POS_W,
                                          POS_W, EDGE_W, EDGE_W});
        const Found &o = e.of;
        const std::vector<uint64_t> all{o.slot, o.size, o.last, o.vertex, o.mask, o.record.offset, o.record.degree,
                                        o.record.label, o.key, o.cursor.i, o.cursor.last, o.cursor.lo, o.cursor.hi};
        for (size_t i = 0; i < all.size(); ++i) b.equal(r[i], all[i], "a field of found_o");
        expected.pop_front();
      }
      events.push_back(!d.pause_o && b.chance(rate));
      if (d.write_i) {
        rows[row][lane] = value;
        b.hit("copied row changed after", fresh == int(row));
      }
      if (d.copy_i) {
        if (row != to) std::memcpy(rows[to], rows[row], sizeof rows[0]);
        b.hit("row copied", row != to);
        fresh = to;
      }
      b.rise();
      if (resets) {
        b.hit("reset under way", !expected.empty());
        expected.clear();
        break;
      }
    }
    b.check(expected.empty(), "%zu candidates are lost", expected.size());
    d.rst_i = d.valid_i = d.write_i = d.copy_i = 0;
    for (unsigned n = 0; n < 12; ++n) b.tick();
  }
  return b.end();
}

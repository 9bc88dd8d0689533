// set_plan against random plans that are gone through vertex by vertex, which count or list. Memory, list buffer and intersector are
// those of the bench: lines come in order, after any time.
#include "set_plans.hpp"
#include <deque>
#include <vector>

namespace {

/// What a plan means.
struct Model {
  const Image &image;
  const std::vector<Word> &words;
  const Labels &labels;
  uint32_t first, last;
  unsigned room; // lines of a walker's part
  std::vector<uint32_t> images;
  std::vector<std::vector<uint32_t>> sets = std::vector<std::vector<uint32_t>>(PLAN_SETS);
  std::vector<std::vector<uint32_t>> listed; // the member, then the images
  uint64_t visits = 0, kept[2] = {};
  bool full = false, less = false; // less: than nothing, which no plan means

  std::vector<uint32_t> members(const Word &w) const {
    std::vector<uint32_t> list = w.streams ? image.list(images[w.of]) : std::vector<uint32_t>(), out;
    for (uint32_t e : w.stored ? sets[w.from] : list) {
      bool keep = labels.has(w.label, e);
      if (w.stored && w.streams) {
        bool in = false;
        for (uint32_t l : list) in |= (l & ID) == (e & ID);
        keep &= in != bool(w.difference);
      }
      for (size_t v = 0; v < images.size(); ++v) {
        if (w.bounds >> v & 1 && (e & ID) >= (images[v] & ID)) keep = false;
        if (w.conflicts >> v & 1 && (e & ID) == (images[v] & ID)) keep = false;
      }
      if (keep) out.push_back(e);
    }
    return out;
  }
  uint64_t level(size_t at, uint32_t top) {
    bool empty = false;
    for (;; ++at) {
      const Word &w = words[at];
      visits += 1 + (w.streams ? quarters_of(images[w.of] >> ID_W) / 4 : 0);
      if (w.kind == WORD_MAKE) {
        sets[w.to] = members(w);
        top += uint32_t(sets[w.to].size() + 15) / 16;
        if (top > room) full = true;
        if (full || visits > 60000) return 0;
        empty |= sets[w.to].empty();
      } else if (w.kind == WORD_LIST) {
        const auto all = members(w);
        for (uint32_t e : all) {
          listed.push_back({e & ID});
          for (uint32_t image : images) listed.back().push_back(image & ID);
        }
        return all.size();
      } else if (w.kind == WORD_COUNT) {
        const uint64_t n = members(w).size();
        if (w.term == TERM_FIRST || w.term == TERM_SECOND) {
          kept[w.term - TERM_FIRST] = n;
          continue;
        }
        if (w.term == TERM_LAST) {
          less |= kept[0] * kept[1] < n;
          return kept[0] * kept[1] - n;
        }
        return w.pairs ? n * (n - 1) / 2 * (n != 0) : n;
      } else {
        if (empty) return 0;
        const auto all = sets[w.from];
        const auto candidates = members(w);
        uint64_t sum = 0;
        for (uint32_t c : candidates) {
          size_t place = 0;
          while (all[place] != c) ++place;
          if (images.size() == 1 && (place / 16 < first || place / 16 >= last)) continue;
          images.push_back(c);
          sum += level(at + 1, top);
          images.pop_back();
          if (full || visits > 60000) return 0;
        }
        return sum;
      }
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  Bench b("set_plan",
          {"one level", "two levels", "three levels", "four levels", "counted from a list", "counted from a set",
           "pairs", "products", "a difference", "an intersection", "a set that is narrowed", "bounds", "conflicts", "a label",
           "a list of a quarter-line", "a rounded size", "a set of several lines", "an empty set",
           "a range of lines", "no room", "listed from a list", "listed from a set", "records wait", "many of one operation",
           "nothing to list", "lines come at once", "lines come late", "several units", "each number of walkers", "a unit for each walker"},
          argc, argv);
  auto &d = *b.dut;
  d.word_write_i = d.unit_valid_i = d.line_valid_i = d.issue_ready_i = d.record_ready_i = 0;
  struct Answer { uint64_t when; uint32_t line; uint64_t meta; };
  unsigned cuts = 0;
  for (int n = 0; n < 260; ++n) {
    d.unit_valid_i = d.line_valid_i = d.issue_ready_i = 0;
    b.reset(d.rst_i);
    // Sparse, dense, or hubs.
    // Of hubs some are so large that a few of their lists fill the memory.
    const bool large = n % 60 == 2;
    const unsigned kind = n % 3, vertices = large ? 900 : kind == 2 ? 200 + b.random(700) : 8 + b.random(60);
    std::vector<std::vector<uint32_t>> rows(vertices);
    const unsigned share = kind == 0 ? 5 + b.random(20) : 30 + b.random(60);
    for (uint32_t v = 0; v < vertices; ++v)
      for (uint32_t u = 0; u < v; ++u)
        if (kind == 2 ? (u < 3 && b.chance(80)) || (u == v - 1 && b.chance(30)) : b.chance(share))
          rows[u].push_back(v), rows[v].push_back(u);
    for (uint32_t v = 0; v < vertices; ++v) {
      if (rows[v].empty()) rows[v].push_back((v + 1) % vertices); // one way: the core reads what there is
      std::sort(rows[v].begin(), rows[v].end());
    }
    const Image image(rows);
    const Labels labels(b, uint32_t(image.words.size() / 4));
    const unsigned levels = 1 + b.random(4);
    std::vector<Word> words;
    unsigned sets = 0;
    for (unsigned l = 0; l < levels; ++l) {
      const unsigned seen = (1u << (l + 1)) - 1;
      auto fill = [&](Word &w) {
        if (b.chance(40)) w.bounds = b.random() & seen;
        if (b.chance(40)) w.conflicts = b.random() & seen;
      };
      auto operands = [&](Word &w) {
        w.stored = sets && b.chance(65);
        w.streams = !w.stored || b.chance(80);
        w.difference = b.chance(40);
        if (w.stored) w.from = b.chance(60) ? sets - 1 : b.random(sets);
        if (w.streams) w.of = b.random(l + 1);
        fill(w);
        if (b.chance(30)) w.label = b.random(PLAN_LABELS);
      };
      const bool last = l + 1 == levels;
      for (unsigned m = large ? 5 : b.random(3) + (sets == 0 && !last); m; --m) {
        Word w;
        w.kind = WORD_MAKE;
        if (large) w.streams = 1;
        else operands(w);
        w.to = sets++;
        words.push_back(w);
      }
      Word w;
      // The product of two sets less their intersection, for any sets with a result of at least 0.
      const bool product = last && n % 4 == 2;
      for (unsigned term = TERM_FIRST; product && term < TERM_LAST; ++term) {
        Word first;
        first.kind = WORD_COUNT, first.term = term, operands(first);
        words.push_back(first);
      }
      if (product) w.term = TERM_LAST, w.bounds = seen;
      if (last) w.kind = n % 2 ? WORD_LIST : WORD_COUNT, operands(w), w.pairs = !product && b.chance(25);
      else {
        w.kind = WORD_WALK, w.stored = 1, w.from = b.random(sets);
        fill(w);
      }
      words.push_back(w);
    }
    // Walkers, each with a part of the memory for sets.
    unsigned cut = b.random(4);
    d.parts_i = cut;
    while (1u << cut > PLAN_WALKERS) --cut;
    const unsigned walkers = 1u << cut;
    cuts |= walkers;
    b.hit("each number of walkers", cuts == 2 * PLAN_WALKERS - 1);
    // Units that aren't too long.
    std::vector<uint64_t> units;
    std::map<std::vector<uint32_t>, unsigned> records; // of several units in any order
    size_t missing = 0;
    uint64_t expected = 0, visits = 0;
    bool full = false;
    for (int tries = 0; tries < 8 + int(walkers) && visits < 20000 && !full; ++tries) {
      const uint32_t root = b.random(kind == 2 && tries < 2 ? 4 : vertices);
      const bool range = levels > 1 && b.chance(25);
      Model model{image, words, labels, range ? uint32_t(b.random(3)) : 0, range ? uint32_t(b.random(4)) : 4095, SET_LINES / walkers, {}};
      model.images.push_back(image.entries[root]);
      const uint64_t sum = model.level(0, 0);
      if (model.visits > 60000 || model.listed.size() > 3000 || model.less) continue;
      visits += model.visits, full |= model.full, expected += sum;
      for (auto &record : model.listed) ++records[record], ++missing;
      b.hit("many of one operation", levels == 1 && model.listed.size() > 64);
      b.hit("nothing to list", n % 2 && !sum && model.visits > 8);
      units.push_back(uint64_t(image.entries[root] & ID) | uint64_t(image.entries[root] >> ID_W) << 26
                      | uint64_t(model.first) << 40 | uint64_t(model.last) << 52);
      b.hit("a range of lines", range && model.last > model.first && sum);
      b.hit("a list of a quarter-line", image.entries[root] >> ID_W == 1);
      b.hit("a rounded size", image.entries[root] >> ID_W > SIZE_ROUNDED);
      for (auto &set : model.sets) b.hit("a set of several lines", set.size() > 32);
      for (auto &w : words) b.hit("an empty set", w.kind == WORD_MAKE && model.sets[w.to].empty());
    }
    if (units.empty()) continue;
    write_plan(b, d, labels, words);
    for (const Word &w : words) {
      b.hit("a label", w.label);
      b.hit("a difference", w.stored && w.streams && w.difference);
      b.hit("an intersection", w.stored && w.streams && !w.difference);
      b.hit("a set that is narrowed", w.kind == WORD_MAKE && !w.streams);
      b.hit("bounds", w.bounds), b.hit("conflicts", w.conflicts);
    }
    const Word &end = words.back();
    const bool lists = end.kind == WORD_LIST;
    b.hit(lists ? "listed from a list" : "counted from a list", !end.stored);
    b.hit(lists ? "listed from a set" : "counted from a set", !end.streams);
    b.hit("pairs", end.pairs && !lists), b.hit("products", end.term && expected);
    const char *depth[] = {"one level", "two levels", "three levels", "four levels"};
    b.hit(depth[levels - 1]), b.hit("several units", units.size() > 2);
    const unsigned late = b.chance(50) ? 40 : 0, stalls = b.chance(50) ? 40 : 0, held_back = b.chance(50) ? 0 : 20 + b.random(75);
    b.hit("lines come at once", !late), b.hit("lines come late", late);

    std::vector<Line> memory(SET_LINES, Line(16));
    std::deque<Answer> answers;
    Line held(16), read_line(16);
    bool read = false, over = false;
    uint32_t match1 = 0, match2 = 0;
    uint64_t sum = 0, limit = 4'000'000;
    size_t at = 0, done = 0;
    for (unsigned quiet = 0; quiet < 40;) {
      d.unit_valid_i = at < units.size();
      if (at < units.size()) d.unit_i = units[at];
      d.issue_ready_i = answers.size() < 32 && !b.chance(stalls);
      const bool comes = !answers.empty() && answers.front().when <= b.cycle;
      d.line_valid_i = comes;
      if (comes) {
        for (int w = 0; w < 16; ++w) d.line_i[w] = image.words[answers.front().line * 16 + w];
        d.meta_i = answers.front().meta;
      }
      d.record_ready_i = !b.chance(held_back);
      drive(d.held_i, held);
      d.match_i = match2;
      b.settle();
      at += d.unit_take_o;
      b.hit("a unit for each walker", walkers > 1 && at - done >= walkers);
      // Ends are reported a cycle late, one after another.
      b.check(at - done <= 2 * walkers, "plan %d: more units than walkers", n);
      done += d.unit_done_o;
      if (d.add_o) sum += d.value_o;
      b.hit("records wait", d.record_valid_o && !d.record_ready_i);
      if (d.record_valid_o && d.record_ready_i && !full) {
        std::vector<unsigned> widths{1};
        widths.insert(widths.end(), PLACED + 1, ID_W);
        const auto got = unpack(d.record_o, widths);
        b.equal(got[0], end.pairs, "the size of a record");
        std::vector<uint32_t> record(levels + 1);
        for (size_t at = 0; at < record.size(); ++at) record[at] = uint32_t(got[1 + PLACED - at]);
        auto found = records.find(record);
        b.check(found != records.end(), "plan %d: a record that is none", n);
        if (!--found->second) records.erase(found);
        --missing;
      }
      if (quiet > 1) b.check(!d.record_valid_o, "plan %d: something is listed after the end", n);
      if (quiet > 1) b.check(!d.issue_valid_o, "plan %d: a list is asked for after the end", n);
      if (quiet > 8) b.check(!d.add_o, "plan %d: something is counted after the end", n);
      if (comes && d.line_ready_o) answers.pop_front();
      if (d.issue_valid_o && d.issue_ready_i) {
        const uint64_t when = b.cycle + 6 + (late ? b.random(late) : 0);
        answers.push_back({when, uint32_t(d.issue_line_o), uint64_t(d.issue_meta_o)});
      }
      // The intersector, two cycles.
      match2 = match1;
      if (d.step_valid_o) {
        const auto step = unpack(d.step_o, {1, 16, 16, step_rest_bits()});
        match1 = 0;
        for (int h = 0; h < 16 && step[0]; ++h)
          for (int s = 0; s < 16; ++s)
            if (step[1] >> h & 1 && step[2] >> s & 1 && (held[h] & ID) == (d.streamed_o[s] & ID)) match1 |= 1u << h;
      }
      // The list buffer, two cycles.
      if (read) held = read_line;
      read = d.read_o;
      if (read) read_line = memory[d.read_at_o];
      if (d.write_o) memory[d.write_at_o] = line_of(d.write_line_o);
      over |= d.full_o;
      b.rise();
      if (over && full) break;
      quiet = at == units.size() && !d.busy_o ? quiet + 1 : 0;
      b.check(--limit, "plan %d does not end", n);
    }
    b.hit("no room", full);
    b.check(over == full, "plan %d: room is %s", n, full ? "missing, and not missed" : "missed");
    if (!full) {
      b.check(sum == expected, "plan %d of %u levels, %zu words, %zu units, kind %u: %llu instead of %llu", n, levels,
              words.size(), units.size(), kind, (unsigned long long)sum, (unsigned long long)expected);
      b.equal(done, units.size(), "units that are done");
      b.check(!missing, "plan %d: %zu records are missing", n, missing);
      b.check(answers.empty(), "plan %d: lines are left", n);
    }
    if (std::getenv("VERBOSE")) {
      std::printf("%d: %u levels, %zu words, %zu units, kind %u, %llu\n", n, levels, words.size(), units.size(), kind,
                  (unsigned long long)expected);
      std::fflush(stdout);
    }
  }
  return b.end();
}

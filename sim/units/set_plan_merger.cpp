// set_plan_merger against intersections and differences of random sets. The list buffer, the intersector and the
// table of stored sets are those of the bench; what is made is stored after some time.
#include "set_plans.hpp"

namespace {

struct Streamed {
  Line line;
  unsigned low, high, last;
};
struct Stored {
  unsigned base = 0;
  std::vector<uint32_t> members;
  unsigned lines() const { return unsigned(members.size() + 15) / 16; }
  uint32_t max(unsigned line) const { return members[std::min<size_t>(line * 16 + 15, members.size() - 1)] & ID; }
};
/// What comes out: a member, the end of a set, or a line to walk along.
struct Out {
  enum { MEMBER, END, WALKED } what;
  unsigned walker, kind, to;
  uint32_t entry = 0;
  Line line = {};
  unsigned lanes = 0, cut = 0, kept = 0;
};
struct Task {
  Operation op;
  std::vector<Streamed> lines;
};

bool left_out(const Operation &o, uint32_t entry) {
  bool out = (entry & ID) < o.low || (entry & ID) >= o.limit;
  for (uint32_t image : o.images) out |= (entry & ID) == image;
  return out;
}

/// Lines of the stored set that are read for an operation: a step for each pair of lines, then those after the list.
unsigned reads_of(const Operation &o, const Stored &stored, const std::vector<Streamed> &lines) {
  if (o.word.kind == WORD_WALK) return 1;
  if (!o.word.stored || !stored.lines()) return 0;
  unsigned last = 0, reads = 0;
  while (last + 1 < stored.lines() && stored.max(last) < o.limit) ++last;
  if (!o.word.streams) return last + 1;
  for (size_t h = 0, s = 0;;) {
    uint32_t high = 0;
    for (unsigned lane = 0; lane < 16; ++lane)
      if (lane / 4 >= lines[s].low && lane / 4 <= lines[s].high && lines[s].line[lane] != NONE) high = lines[s].line[lane] & ID;
    ++reads;
    const bool end = s + 1 == lines.size(), low = stored.max(h) <= high, gone = high <= stored.max(h);
    if ((low || end) && h == last) return reads;
    if (gone && end) return reads + (o.word.difference ? last - h : 0);
    h += low, s += gone;
  }
}

} // namespace

int main(int argc, char **argv) {
  Bench b("set_plan_merger",
          {"an intersection", "a difference", "a copy", "a set gone through", "a line walked along", "pairs", "terms", "a term of an empty set", "nothing in common",
           "everything in common", "an empty stored set", "a set of several lines", "a list of several lines", "a line of padding",
           "the list ends first", "the set ends first", "a limit in the first line", "a limit in a later line", "a limit below all",
           "a limit above all", "entries below the range", "entries above the limit", "images left out", "a list in a line's middle", "lines come at once",
           "lines come late", "an operation behind another at once", "one set into itself", "listed", "nothing to list", "waits for room",
           "waits for room to begin", "an end beside another's members", "a step a cycle over operations"},
          argc, argv);
  auto &d = *b.dut;
  d.valid_i = d.line_valid_i = d.room_i = 0;
  for (int n = 0; n < 250; ++n) {
    d.valid_i = d.line_valid_i = 0;
    b.reset(d.rst_i);
    std::vector<Line> memory(SET_LINES, Line(16));
    std::vector<uint32_t> maxima(SET_LINES);
    std::vector<Stored> table(PLAN_SETS), later; // now, and after all operations
    const unsigned universe = b.chance(50) ? 40 + b.random(60) : 300 + b.random(2000);
    auto some = [&](unsigned share, unsigned from = 0) {
      std::vector<uint32_t> all;
      for (uint32_t id = from; id < universe; ++id) if (b.chance(share)) all.push_back(id | (id * 7 % 61 + 1) << ID_W);
      return all;
    };
    auto store = [&](const Stored &set) {
      for (unsigned line = 0; line < set.lines(); ++line) {
        maxima[set.base + line] = set.max(line);
        for (unsigned lane = 0; lane < 16; ++lane)
          memory[set.base + line][lane] = line * 16 + lane < set.members.size() ? set.members[line * 16 + lane] : NONE;
      }
    };
    unsigned top = 0;
    for (unsigned s = 0; s < 4; ++s) {
      Stored set{top, some(b.chance(20) ? 0 : b.random(40))};
      if (top + set.lines() > SET_LINES / 2) set.members.clear();
      top += set.lines(), table[s] = set, store(set);
    }
    later = table;

    // The operations and their results.
    std::deque<Task> tasks;
    std::deque<Out> out;
    std::deque<Streamed> lines;
    unsigned reads = 0, known = 4;
    for (unsigned t = 1 + b.random(25); t; --t) {
      Task task;
      Operation &o = task.op;
      Word &w = o.word;
      o.walker = b.random(PLAN_WALKERS);
      w.kind = b.chance(20) ? WORD_WALK : b.chance(50) ? WORD_MAKE : b.chance(50) ? WORD_COUNT : WORD_LIST;
      w.stored = w.kind == WORD_WALK || b.chance(75), w.streams = w.kind != WORD_WALK && (!w.stored || b.chance(80));
      w.difference = b.random(2), w.pairs = w.kind != WORD_MAKE && w.kind != WORD_WALK && b.chance(30), w.term = w.kind == WORD_COUNT && b.chance(40) ? b.random(4) : 0, w.from = b.random(known);
      w.to = b.chance(20) ? w.from : b.random(std::min<unsigned>(known + 1, PLAN_SETS));
      w.of = b.random(7), w.bounds = b.random(128), w.conflicts = b.random(128); // the merger has limit and images instead
      const Stored from = later[w.from];
      if (w.kind == WORD_WALK && !from.lines()) continue;
      o.at = w.kind == WORD_WALK ? from.base + b.random(from.lines()) : b.random(SET_LINES);
      o.source = uint32_t(b.random());
      o.low = b.chance(60) ? 0 : b.random(universe);
      o.limit = b.chance(40) ? ID : b.random(universe + universe / 4);
      for (auto &image : o.images) image = b.chance(60) ? ID : b.random(universe);
      // The list, with padding behind it and others' entries around it.
      std::vector<uint32_t> list;
      if (w.streams) {
        list = b.chance(10) && w.stored && from.lines() ? from.members : some(1 + b.random(60), b.chance(20) ? b.random(universe) : 0);
        if (b.chance(10) && list.size() > 3) list.resize(1 + b.random(3));
        if (list.empty()) list.push_back(uint32_t(b.random(universe)) | 1u << ID_W);
        unsigned quarters = unsigned(list.size() + 3) / 4, low = quarters <= 4 ? b.random(5 - quarters) : 0;
        if (b.chance(15)) quarters += b.random(quarters <= 4 ? 5 - low - quarters : 9);
        for (unsigned at = low; at < low + quarters;) {
          Streamed s{random_line(b), at % 4, std::min(3u, low + quarters - 1 - at / 4 * 4), 0};
          bool entries = false;
          for (unsigned lane = s.low * 4; lane < s.high * 4 + 4; ++lane) {
            const size_t e = (at / 4 * 16 + lane) - low * 4;
            s.line[lane] = e < list.size() ? list[e] : NONE, entries |= e < list.size();
          }
          b.hit("a line of padding", !entries), b.hit("a list in a line's middle", s.low == 1 && s.high == 2);
          at = at / 4 * 4 + 4, s.last = at >= low + quarters;
          task.lines.push_back(s);
        }
      }
      // What it means.
      std::vector<uint32_t> members;
      for (uint32_t e : w.stored ? from.members : list) {
        const bool in = std::any_of(list.begin(), list.end(), [&](uint32_t l) { return (l & ID) == (e & ID); });
        if ((!w.stored || !w.streams || in != bool(w.difference)) && !left_out(o, e)) members.push_back(e);
      }
      if (w.kind == WORD_WALK) {
        Out walked{Out::WALKED, o.walker, w.kind, w.to, 0, Line(16, NONE)};
        for (unsigned lane = 0; lane < 16; ++lane) {
          const size_t e = (o.at - from.base) * 16 + lane;
          if (e >= from.members.size()) continue;
          walked.line[lane] = from.members[e];
          walked.lanes |= unsigned(!left_out(o, from.members[e])) << lane, walked.cut |= (from.members[e] & ID) >= o.limit;
        }
        out.push_back(walked);
        b.hit("entries above the limit", walked.cut);
      } else {
        if (w.kind == WORD_MAKE && top + members.size() / 16 + 1 > SET_LINES) break;
        for (uint32_t e : members) out.push_back({Out::MEMBER, o.walker, w.kind, w.to, e, {}, 0, 0, w.kind == WORD_COUNT && (w.pairs || w.term)});
        // Of an empty set that is gone through there are no pairs to add up.
        const bool nothing = w.stored && !w.streams && !from.lines();
        if (w.kind == WORD_MAKE || w.kind == WORD_LIST || w.term || (w.pairs && !nothing)) out.push_back({Out::END, o.walker, w.kind, w.to, w.term});
        b.hit("listed", w.kind == WORD_LIST && !members.empty()), b.hit("nothing to list", w.kind == WORD_LIST && nothing);
        if (w.kind == WORD_MAKE) {
          later[w.to] = Stored{top, members};
          top += later[w.to].lines(), known = std::max(known, w.to + 1);
        }
      }
      reads += reads_of(o, from, task.lines);
      const bool both = w.stored && w.streams && from.lines();
      b.hit("an intersection", both && !w.difference), b.hit("a difference", both && w.difference), b.hit("a copy", !w.stored);
      b.hit("a set gone through", w.stored && !w.streams && w.kind != WORD_WALK), b.hit("a line walked along", w.kind == WORD_WALK), b.hit("pairs", w.pairs), b.hit("terms", w.term);
      b.hit("a term of an empty set", w.term && w.stored && !w.streams && !from.lines());
      b.hit("nothing in common", both && !w.difference && members.empty());
      b.hit("everything in common", both && !w.difference && members.size() == from.members.size());
      b.hit("an empty stored set", w.stored && !from.lines() && w.streams), b.hit("a set of several lines", from.lines() > 2 && both);
      b.hit("a list of several lines", task.lines.size() > 2 && both);
      b.hit("the list ends first", both && (list.back() & ID) < from.max(0) && from.lines() > 1);
      b.hit("the set ends first", both && task.lines.size() > 1 && from.max(from.lines() - 1) < (task.lines[0].line[15] & ID));
      b.hit("a limit in the first line", both && o.limit < from.max(0) && o.limit > (from.members[0] & ID));
      b.hit("a limit in a later line", both && from.lines() > 2 && o.limit > from.max(0) && o.limit < from.max(from.lines() - 1));
      b.hit("a limit below all", both && o.limit <= (from.members[0] & ID)), b.hit("a limit above all", both && o.limit == ID);
      b.hit("entries below the range", std::any_of(list.begin(), list.end(), [&](uint32_t e) { return (e & ID) < o.low; }) && !members.empty());
      b.hit("images left out", !w.stored && std::any_of(list.begin(), list.end(), [&](uint32_t e) { return left_out(o, e) && (e & ID) >= o.low && (e & ID) < o.limit; }));
      b.hit("one set into itself", w.kind == WORD_MAKE && w.stored && w.from == w.to && !members.empty());
      lines.insert(lines.end(), task.lines.begin(), task.lines.end());
      tasks.push_back(task);
    }

    // What is made becomes known in the order in which it was requested.
    std::deque<std::pair<uint64_t, Stored>> making;
    std::deque<unsigned> making_to;
    Stored now;
    unsigned bases = 0; // as the packer gives them
    for (unsigned s = 0; s < 4; ++s) bases += table[s].lines();
    const unsigned late = b.chance(50) ? 0 : 20 + b.random(60), gaps = b.chance(50) ? 0 : 40;
    const unsigned roomless = b.chance(50) ? 0 : 20 + b.random(75);
    b.hit("lines come at once", !late), b.hit("lines come late", late);
    Line held(16), read_line(16);
    bool read = false, popped_before = false, read_before = false;
    uint32_t match1 = 0, match2 = 0;
    unsigned seen = 0, sets = 0, own_reads = 0;
    uint64_t read_at = 0;
    // Operations taken whose stored lines are being read; the first one is in progress.
    struct Taken { bool lists, alone; unsigned reads; };
    std::deque<Taken> taken;
    std::map<unsigned, unsigned> in_the_making; // how often each set is
    int64_t owed = 0; // lines of operations that were taken; below 0: of the one that waits, too
    for (uint64_t limit = 60000, quiet = 0; quiet < 12;) {
      if (!making.empty() && making.front().first <= b.cycle) {
        table[making_to.front()] = making.front().second, store(making.front().second), --in_the_making[making_to.front()];
        making.pop_front(), making_to.pop_front(), --sets;
      }
      // The walker knows the sets along which it goes, and waits for those that it uses.
      const bool walks = !tasks.empty() && tasks.front().op.word.kind == WORD_WALK;
      const bool wants = !tasks.empty() && tasks.front().op.word.stored && in_the_making[tasks.front().op.word.from];
      d.valid_i = !tasks.empty() && !(walks && sets) && !wants && !b.chance(gaps);
      if (d.valid_i) drive_operation(d.op_i, tasks.front().op);
      d.line_valid_i = !lines.empty() && owed + (d.valid_i ? int64_t(tasks.front().lines.size()) : 0) > 0 && !b.chance(late);
      if (!lines.empty()) {
        const Streamed &s = lines.front();
        drive(d.line_i, s.line);
        pack(d.meta_i, {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {s.low, 2}, {s.high, 2}, {0, line_bits()}, {0, member_bits()}, {s.last, 1}, {0, 1}});
      }
      d.room_i = !b.chance(roomless);
      drive(d.held_i, held);
      d.match_i = match2;
      b.settle();
      const Stored &set = table[d.set_o];
      pack(d.set_i, {{set.lines() ? set.max(0) : b.random(ID), ID_W}, {set.lines(), place_bits() + 1}, {set.base, place_bits()}});
      d.max_i = maxima[d.max_at_o];
      b.settle();
      if (d.valid_i) b.equal(d.set_walker_o, tasks.front().op.walker, "whose stored set it is");
      b.hit("an operation behind another at once", d.pop_o && popped_before);
      popped_before = d.busy_o;
      while (!taken.empty() && !taken.front().reads) taken.pop_front(), own_reads = 0;
      const bool listed = !taken.empty() && taken.front().lists, alone = !taken.empty() && taken.front().alone;
      b.hit("waits for room to begin", listed && alone && !own_reads && !d.room_i && d.busy_o && !read_before);
      b.hit("waits for room", listed && !d.room_i && alone && own_reads && d.busy_o && !d.read_o);
      b.check(!(d.read_o && taken.empty()), "a stored line that nobody needs");
      b.check(!(d.read_o && listed && !d.room_i), "a step without room for its members");
      b.hit("a step a cycle over operations", d.read_o && read_before && !own_reads);
      read_before = d.read_o;
      if (d.pop_o) {
        b.check(d.valid_i, "an operation that isn't there");
        const Operation &o = tasks.front().op;
        taken.push_back({o.word.kind == WORD_LIST, !o.word.streams, reads_of(o, table[o.word.from], tasks.front().lines)});
        owed += tasks.front().lines.size();
        if (o.word.kind == WORD_MAKE) ++sets, ++in_the_making[o.word.to];
        tasks.pop_front();
      }
      if (d.line_valid_i && d.line_ready_o) lines.pop_front(), --owed;
      // An end comes after its members, and may be beside those of the next operation.
      if (d.ends_o) {
        const auto fields = unpack(d.end_o, {walker_bits(), 2, 2, 5});
        b.hit("an end beside another's members", d.valid_o && d.lanes_o);
        b.check(!out.empty() && out.front().what == Out::END, "run %d: the end comes before member %u", n, out.empty() ? 0 : out.front().entry & ID);
        b.equal(fields[0], out.front().walker, "the walker of the end"), b.equal(fields[1], out.front().kind, "the kind of the end");
        b.equal(fields[2], out.front().entry, "the term"), b.equal(fields[3], out.front().to, "the set that ends");
        if (fields[1] == WORD_MAKE) {
          now.base = bases, bases += now.lines();
          const uint64_t earliest = making.empty() ? b.cycle : making.back().first;
          making.push_back({std::max(b.cycle + 8, earliest + 1) + b.random(10), now}), making_to.push_back(unsigned(fields[3]));
          now.members.clear();
        }
        out.pop_front();
      }
      if (d.valid_o) {
        std::vector<unsigned> widths{walker_bits(), 2, 5, 1, 1, 1, 1, 1, 1, ID_W, ID_W};
        widths.insert(widths.end(), PLACED, ID_W);
        const auto fields = unpack(d.plan_step_o, widths);
        const Line line = line_of(d.line_o);
        if (fields[1] == WORD_WALK) {
          b.check(!out.empty() && out.front().what == Out::WALKED, "a line that nobody walks along");
          b.equal(fields[0], out.front().walker, "who walks along it");
          b.equal(d.lanes_o, out.front().lanes, "candidates");
          b.equal(d.cut_o, out.front().cut, "cut");
          b.check(line == out.front().line, "the line of candidates");
          out.pop_front();
        } else {
          for (unsigned lane = 0; lane < 16; ++lane) {
            if (!(d.lanes_o >> lane & 1)) continue;
            b.check(!out.empty() && out.front().what == Out::MEMBER, "run %d: member %u that is none", n, line[lane] & ID);
            b.equal(line[lane], out.front().entry, "a member"), b.equal(fields[0], out.front().walker, "the walker");
            b.equal(fields[1], out.front().kind, "the kind"), b.equal(fields[2], out.front().to, "the set");
            b.equal(fields[4], out.front().kept, "whether it is kept");
            if (fields[1] == WORD_MAKE) now.members.push_back(line[lane]);
            out.pop_front();
          }
        }
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
      seen += d.read_o;
      if (d.read_o) {
        // There is a line each cycle.
        if (alone && !listed && own_reads) b.equal(b.cycle, read_at + 1, "the cycle of a stored line");
        ++own_reads, read_at = b.cycle, --taken.front().reads;
      }
      b.rise();
      quiet = tasks.empty() && making.empty() && !d.busy_o ? quiet + 1 : 0;
      b.check(--limit, "run %d does not end: %zu operations, %zu outputs", n, tasks.size(), out.size());
    }
    b.check(out.empty(), "run %d: %zu outputs are missing", n, out.size());
    b.check(lines.empty(), "run %d: %zu lines are left", n, lines.size());
    b.equal(seen, reads, "lines of stored sets that were read");
  }
  return b.end();
}

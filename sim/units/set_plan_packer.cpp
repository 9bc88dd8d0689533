// set_plan_packer against sets that are arrays of members, on a stack of lines for each walker.
#include "set_plans.hpp"

namespace {

struct Beat {
  Line line = Line(16, NONE);
  unsigned lanes = 0, ends = 0, walker = 0, to = 0;
};
struct Stored {
  unsigned walker, to, base;
  std::vector<uint32_t> members;
  unsigned lines() const { return unsigned(members.size() + 15) / 16; }
};

} // namespace

int main(int argc, char **argv) {
  Bench b("set_plan_packer",
          {"an empty set", "a set of one", "a whole line", "a line and one", "a set of several lines", "a line without members",
           "all lanes of a line", "each number of members that wait", "a set behind another at once", "a set that is made again",
           "a mark at each level", "a rewind to each level", "a rewind to the root", "the last line that there is", "no room",
           "empty, and made again", "a line each cycle", "each walker", "each number of parts", "one walker behind another",
           "reset while one is made"},
          argc, argv);
  auto &d = *b.dut;
  d.valid_i = d.ends_i = d.mark_i = d.rewind_i = 0;
  uint32_t owners = 0, cuts = 0, waits = 0, marks = 0, rewinds = 0;
  for (int n = 0; n < 60; ++n) {
    d.valid_i = 0;
    b.reset(d.rst_i);
    std::vector<Line> memory(SET_LINES, Line(16));
    // Of each walker.
    struct Own {
      std::vector<Stored> table = std::vector<Stored>(PLAN_SETS);
      std::vector<bool> known = std::vector<bool>(PLAN_SETS);
      std::vector<unsigned> mark = std::vector<unsigned>(PLACED);
      unsigned top = 0, level = 0;
      bool empty = false;
    };
    std::vector<Own> own(PLAN_WALKERS);
    unsigned cut = b.random(4);
    while (1u << cut > PLAN_WALKERS) --cut;
    const unsigned walkers = 1u << cut, room = SET_LINES / walkers;
    d.parts_i = cut, cuts |= walkers;
    b.hit("each number of parts", cuts == 2 * PLAN_WALKERS - 1);
    std::deque<Beat> beats;
    std::deque<Stored> coming;
    unsigned made = 0, wanted = 0;
    bool full = false, over = false;
    const unsigned gaps = b.chance(50) ? 0 : 40, most = b.chance(50) ? 40 : 300;
    for (int group = 0; group < 60 && !over; ++group) {
      // Sets that are made one behind the other, then a mark or a rewind.
      for (unsigned sets = 1 + b.random(4); sets; --sets) {
        const unsigned walker = b.random(walkers);
        Own &its = own[walker];
        Stored set{walker, unsigned(b.random(PLAN_SETS)), walker * room + its.top, {}};
        owners |= 1u << walker;
        b.hit("each walker", owners == (1u << PLAN_WALKERS) - 1);
        b.hit("one walker behind another", !coming.empty() && coming.back().walker != walker);
        const unsigned members = b.chance(20) ? b.random(3) : b.chance(20) ? 16 * (1 + b.random(3)) + b.random(2) : b.random(most);
        uint32_t id = 0;
        while (set.members.size() < members) {
          Beat beat;
          beat.walker = walker, beat.to = set.to;
          const unsigned share = b.chance(30) ? 100 : b.random(100);
          for (unsigned lane = 0; lane < 16; ++lane) {
            beat.line[lane] = uint32_t(b.random()); // what isn't a member is anything
            if (b.chance(share) && set.members.size() < members) {
              id += 1 + b.random(1000);
              beat.line[lane] = id | uint32_t(b.random(64)) << ID_W;
              set.members.push_back(beat.line[lane]);
              beat.lanes |= 1u << lane;
            }
          }
          b.hit("a line without members", !beat.lanes), b.hit("all lanes of a line", beat.lanes == 0xffff);
          beats.push_back(beat);
        }
        Beat end;
        end.walker = walker, end.to = set.to, end.ends = 1, end.lanes = b.random(1 << 16);
        for (auto &word : end.line) word = uint32_t(b.random());
        beats.push_back(end);
        waits |= 1u << set.members.size() % 16;
        b.hit("each number of members that wait", waits == 0xffff), b.hit("an empty set", members == 0), b.hit("a set of one", members == 1);
        b.hit("a whole line", members == 16), b.hit("a line and one", members == 17), b.hit("a set of several lines", members > 64);
        b.hit("a set behind another at once", sets > 1 && !gaps), b.hit("a set that is made again", its.known[set.to]);
        its.top += set.lines();
        full |= its.top > room;
        b.hit("the last line that there is", its.top == room);
        coming.push_back(set), ++wanted;
      }
      b.hit("a line each cycle", beats.size() > 10 && !gaps);
      const int stop = group == 40 && n % 8 == 3 && beats.size() > 1 ? int(beats.size()) / 2 : -1;
      for (uint64_t limit = 4000; !beats.empty() || d.busy_o;) {
        const bool comes = !beats.empty() && !b.chance(gaps);
        d.valid_i = comes;
        const Beat beat = beats.empty() ? Beat() : beats.front();
        drive(d.line_i, beat.line);
        d.lanes_i = comes ? beat.lanes : b.random(1 << 16), d.ends_i = comes ? beat.ends : b.random(2), d.to_i = beat.to, d.walker_i = beat.walker;
        if (comes) beats.pop_front();
        b.settle();
        if (d.write_o) memory[d.write_at_o] = line_of(d.write_line_o);
        over |= d.full_o;
        if (d.made_o && !over && !full) {
          b.check(!coming.empty(), "a set that nobody made");
          const Stored &set = coming.front();
          Own &its = own[set.walker];
          b.equal(d.made_o, 1u << set.walker, "whose set it is");
          d.set_i = set.to, d.set_walker_i = set.walker;
          b.settle();
          // first_max, lines, base
          auto stored = unpack(d.set_o, {ID_W, place_bits() + 1, place_bits()});
          b.equal(stored[1], set.lines(), "lines of a set");
          if (set.lines()) b.equal(stored[2], set.base, "a set's place");
          if (set.lines()) b.equal(stored[0], set.members[std::min<size_t>(15, set.members.size() - 1)] & ID, "the last id of its first line");
          for (unsigned line = 0; line < set.lines(); ++line) {
            for (unsigned lane = 0; lane < 16; ++lane) {
              const unsigned at = line * 16 + lane;
              b.equal(memory[set.base + line][lane], at < set.members.size() ? set.members[at] : NONE, "a member");
            }
            d.max_at_i = set.base + line;
            b.settle();
            b.equal(d.max_o, set.members[std::min<size_t>(line * 16 + 15, set.members.size() - 1)] & ID, "the last id of a line");
          }
          b.hit("empty, and made again", its.empty && set.lines() && its.known[set.to]);
          its.empty |= !set.lines();
          for (unsigned w = 0; w < walkers; ++w) b.equal(d.empty_o >> w & 1, own[w].empty, "empty");
          its.table[set.to] = set, its.known[set.to] = true;
          coming.pop_front(), ++made;
        }
        b.rise();
        b.check(--limit, "sets do not end");
        if (stop >= 0 && int(beats.size()) <= stop) break;
      }
      d.valid_i = 0;
      if (!beats.empty() || over) break;
      if (full) continue;
      b.equal(made, wanted, "sets");
      // The walkers' tables are a cycle late.
      const unsigned asked = b.random(PLAN_SETS);
      for (unsigned w = 0; w < walkers; ++w) d.walk_i[w] = (asked + w) % PLAN_SETS;
      b.tick();
      for (unsigned w = 0; w < walkers; ++w) d.walk_i[w] = b.random(PLAN_SETS);
      b.settle();
      for (unsigned w = 0; w < walkers; ++w) {
        const unsigned set = (asked + w) % PLAN_SETS;
        const auto walk = unpack(d.walk_o[w], {ID_W, place_bits() + 1, place_bits()});
        if (own[w].known[set]) b.equal(walk[1], own[w].table[set].lines(), "lines of a set for the walker");
        if (own[w].known[set] && own[w].table[set].lines()) b.equal(walk[2], own[w].table[set].base, "a set's place for the walker");
      }
      // Deeper, or back: each walker on its own, some at once.
      unsigned back = 0;
      d.mark_i = d.rewind_i = 0;
      for (unsigned w = 0; w < walkers; ++w) {
        Own &its = own[w];
        if (b.chance(20)) continue;
        if (its.level + 1 < PLACED && b.chance(50)) {
          d.mark_i |= 1u << w, d.level_i[w] = ++its.level, its.mark[its.level] = its.top;
          marks |= 1u << its.level;
          b.hit("a mark at each level", marks == (1u << PLACED) - 2);
        } else {
          const unsigned to = its.level && b.chance(85) ? 1 + b.random(its.level) : 0;
          its.level = to, its.top = to ? its.mark[to] : 0, its.empty = false;
          d.rewind_i |= 1u << w, d.level_i[w] = to, back |= 1u << w;
          // Sets above what is left are overwritten.
          for (unsigned s = 0; s < PLAN_SETS; ++s)
            if (its.known[s] && its.table[s].base - w * room + its.table[s].lines() > its.top) its.known[s] = false;
          rewinds |= 1u << to;
          b.hit("a rewind to each level", rewinds == (1u << PLACED) - 1), b.hit("a rewind to the root", to == 0);
        }
      }
      b.tick();
      d.mark_i = d.rewind_i = 0;
      b.settle();
      b.equal(d.empty_o & back, 0, "empty after a rewind");
    }
    if (!beats.empty()) b.hit("reset while one is made");
    else b.check(over == full, "room is %s", full ? "missing, and not missed" : "missed");
    b.hit("no room", full && over);
  }
  return b.end();
}

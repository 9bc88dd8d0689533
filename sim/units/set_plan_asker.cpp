// set_plan_asker against a queue of operations and the lines that each of their lists has.
#include "set_plans.hpp"

namespace {

struct Asked {
  uint32_t line, low, high, last;
};

/// The lines of an operation's list.
std::vector<Asked> lines_of(const Operation &o) {
  if (!o.word.streams) return {};
  const uint32_t first = o.source & ID, quarters = quarters_of(o.source >> ID_W), end = first + quarters - 1;
  std::vector<Asked> lines;
  for (uint32_t line = first / 4; line <= end / 4; ++line)
    lines.push_back({line, line == first / 4 ? first % 4 : 0, line == end / 4 ? end % 4 : 3, line == end / 4});
  return lines;
}

/// What comes out: with the lowest of the bounds' images, and only the images that members must not be.
Operation settled(Operation o) {
  for (unsigned v = 0; v < PLACED; ++v) {
    if (o.word.bounds >> v & 1 && o.images[v] < o.limit) o.limit = o.images[v];
    if (!(o.word.conflicts >> v & 1)) o.images[v] = ID;
  }
  return o;
}

} // namespace

int main(int argc, char **argv) {
  Bench b("set_plan_asker",
          {"no bound", "one bound", "all bounds", "each bound the lowest", "a range whose end is below all bounds", "no conflict", "all conflicts", "no list",
           "a quarter-line", "a list in a line's middle", "a whole line", "two lines", "a list over a line's end",
           "the largest size that is exact", "the first size that is rounded", "each way of rounding", "a long list",
           "lines wait", "operations wait", "as many operations as there is room for", "an operation a cycle",
           "reset while there are some"},
          argc, argv);
  auto &d = *b.dut;
  d.valid_i = d.issue_ready_i = d.pop_i = 0;
  b.reset(d.rst_i);
  uint32_t lowest = 0, ways = 0;
  auto random_operation = [&](bool small) {
    Operation o;
    Word &w = o.word;
    o.walker = b.random(PLAN_WALKERS);
    w.kind = b.random(3), w.difference = b.random(2), w.pairs = b.random(2), w.stored = b.random(2);
    w.streams = b.chance(70), w.of = b.random(7), w.from = b.random(PLAN_SETS), w.to = b.random(PLAN_SETS), w.term = b.random(4);
    const unsigned bounds = b.random(4);
    w.bounds = bounds == 0 ? 0 : bounds == 1 ? 1u << b.random(PLACED) : bounds == 2 ? (1u << PLACED) - 1 : b.random(1 << PLACED);
    w.conflicts = b.chance(25) ? 0 : b.chance(25) ? (1u << PLACED) - 1 : b.random(1 << PLACED);
    o.at = b.random(SET_LINES);
    uint32_t size = 1 + b.random(small ? 4 : b.chance(20) ? (1u << SIZE_W) - 1 : SIZE_ROUNDED + 4);
    if (size > 47 && b.chance(80)) size = 1 + size % 31; // the longest lists take thousands of cycles
    // The longest list ends within the image.
    uint32_t id = b.random(PARTITIONS * PARTITION_LINES * 4 - (1 << 13));
    // Where rounded sizes begin is the image's promise, as is that short lists lie in a line; that one is not used.
    if (size >= SIZE_ROUNDED || (small && id % 4 + size > 4)) id &= ~3u;
    o.source = id | size << ID_W;
    o.low = b.random(ID), o.limit = b.chance(50) ? ID : b.random(b.chance(50) ? ID : 8);
    for (auto &image : o.images) image = b.random(b.chance(50) ? ID : 8);
    return o;
  };

  for (int phase = 0; phase < 60; ++phase) {
    std::deque<Operation> inside;
    std::deque<Asked> lines;
    const bool fast = phase % 6 == 5;
    const unsigned come = fast || b.chance(50) ? 100 : 30, issue = fast || b.chance(30) ? 100 : 50;
    const unsigned pop = fast ? 100 : phase % 4 ? 30 + b.random(71) : 0;
    unsigned lists = 0, events = 0, left = 120, taken_in_a_row = 0, quiet = 0, popped = 0, pop_now = pop;
    bool held = false;
    Asked before{};
    Operation next = random_operation(fast);
    for (uint64_t limit = 400'000; quiet < 8 && --limit;) {
      // A phase without pops fills up first.
      if (pop == 0 && inside.size() >= 16 && b.chance(5)) pop_now = 60;
      d.valid_i = left && b.chance(come);
      drive_operation(d.op_i, next);
      d.issue_ready_i = b.chance(issue);
      b.settle();
      d.pop_i = d.valid_o && b.chance(pop_now);
      b.settle();
      events += d.list_o;
      b.hit("lines wait", d.issue_valid_o && !d.issue_ready_i);
      b.hit("operations wait", d.valid_i && !d.ready_o);
      if (held) {
        b.check(d.issue_valid_o, "a line goes away while it waits");
        b.equal(d.issue_line_o, before.line, "a line that waits");
      }
      held = d.issue_valid_o && !d.issue_ready_i;
      before.line = d.issue_line_o;
      if (d.issue_valid_o && d.issue_ready_i) {
        b.check(!lines.empty(), "a line that no list has");
        const Asked &want = lines.front();
        b.equal(d.issue_line_o, want.line, "the line");
        // load, lengths, mark, none, low, high, at, member, last, slot_last
        const auto meta = unpack(d.issue_meta_o, {1, 1, 1, 1, 2, 2, line_bits(), member_bits(), 1, 1});
        b.equal(meta[4], want.low, "the first quarter");
        b.equal(meta[5], want.high, "the last quarter");
        b.equal(meta[8], want.last, "the list's end");
        b.check(!(meta[0] | meta[1] | meta[2] | meta[3]), "a line of another kind");
        lines.pop_front();
      }
      if (d.pop_i) {
        b.check(!inside.empty(), "an operation that nobody gave");
        b.check(is_operation(d.op_o, settled(inside.front())), "operation %u of phase %d is another", popped, phase);
        inside.pop_front();
        ++popped;
      }
      b.check(d.busy_o || (inside.empty() && lines.empty()), "idle with %zu operations and %zu lines", inside.size(), lines.size());
      if (d.valid_i && d.ready_o) {
        const auto own = lines_of(next);
        inside.push_back(next);
        lines.insert(lines.end(), own.begin(), own.end());
        lists += next.word.streams;
        const uint32_t bounds = next.word.bounds, quarter = next.source & 3, size = next.source >> ID_W;
        const bool streams = next.word.streams;
        b.hit("no bound", !bounds), b.hit("one bound", bounds && !(bounds & (bounds - 1)));
        b.hit("all bounds", bounds == (1u << PLACED) - 1), b.hit("a range whose end is below all bounds", bounds && next.limit && settled(next).limit == next.limit);
        const uint32_t least = settled(next).limit;
        for (unsigned v = 0; v < PLACED; ++v) lowest |= uint32_t(bounds >> v & 1 && next.images[v] == least) << v;
        b.hit("each bound the lowest", lowest == (1u << PLACED) - 1);
        b.hit("no conflict", !next.word.conflicts), b.hit("all conflicts", next.word.conflicts == (1u << PLACED) - 1);
        b.hit("no list", !streams), b.hit("a quarter-line", streams && size == 1);
        b.hit("a list in a line's middle", streams && quarter == 1 && size == 2);
        b.hit("a whole line", streams && quarter == 0 && size == 4), b.hit("two lines", streams && quarter == 0 && size == 8);
        b.hit("a list over a line's end", streams && quarter + size > 4 && quarter);
        b.hit("the largest size that is exact", streams && size == SIZE_ROUNDED - 1);
        b.hit("the first size that is rounded", streams && size == SIZE_ROUNDED);
        if (streams && size >= SIZE_ROUNDED) ways |= 1u << size % 4;
        b.hit("each way of rounding", ways == 15), b.hit("a long list", own.size() > 200);
        b.hit("an operation a cycle", fast && ++taken_in_a_row >= 20);
        --left;
        next = random_operation(fast);
      } else if (d.valid_i) {
        // A list holds others up only until its last line goes.
        b.check(!fast || !lines.empty(), "an operation waits for nothing");
        taken_in_a_row = 0;
      }
      b.hit("as many operations as there is room for", inside.size() >= 16);
      if (pop == 0 && left == 0) pop_now = 60;
      b.rise();
      quiet = !left && inside.empty() && lines.empty() ? quiet + 1 : 0;
      b.check(limit > 1, "phase %d does not end: %zu operations, %zu lines", phase, inside.size(), lines.size());
      if (phase % 10 == 9 && left == 40) break;
    }
    d.valid_i = d.pop_i = 0;
    if (!inside.empty()) {
      b.hit("reset while there are some");
      b.reset(d.rst_i);
      continue;
    }
    b.equal(d.busy_o, 0, "busy in the end");
    b.equal(events, lists, "lists that were asked for");
  }
  return b.end();
}

// set_plan_lister against a list of records. Lines come as the merger sends them: six cycles after a step, which needs
// room; an operation's end needs none.
#include "set_plans.hpp"

namespace {

struct Members {
  Line line;
  unsigned lanes, ends;
};
struct Task {
  std::vector<uint32_t> images;
  std::deque<Members> lines; // of its steps; the end follows them
};

constexpr unsigned WAY = 5; // cycles from a step to its line

} // namespace

int main(int argc, char **argv) {
  Bench b("set_plan_lister",
          {"a line of one", "a line of all", "a line of none", "an operation without a line", "many operations wait",
           "no room for images", "no room for lines", "records wait", "a record each cycle", "whole beats", "halves"},
          argc, argv);
  auto &d = *b.dut;
  d.listed_i = d.valid_i = d.record_ready_i = 0;
  for (int n = 0; n < 120; ++n) {
    d.listed_i = d.valid_i = d.record_ready_i = 0;
    b.reset(d.rst_i);
    const unsigned wide = b.random(2), slow = b.chance(40) ? 0 : 20 + b.random(78), gaps = b.chance(50) ? 0 : 50;
    const unsigned most = b.random(4), share = 1 + b.random(100);
    std::deque<Task> asked, at_work;
    std::deque<std::vector<uint32_t>> expected;
    for (unsigned t = 1 + b.random(60); t; --t) {
      Task task;
      for (unsigned v = 0; v < PLACED; ++v) task.images.push_back(b.random(ID));
      for (unsigned l = b.random(most + 1); l; --l) {
        Members m{random_line(b), 0, 0};
        for (unsigned lane = 0; lane < 16; ++lane) m.lanes |= unsigned(b.chance(share)) << lane;
        for (unsigned lane = 0; lane < 16; ++lane) {
          if (!(m.lanes >> lane & 1)) continue;
          expected.push_back({m.line[lane] & ID});
          expected.back().insert(expected.back().end(), task.images.begin(), task.images.end());
        }
        b.hit("a line of one", m.lanes && !(m.lanes & (m.lanes - 1))), b.hit("a line of all", m.lanes == 0xffff), b.hit("a line of none", !m.lanes);
        task.lines.push_back(m);
      }
      b.hit("an operation without a line", task.lines.empty());
      asked.push_back(task);
    }
    // The merger: an operation begins, its steps follow, then its end.
    enum { IDLE, STEPS, END } state = IDLE;
    std::deque<std::pair<uint64_t, Members>> coming;
    bool was = false;
    for (uint64_t limit = 40000, quiet = 0; quiet < 8;) {
      d.valid_i = !coming.empty() && coming.front().first == b.cycle;
      if (d.valid_i) {
        drive(d.line_i, coming.front().second.line);
        d.lanes_i = coming.front().second.lanes, d.ends_i = coming.front().second.ends, d.wide_i = wide;
        coming.pop_front();
      }
      d.record_ready_i = !b.chance(slow);
      d.listed_i = 0;
      b.settle();
      if (!asked.empty() && !d.full_o && !b.chance(gaps)) {
        d.listed_i = 1;
        std::vector<Field> images;
        for (unsigned v = PLACED; v-- > 0;) images.push_back({asked.front().images[v], ID_W});
        pack(d.images_i, images);
        b.settle();
      }
      b.hit("no room for images", d.full_o), b.hit("no room for lines", !d.room_o && b.cycle > 40), b.hit("many operations wait", at_work.size() > 10);
      b.hit("records wait", d.record_valid_o && !d.record_ready_i);
      if (d.record_valid_o && d.record_ready_i) {
        std::vector<unsigned> widths{1};
        widths.insert(widths.end(), PLACED + 1, ID_W);
        const auto got = unpack(d.record_o, widths);
        b.check(!expected.empty(), "run %d: a record more", n);
        b.equal(got[0], wide, "the size of a record");
        for (unsigned at = 0; at <= PLACED; ++at) b.equal(got[1 + PLACED - at], expected.front()[at], "an id of a record");
        expected.pop_front();
        b.hit("a record each cycle", was), b.hit(wide ? "whole beats" : "halves");
      }
      was = d.record_valid_o && d.record_ready_i;
      const bool room = d.room_o;
      if (state == IDLE && !at_work.empty() && room && !b.chance(gaps)) {
        state = at_work.front().lines.empty() ? END : STEPS;
      } else if (state == STEPS && room) {
        coming.push_back({b.cycle + WAY, at_work.front().lines.front()});
        at_work.front().lines.pop_front();
        if (at_work.front().lines.empty()) state = END;
      } else if (state == END) {
        coming.push_back({b.cycle + WAY, {random_line(b), 0, 1}});
        at_work.pop_front();
        state = IDLE;
      }
      if (d.listed_i) at_work.push_back(asked.front()), asked.pop_front();
      b.rise();
      quiet = asked.empty() && at_work.empty() && coming.empty() && state == IDLE && !d.busy_o ? quiet + 1 : 0;
      b.check(--limit, "run %d does not end: %zu records are left", n, expected.size());
    }
    b.check(expected.empty(), "run %d: %zu records are missing", n, expected.size());
  }
  return b.end();
}

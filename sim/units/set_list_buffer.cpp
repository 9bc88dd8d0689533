// set_list_buffer against an array: both readers get the line that was written last, two cycles after they asked.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include "set_widths.hpp"

namespace {

constexpr unsigned LINES = LISTS * LIST_LINES;

/// Bits of a held entry: search plans copy all of it, other tasks compare ids.
constexpr unsigned HELD_W = PLAN_LEVELS == 0 ? kept_bits() : entry_bits();

/// The bits of a line that held lines have.
Line held_of(Line line) {
  for (unsigned bit = 0; bit < 32 * line.size(); ++bit)
    if (bit % entry_bits() >= HELD_W) line[bit / 32] &= ~(1u << bit % 32);
  return line;
}

/// A reader: its requests of the last two cycles and the expected answers.
struct Reader {
  int asked[2] = {-1, -1};
  Line line, next;
};

} // namespace

int main(int argc, char **argv) {
  Bench b("set_list_buffer",
          {"a member and a held line", "the same line for both", "a line each cycle", "written in between",
           "a line that stays", "first line", "last line", "written and read in one cycle, other lines"},
          argc, argv);
  auto &d = *b.dut;
  std::vector<Line> lines(LINES);
  for (unsigned at = 0; at < LINES; ++at) {
    lines[at] = random_kept_line(b);
    d.write_i = 1, d.write_slot_i = at / LIST_LINES, d.write_at_i = at % LIST_LINES;
    d.member_read_i = d.held_read_i = 0;
    drive(d.line_i, lines[at]);
    b.tick();
  }
  Reader member, held;
  unsigned row = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    const unsigned some = b.chance(50) ? 4 : LINES; // often the same ones
    const unsigned write = unsigned(b.random(some)), m = unsigned(b.random(some)), h = unsigned(b.random(some));
    const bool writes = b.chance(30);
    // A line isn't read in the cycle in which it is written.
    const bool reads_m = b.chance(60) && !(writes && m == write), reads_h = b.chance(60) && !(writes && h == write);
    d.write_i = writes, d.write_slot_i = write / LIST_LINES, d.write_at_i = write % LIST_LINES;
    d.member_read_i = reads_m, d.member_slot_i = m / LIST_LINES, d.member_at_i = m % LIST_LINES;
    d.held_read_i = reads_h, d.held_slot_i = h / LIST_LINES, d.held_at_i = h % LIST_LINES;
    const Line line = random_kept_line(b);
    drive(d.line_i, line);
    b.tick();
    for (auto [reader, reads, at] : {std::tuple{&member, reads_m, m}, std::tuple{&held, reads_h, h}}) {
      // The line of the cycle before comes out now.
      if (reader->asked[0] >= 0) reader->line = reader->next;
      if (reads) reader->next = lines[at];
      reader->asked[1] = reader->asked[0];
      reader->asked[0] = reads ? int(at) : -1;
    }
    if (writes) lines[write] = line;
    d.eval();
    if (!member.line.empty()) b.check(line_of(d.member_line_o, kept_line_words()) == member.line, "a member's line is another");
    if (!held.line.empty()) b.check(line_of(d.held_line_o, kept_line_words()) == held_of(held.line), "a held line is another");
    b.hit("a member and a held line", reads_m && reads_h && m != h);
    b.hit("the same line for both", reads_m && reads_h && m == h);
    row = reads_m ? row + 1 : 0;
    b.hit("a line each cycle", row > 8);
    b.hit("written in between", writes && member.asked[1] == int(write) && !reads_m);
    b.hit("a line that stays", member.asked[0] < 0 && member.asked[1] < 0);
    b.hit("first line", reads_h && h == 0);
    b.hit("last line", reads_h && h == LINES - 1);
    b.hit("written and read in one cycle, other lines", writes && reads_m && reads_h);
  }
  return b.end();
}

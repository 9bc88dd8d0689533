// set_partition_memory against an array: each port gives what its last read found, bit by bit, whatever part of a line
// lies in UltraRAM, in words of nine bits or in the few above them.
#include "bench.hpp"
#include "gramer_pkg.hpp"
#include "set_widths.hpp"

namespace {

constexpr unsigned BITS = kept_line_bits();
constexpr unsigned WORDS = kept_line_words();

/// The line of a port among those of both.
template <class W> Line of_port(const W &both, unsigned port) {
  Line line(WORDS);
  for (unsigned bit = 0; bit < BITS; ++bit) {
    const unsigned at = port * BITS + bit;
    line[bit / 32] |= (both[at / 32] >> at % 32 & 1) << bit % 32;
  }
  return line;
}

} // namespace

int main(int argc, char **argv) {
  Bench b("set_partition_memory",
          {"both ports read", "both read one line", "port 1 reads beside a write", "a port whose line stays",
           "a line stays over a write", "first line", "last line", "read in the cycle after its write"},
          argc, argv);
  auto &d = *b.dut;
  constexpr unsigned AT_W = bits_of(PARTITION_LINES);
  std::vector<Line> lines(PARTITION_LINES);
  Line found[2];
  int written = -1;
  for (unsigned n = 0; n < 3 * PARTITION_LINES; ++n) {
    // Every line is written once; then a few ones and the ends often, in any order.
    const bool fills = n < PARTITION_LINES;
    auto somewhere = [&] {
      const unsigned near = unsigned(b.random(8)), far = unsigned(b.random(PARTITION_LINES));
      return b.chance(20) ? (near % 2 ? unsigned(PARTITION_LINES) - 1 : 0) : b.chance(50) ? near : far;
    };
    const bool writes = fills || b.chance(30);
    unsigned at[2] = {fills ? n : somewhere(), somewhere()};
    if (b.chance(20)) at[1] = at[0];
    if (written >= 0 && b.chance(30)) at[1] = unsigned(written);
    const bool reads[2] = {!fills && !writes && b.chance(70),
                           !fills && b.chance(70) && !(writes && at[0] == at[1])};
    const Line line = random_kept_line(b);
    d.write_i = writes;
    d.read_i = reads[0] | reads[1] << 1;
    d.at_i = at[0] | uint64_t(at[1]) << AT_W;
    drive(d.line_i, line);
    b.tick();
    for (unsigned p = 0; p < 2; ++p)
      if (reads[p]) found[p] = lines[at[p]];
    if (writes) lines[at[0]] = line;
    for (unsigned p = 0; p < 2; ++p)
      if (!found[p].empty()) b.check(of_port(d.line_o, p) == found[p], "a port's line is another");
    b.hit("both ports read", reads[0] && reads[1]);
    b.hit("both read one line", reads[0] && reads[1] && at[0] == at[1]);
    b.hit("port 1 reads beside a write", writes && reads[1]);
    b.hit("a port whose line stays", !found[0].empty() && !reads[0] && !writes);
    b.hit("a line stays over a write", !found[0].empty() && writes);
    b.hit("first line", reads[1] && at[1] == 0);
    b.hit("last line", reads[1] && at[1] == PARTITION_LINES - 1);
    b.hit("read in the cycle after its write", reads[1] && int(at[1]) == written);
    written = writes ? int(at[0]) : -1;
  }
  return b.end();
}

// scratchpad against an array of lines.
#include "bench.hpp"

int main(int argc, char **argv) {
  Bench b("scratchpad",
          {"first line", "last line", "every line written", "read of the line being written",
           "read after a write", "answer stays without a read", "read and write of two lines"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned lines = 8;
  std::vector<Line> model(lines);
  Line answer;
  unsigned written = 0;
  int last = -1;
  for (unsigned n = 0; n < 20000; ++n) {
    d.write_i = n < lines || b.chance(40);
    d.write_at_i = n < lines ? n : b.random(lines);
    d.read_i = n >= lines && b.chance(60);
    d.read_at_i = b.random(lines);
    const Line line = random_line(b);
    drive(d.data_i, line);
    b.settle();
    if (!answer.empty()) b.check(line_of(d.data_o) == answer, "the answer differs from the line");
    b.hit("answer stays without a read", !answer.empty() && !d.read_i);
    b.hit("first line", d.read_i && d.read_at_i == 0);
    b.hit("last line", d.read_i && d.read_at_i == lines - 1);
    b.hit("read of the line being written", d.read_i && d.write_i && d.read_at_i == d.write_at_i);
    b.hit("read after a write", d.read_i && last == d.read_at_i);
    b.hit("read and write of two lines", d.read_i && d.write_i && d.read_at_i != d.write_at_i);
    if (d.read_i) answer = model[d.read_at_i];
    last = -1;
    if (d.write_i) {
      model[d.write_at_i] = line;
      last = d.write_at_i;
      written |= 1u << last;
    }
    b.hit("every line written", written == (1u << lines) - 1);
    b.rise();
  }
  return b.end();
}

// abort_poller against a model: the times of its reads and the abort words.
#include "bench.hpp"

int main(int argc, char **argv) {
  Bench b("abort_poller",
          {"no word", "word 0", "word 1", "word above 1", "stop stays", "read waits",
           "answer after the run", "cleared after a stop", "not running", "two looks in a run"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned period = 16;
  d.clear_i = d.running_i = d.ready_i = d.word_valid_i = 0;
  b.reset(d.rst_i);
  for (unsigned run = 0; run < 400; ++run) {
    d.clear_i = 1;
    d.running_i = 0;
    b.tick();
    d.clear_i = 0;
    b.settle();
    b.equal(d.stop_o | d.kill_o, 0, "stop_o after a clear");
    bool stop = false, kill = false, asked = false, was_valid = false;
    d.address_i = b.chance(15) ? 0 : 4 * b.random(1ull << 40);
    b.hit("no word", d.address_i == 0);
    unsigned idle = 0, looks = 0;
    const unsigned length = 20 + b.random(200), slow = run % 3 == 0 ? 10 : 70;
    for (unsigned n = 0; n < length || asked || d.valid_o; ++n) {
      b.check(n < length + 5000, "a read is not ended");
      d.running_i = n < length && !(run % 7 == 0 && n < 40);
      d.ready_i = b.chance(slow);
      d.word_valid_i = asked && b.chance(slow);
      d.word_i = b.chance(60) ? 0 : b.chance(50) ? 1 : b.chance(50) ? 2 : uint32_t(b.random());
      b.settle();
      b.equal(d.stop_o, stop, "stop_o");
      b.equal(d.kill_o, kill, "kill_o");
      b.equal(d.busy_o, asked || d.valid_o, "busy_o");
      b.check(!(d.valid_o && asked), "two reads at once");
      b.check(!d.valid_o || d.address_i, "a read of no word");
      b.check(!was_valid || d.valid_o, "a read is taken back");
      b.hit("not running", !d.running_i && n < length);
      b.hit("read waits", d.valid_o && !d.ready_i);
      b.hit("stop stays", stop && d.word_valid_i && d.word_i == 0);
      // Running and nothing under way: it looks within a period, and is a cycle later at the port.
      idle = d.running_i && d.address_i && !d.valid_o && !asked ? idle + 1 : 0;
      b.check(idle <= period + 2, "it does not look for %u cycles", idle);
      was_valid = d.valid_o && !d.ready_i;
      if (d.valid_o && d.ready_i) asked = true, b.hit("two looks in a run", ++looks == 2);
      if (d.word_valid_i) {
        asked = false;
        stop |= d.word_i != 0;
        kill |= d.word_i > 1;
        b.hit("word 0", d.word_i == 0);
        b.hit("word 1", d.word_i == 1);
        b.hit("word above 1", d.word_i > 1);
        b.hit("answer after the run", !d.running_i && n >= length);
      }
      b.rise();
      d.clk_i = 0;
      d.word_valid_i = 0;
      d.eval();
    }
    b.hit("cleared after a stop", stop);
  }
  return b.end();
}

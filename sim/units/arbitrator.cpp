// arbitrator: each unit goes to exactly one PU, the next in turn that has a free slot.
#include "messages.hpp"

int main(int argc, char **argv) {
  Bench b("arbitrator",
          {"no unit", "no PU ready", "all PUs ready", "one PU ready", "next in turn has no slot",
           "wrap-around", "unit waits", "units in a row", "reset in between"},
          argc, argv);
  auto &d = *b.dut;
  unsigned last = PUS - 1, row = 0, passed[16] = {};
  bool waits = false;
  d.unit_valid_i = d.pu_ready_i = 0;
  b.reset(d.rst_i);
  for (unsigned n = 0; n < 30000; ++n) {
    d.rst_i = b.chance(1);
    d.unit_valid_i = !d.rst_i && (waits || b.chance((n / 40) % 2 ? 100 : 50));
    d.pu_ready_i = d.rst_i ? 0 : (n / 80) % 2 ? (1u << PUS) - 1 : b.random(1u << PUS);
    b.settle();
    int expected = -1;
    for (unsigned t = 1; t <= PUS && expected < 0; ++t)
      if (d.pu_ready_i >> (last + t) % PUS & 1) expected = (last + t) % PUS;
    const bool handed = d.unit_valid_i && expected >= 0;
    b.equal(d.unit_ready_o, expected >= 0, "unit_ready_o");
    b.equal(d.pu_valid_o, handed ? 1u << expected : 0, "pu_valid_o");
    b.equal(d.handed_o, handed, "handed_o");
    b.hit("no unit", !d.unit_valid_i && expected >= 0);
    b.hit("no PU ready", d.unit_valid_i && expected < 0);
    b.hit("all PUs ready", handed && d.pu_ready_i == (1u << PUS) - 1);
    b.hit("one PU ready", handed && !(d.pu_ready_i & (d.pu_ready_i - 1)));
    b.hit("next in turn has no slot", handed && unsigned(expected) != (last + 1) % PUS);
    b.hit("wrap-around", handed && unsigned(expected) < last);
    b.hit("unit waits", waits && handed);
    row = handed ? row + 1 : 0;
    b.hit("units in a row", row > 2 * PUS);
    b.hit("reset in between", d.rst_i && last != PUS - 1);
    for (unsigned p = 0; p < PUS; ++p) {
      passed[p] = d.rst_i || !(d.pu_ready_i >> p & 1) || expected == int(p) ? 0 : passed[p] + handed;
      b.check(passed[p] < PUS, "PU %u is passed over", p);
    }
    waits = d.unit_valid_i && !handed;
    if (d.rst_i) last = PUS - 1;
    else if (handed) last = expected;
    b.rise();
  }
  return b.end();
}

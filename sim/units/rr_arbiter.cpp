// rr_arbiter against a list of requests that is walked from the one after the last.
#include "bench.hpp"

int main(int argc, char **argv) {
  Bench b("rr_arbiter",
          {"no request", "all request", "a single one", "wrap-around", "not taken", "each granted",
           "longest wait", "reset in between"},
          argc, argv);
  auto &d = *b.dut;
  const int n = 5;
  int last = n - 1; // the first turn is that of index 0
  int waited[n] = {};
  unsigned granted = 0;
  d.request_i = d.take_i = 0;
  b.reset(d.rst_i);
  for (int t = 0; t < 20000; ++t) {
    const unsigned phase = (t / 40) % 4;
    d.request_i = phase == 0 ? 31 : phase == 1 ? b.random(32) : phase == 2 ? 1u << b.random(n)
                                                                         : b.random(32) & b.random(32);
    d.take_i = phase == 0 || b.chance(60);
    d.rst_i = b.chance(1) && b.chance(20);
    b.settle();
    int expected = -1;
    for (int i = 1; i <= n && expected < 0; ++i)
      if (d.request_i >> (last + i) % n & 1) expected = (last + i) % n;
    b.equal(d.valid_o, expected >= 0, "valid_o");
    b.equal(d.grant_o, expected < 0 ? 0 : 1u << expected, "grant_o");
    if (expected >= 0) b.equal(d.index_o, expected, "index_o");
    b.hit("no request", d.request_i == 0);
    b.hit("all request", d.request_i == 31);
    b.hit("a single one", expected >= 0 && d.request_i == 1u << expected);
    b.hit("not taken", expected >= 0 && !d.take_i);
    b.hit("reset in between", d.rst_i && last != n - 1);
    const bool taken = expected >= 0 && d.take_i && !d.rst_i;
    for (int i = 0; i < n; ++i) {
      if (d.rst_i || !(d.request_i >> i & 1) || (taken && i == expected)) waited[i] = 0;
      else waited[i] += taken;
      b.check(waited[i] < n, "request %d has waited for %d grants", i, waited[i]);
      b.hit("longest wait", waited[i] == n - 1);
    }
    if (d.rst_i) last = n - 1;
    else if (taken) {
      b.hit("wrap-around", expected <= last);
      last = expected;
      granted |= 1u << last;
      b.hit("each granted", granted == 31);
    }
    b.rise();
  }
  return b.end();
}

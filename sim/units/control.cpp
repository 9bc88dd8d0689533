// control against the register map and the protocol ap_ctrl_chain, as Vitis HLS describes them.
#include "bench.hpp"

int main(int argc, char **argv) {
  Bench b("control",
          {"start", "start while running", "start held back by done", "done and continue together",
           "ready", "interrupt by done", "interrupt by ready", "interrupts off", "status toggled",
           "partial strobe", "no strobe", "last argument", "response stalled", "answer stalled",
           "read and write together", "address before data", "data before address", "reset", "a second one waits at the port"},
          argc, argv);
  auto &d = *b.dut;
  uint32_t regs[64] = {};
  bool written[64] = {};
  bool start = false, done = false, gie = false, running = false;
  unsigned ier = 0, isr = 0;
  bool b_pending = false, r_pending = false;
  uint32_t r_data = 0;
  bool r_known = false, have_aw = false, have_w = false;
  // Taken from the port, and not used yet.
  bool aw_in = false, w_in = false, ar_in = false, was_reset = false;
  unsigned aw = 0, w = 0, strobes = 0, ar = 0;
  d.awvalid_i = d.wvalid_i = d.arvalid_i = d.ready_i = d.done_i = 0;
  b.reset(d.rst_i);
  b.tick();
  for (unsigned n = 0; n < 60000; ++n) {
    d.rst_i = b.chance(1) && b.chance(5);
    const unsigned phase = (n / 100) % 3;
    // Address and data come on their own and stay until they are taken.
    auto address = [&] { return b.chance(60) ? unsigned(4 * b.random(4)) : unsigned(4 * (b.chance(10) ? 63 : 4 + b.random(60))); };
    if (!have_aw && b.chance(50)) have_aw = true, d.awaddr_i = address();
    if (!have_w && b.chance(50)) {
      have_w = true;
      d.wdata_i = b.chance(50) ? b.random(32) : uint32_t(b.random());
      d.wstrb_i = b.chance(60) ? 15 : b.random(16);
    }
    d.awvalid_i = have_aw;
    d.wvalid_i = have_w;
    d.bready_i = b.chance(phase == 0 ? 90 : 40);
    if (!d.arvalid_i && b.chance(60)) d.arvalid_i = 1, d.araddr_i = address();
    d.rready_i = b.chance(phase == 1 ? 90 : 40);
    d.idle_i = !running && !done;
    d.ready_i = start && !done && !running && !d.rst_i && b.chance(20);
    d.done_i = running && !d.rst_i && b.chance(10);
    b.settle();
    b.equal(d.start_o, start && !done, "start_o");
    b.equal(d.waiting_o, done, "waiting_o");
    b.equal(d.interrupt_o, gie && isr, "interrupt_o");
    b.equal(d.bvalid_o, b_pending, "bvalid_o");
    b.equal(d.rvalid_o, r_pending, "rvalid_o");
    if (b_pending) b.equal(d.bresp_o, 0, "bresp_o");
    if (r_pending && r_known) b.equal(d.rdata_o, r_data, "rdata_o");
    if (r_pending) b.equal(d.rresp_o, 0, "rresp_o");
    for (unsigned i = 4; i < 64; ++i)
      if (written[i]) b.equal(d.registers_o[i], regs[i], "registers_o");
    // Whether the port takes something is settled before it comes.
    b.equal(d.awready_o, !aw_in && !was_reset, "awready_o");
    b.equal(d.wready_o, !w_in && !was_reset, "wready_o");
    b.equal(d.arready_o, !ar_in && !was_reset, "arready_o");
    const bool takes_aw = d.awvalid_i && d.awready_o, takes_w = d.wvalid_i && d.wready_o;
    const bool takes_ar = d.arvalid_i && d.arready_o;
    if (takes_aw) aw_in = true, aw = d.awaddr_i;
    if (takes_w) w_in = true, w = d.wdata_i, strobes = d.wstrb_i;
    if (takes_ar) ar_in = true, ar = d.araddr_i;
    const bool write = aw_in && w_in && (!b_pending || d.bready_i);
    const bool read = ar_in && (!r_pending || d.rready_i);
    b.hit("address before data", aw_in && !w_in);
    b.hit("data before address", w_in && !aw_in);
    b.hit("response stalled", b_pending && !d.bready_i && aw_in && w_in);
    b.hit("answer stalled", r_pending && !d.rready_i && ar_in);
    b.hit("a second one waits at the port", d.awvalid_i && d.wvalid_i && !d.awready_o && !d.wready_o && aw_in && w_in);
    b.hit("start held back by done", start && done);
    b.hit("ready", d.ready_i);
    b.hit("reset", d.rst_i && (start || done || isr));
    b.hit("interrupts off", isr && !gie);
    // A read sees what was there before this edge.
    if (read && !d.rst_i) {
      const unsigned at = ar / 4;
      r_known = at < 4 || written[at];
      r_data = at == 0   ? start | done << 1 | (d.idle_i && !start) << 2 | d.ready_i << 3
               : at == 1 ? gie
               : at == 2 ? ier
               : at == 3 ? isr
                         : regs[at];
      b.hit("read and write together", write);
    }
    const bool was_start = start;
    if (write) {
      const unsigned at = aw / 4, v = w;
      const bool low = strobes & 1;
      if (at >= 4) {
        for (unsigned byte = 0; byte < 4; ++byte)
          if (strobes >> byte & 1)
            regs[at] = (regs[at] & ~(255u << 8 * byte)) | (v & 255u << 8 * byte);
        if (strobes == 15) written[at] = true;
        b.hit("partial strobe", strobes && strobes != 15 && written[at]);
        b.hit("no strobe", !strobes && written[at]);
        b.hit("last argument", at == 63);
      }
      if (!d.rst_i && low) {
        if (at == 0) {
          b.hit("start", v & 1);
          b.hit("start while running", (v & 1) && running);
          b.hit("done and continue together", (v & 16) && d.done_i);
          if (v & 16) done = false;
        }
        if (at == 1) gie = v & 1;
        if (at == 3) isr ^= v & 3, b.hit("status toggled", v & 3);
      }
    }
    if (d.done_i) done = true, running = false, isr |= ier & 1, b.hit("interrupt by done", gie && (ier & 1));
    if (d.ready_i) start = false, running = true, isr |= ier & 2, b.hit("interrupt by ready", gie && (ier & 2));
    if (write && !d.rst_i && (strobes & 1)) {
      if (aw == 0 && (w & 1)) start = true;
      if (aw == 8) ier = w & 3;
    }
    (void)was_start;
    have_aw = have_aw && !takes_aw;
    have_w = have_w && !takes_w;
    if (write) aw_in = w_in = false, b_pending = true;
    else if (d.bready_i) b_pending = false;
    if (read) ar_in = false, r_pending = true;
    else if (d.rready_i) r_pending = false;
    if (d.rst_i) {
      start = done = gie = running = b_pending = r_pending = aw_in = w_in = ar_in = false;
      ier = isr = 0;
    }
    was_reset = d.rst_i;
    b.rise();
    if (takes_ar) d.arvalid_i = 0;
  }
  return b.end();
}

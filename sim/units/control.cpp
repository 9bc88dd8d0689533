// control against the register map and the protocol ap_ctrl_chain, as Vitis HLS describes them.
#include "bench.hpp"

int main(int argc, char **argv) {
  Bench b("control",
          {"start", "start while running", "start held back by done", "done and continue together",
           "ready", "interrupt by done", "interrupt by ready", "interrupts off", "status toggled",
           "partial strobe", "no strobe", "last argument", "response stalled", "answer stalled",
           "read and write together", "address before data", "data before address", "reset"},
          argc, argv);
  auto &d = *b.dut;
  uint32_t regs[64] = {};
  bool written[64] = {};
  bool start = false, done = false, gie = false, running = false;
  unsigned ier = 0, isr = 0;
  bool b_pending = false, r_pending = false;
  uint32_t r_data = 0;
  bool r_known = false, have_aw = false, have_w = false;
  d.awvalid_i = d.wvalid_i = d.arvalid_i = d.ready_i = d.done_i = 0;
  b.reset(d.rst_i);
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
    const bool write = d.awvalid_i && d.awready_o, read = d.arvalid_i && d.arready_o;
    b.check(!write || (d.wvalid_i && d.wready_o), "an address is taken without its data");
    b.check(!(d.wvalid_i && d.wready_o) || write, "data is taken without its address");
    b.check(write || !(have_aw && have_w && (!b_pending || d.bready_i)), "a write is not taken");
    b.check(read || !(d.arvalid_i && (!r_pending || d.rready_i)), "a read is not taken");
    b.check(!write || !b_pending || d.bready_i, "a write is taken before the last response");
    b.hit("address before data", have_aw && !have_w);
    b.hit("data before address", have_w && !have_aw);
    b.hit("response stalled", b_pending && !d.bready_i && have_aw && have_w);
    b.hit("answer stalled", r_pending && !d.rready_i && d.arvalid_i);
    b.hit("start held back by done", start && done);
    b.hit("ready", d.ready_i);
    b.hit("reset", d.rst_i && (start || done || isr));
    b.hit("interrupts off", isr && !gie);
    // A read sees what was there before this edge.
    if (read && !d.rst_i) {
      const unsigned at = d.araddr_i / 4;
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
      const unsigned at = d.awaddr_i / 4, v = d.wdata_i;
      const bool low = d.wstrb_i & 1;
      if (at >= 4) {
        for (unsigned byte = 0; byte < 4; ++byte)
          if (d.wstrb_i >> byte & 1)
            regs[at] = (regs[at] & ~(255u << 8 * byte)) | (v & 255u << 8 * byte);
        if (d.wstrb_i == 15) written[at] = true;
        b.hit("partial strobe", d.wstrb_i && d.wstrb_i != 15 && written[at]);
        b.hit("no strobe", !d.wstrb_i && written[at]);
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
    if (write && !d.rst_i && (d.wstrb_i & 1)) {
      if (d.awaddr_i == 0 && (d.wdata_i & 1)) start = true;
      if (d.awaddr_i == 8) ier = d.wdata_i & 3;
    }
    (void)was_start;
    if (write) have_aw = have_w = false, b_pending = true;
    else if (d.bready_i) b_pending = false;
    const bool answered = read;
    if (answered) r_pending = true;
    else if (d.rready_i) r_pending = false;
    if (d.rst_i) {
      start = done = gie = running = b_pending = r_pending = false;
      ier = isr = 0;
    }
    b.rise();
    if (answered) d.arvalid_i = 0;
  }
  return b.end();
}

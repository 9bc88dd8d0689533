// axi_reader against a table of the reads under way.
#include "bench.hpp"

struct Read {
  bool there = false, on_bus = false;
  uint64_t address = 0;
};

int main(int argc, char **argv) {
  Bench b("axi_reader",
          {"all ask at once", "address waits", "answers out of order", "memory stalls its answer",
           "a word in each place", "word and lines together", "error", "error of the word",
           "each entry of each memory", "largest line", "reads in a row", "all under way",
           "reset while an address waits"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned memories = 4, entries = 4;
  Read reads[memories + 1][entries];
  std::vector<unsigned> order; // ids on the bus
  unsigned used = 0, places = 0, waited[memories + 1] = {}, in_a_row = 0;
  int accepted = -1; // id of the address that has to be on the bus
  bool answering = false;
  d.read_valid_i = d.word_valid_i = d.arready_i = d.rvalid_i = 0;
  d.base_i = 0x4000000000;
  d.edge_base_i = 0x100000;
  b.reset(d.rst_i);
  // An address that the bus has not taken is gone with a reset.
  d.read_valid_i = 1;
  b.tick();
  d.read_valid_i = 0;
  b.settle();
  b.hit("reset while an address waits", d.arvalid_o);
  b.reset(d.rst_i);
  b.settle();
  b.equal(d.arvalid_o, 0, "arvalid_o after a reset");
  unsigned pending = 0;
  bool word = false, word_out = false;
  for (unsigned n = 0; n < 40000; ++n) {
    const unsigned phase = (n / 80) % 3;
    for (unsigned m = 0; m < memories; ++m) {
      if (pending >> m & 1) continue;
      const unsigned e = b.random(entries);
      if (reads[m][e].there || !b.chance(phase == 0 ? 90 : 30)) continue;
      pending |= 1u << m;
      d.read_entry_i[m] = e;
      d.read_line_i[m] = b.chance(2) ? (1ull << 36) - 1 : b.random(1ull << 36);
    }
    d.read_valid_i = pending;
    if (!word && !word_out && b.chance(10)) word = true, d.word_address_i = 4 * b.random(1ull << 40);
    d.word_valid_i = word;
    d.arready_i = b.chance(phase == 1 ? 20 : 80);
    d.fill_ready_i = b.random(16) | (phase == 0 ? 15 : 0);
    Line data;
    if (!answering && !order.empty() && b.chance(phase == 2 ? 70 : 35)) {
      const unsigned at = b.random(order.size());
      d.rid_i = order[at];
      d.rresp_i = b.chance(5) ? 1 + b.random(3) : 0;
      drive(d.rdata_i, random_line(b));
      d.rvalid_i = answering = true;
      b.hit("answers out of order", at != 0);
    }
    b.settle();
    // Addresses.
    b.equal(d.arvalid_o, accepted >= 0, "arvalid_o");
    if (accepted >= 0) {
      b.equal(d.arid_o, accepted, "arid_o");
      b.equal(d.araddr_o, reads[accepted / entries][accepted % entries].address, "araddr_o");
      b.hit("address waits", !d.arready_i);
    }
    const unsigned asking = pending | unsigned(word) << memories;
    const unsigned granted = d.read_ready_o | unsigned(d.word_ready_o) << memories;
    b.check((granted & (granted - 1)) == 0 && !(granted & ~asking), "grants %x of %x", granted, asking);
    const bool free = accepted < 0 || d.arready_i;
    b.check(!free == !granted || !asking, "a free port is not used, or a busy one is");
    b.hit("all ask at once", asking == 31);
    in_a_row = granted ? in_a_row + 1 : 0;
    b.hit("reads in a row", in_a_row >= 5);
    for (unsigned m = 0; m <= memories; ++m) {
      waited[m] = !(asking >> m & 1) || (granted >> m & 1) ? 0 : waited[m] + (granted != 0);
      b.check(waited[m] <= memories, "memory %u waits longer than a round", m);
    }
    // Answers.
    const unsigned from = d.rid_i / entries, entry = d.rid_i % entries;
    unsigned taken_from = memories + 1;
    if (answering) {
      b.equal(d.fill_valid_o, from < memories ? 1u << from : 0, "fill_valid_o");
      b.equal(d.word_valid_o, from == memories, "word_valid_o");
      b.equal(d.rready_o, from == memories || (d.fill_ready_i >> from & 1), "rready_o");
      if (from < memories) {
        b.equal(d.fill_entry_o, entry, "fill_entry_o");
        b.check(line_of(d.fill_line_o) == line_of(d.rdata_i), "the line differs");
        b.hit("memory stalls its answer", !d.rready_o);
      } else {
        b.equal(d.word_o, d.rdata_i[d.word_address_i / 4 % 16], "word_o");
        places |= 1u << d.word_address_i / 4 % 16;
      }
      if (d.rready_o) taken_from = from;
    } else {
      b.equal(d.fill_valid_o | d.word_valid_o, 0, "an answer without a beat");
    }
    b.equal(d.beat_o, taken_from <= memories, "beat_o");
    b.equal(d.error_o, taken_from <= memories && d.rresp_i, "error_o");
    if (d.error_o) {
      b.equal(d.error_address_o, reads[from][entry].address, "error_address_o");
      b.hit("error", from < memories);
      b.hit("error of the word", from == memories);
    }
    b.hit("a word in each place", places == 0xffff);
    b.hit("all under way", order.size() >= memories * entries);
    if (accepted >= 0 && d.arready_i) order.push_back(accepted), accepted = -1;
    if (taken_from <= memories) {
      for (size_t i = 0; i < order.size(); ++i)
        if (order[i] == d.rid_i) order.erase(order.begin() + i--);
      reads[from][entry] = {};
      if (from == memories) word_out = false;
      answering = false;
    }
    for (unsigned m = 0; m <= memories; ++m) {
      if (!(granted >> m & 1)) continue;
      const unsigned e = m < memories ? d.read_entry_i[m] : 0;
      uint64_t address = d.word_address_i / 64 * 64;
      if (m < memories) {
        address = d.base_i + (m % 2 ? d.edge_base_i : 0) + d.read_line_i[m] / 2 * 64;
        pending &= ~(1u << m);
        used |= 1u << (m * entries + e);
        b.hit("largest line", d.read_line_i[m] == (1ull << 36) - 1);
      } else {
        word = false, word_out = true;
        b.hit("word and lines together", pending != 0);
      }
      reads[m][e] = {true, false, address};
      accepted = m * entries + e;
    }
    b.hit("each entry of each memory", used == 0xffff);
    b.rise();
    if (!answering) d.rvalid_i = 0;
  }
  return b.end();
}

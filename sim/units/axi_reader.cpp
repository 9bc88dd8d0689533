// axi_reader against a table of the reads in flight.
#include "bench.hpp"

struct Read {
  bool there = false;
  uint64_t address = 0;
};

/// An answer: of a memory or the word, for an entry.
struct Answer {
  unsigned from = 0, entry = 0, response = 0;
  Line line{};
};

int main(int argc, char **argv) {
  Bench b("axi_reader",
          {"all ask at once", "address waits", "answers out of order", "memory stalls its answer",
           "a word in each place", "word and lines together", "error", "error of the word",
           "each entry of each memory", "largest line", "reads in a row", "all under way",
           "reset while an address waits", "an answer waits behind the port", "EXOKAY", "DECERR"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned memories = 4, entries = 4;
  Read reads[memories + 1][entries];
  std::vector<std::pair<unsigned, unsigned>> order; // reads on the bus: memory and entry
  unsigned used = 0, places = 0, waited[memories + 1] = {}, in_a_row = 0;
  int accepted = -1; // the read whose address has to be on the bus
  Answer sent, held; // on the port; taken from it, and waiting for its memory
  bool answering = false, holds = false;
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
  b.tick();
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
    if (!answering && !order.empty() && b.chance(phase == 2 ? 70 : 35)) {
      // Any, but those of one id in order.
      size_t at = b.random(order.size());
      for (size_t i = 0; i < at; ++i)
        if (order[i].first == order[at].first) at = i;
      sent = {order[at].first, order[at].second, b.chance(5) ? 1 + unsigned(b.random(3)) : 0, random_line(b)};
      order.erase(order.begin() + at);
      d.rid_i = sent.from;
      d.rresp_i = sent.response;
      drive(d.rdata_i, sent.line);
      d.rvalid_i = answering = true;
      b.hit("answers out of order", at != 0);
    }
    if (!answering) d.rid_i = b.random(8), d.rresp_i = b.random(4); // means nothing
    b.settle();
    // Addresses.
    b.equal(d.arvalid_o, accepted >= 0, "arvalid_o");
    if (accepted >= 0) {
      b.equal(d.arid_o, accepted / entries, "arid_o");
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
    const bool taken = answering && d.rready_o; // from the port
    const bool comes = holds || taken;
    const Answer &now = holds ? held : sent;
    bool done = false;
    b.equal(d.rready_o, !holds, "rready_o");
    if (comes) {
      b.equal(d.fill_valid_o, now.from < memories ? 1u << now.from : 0, "fill_valid_o");
      b.equal(d.word_valid_o, now.from == memories, "word_valid_o");
      done = now.from == memories || (d.fill_ready_i >> now.from & 1);
      if (now.from < memories) {
        b.equal(d.fill_entry_o, now.entry, "fill_entry_o");
        b.check(line_of(d.fill_line_o) == now.line, "the line differs");
        b.hit("memory stalls its answer", !done);
        b.hit("an answer waits behind the port", holds);
      } else {
        b.equal(d.word_o, now.line[d.word_address_i / 4 % 16], "word_o");
        places |= 1u << d.word_address_i / 4 % 16;
      }
    } else {
      b.equal(d.fill_valid_o | d.word_valid_o, 0, "an answer without a beat");
    }
    b.equal(d.beat_o, done, "beat_o");
    b.equal(d.error_o, done && now.response, "error_o");
    if (d.error_o) {
      b.equal(d.error_address_o, reads[now.from][now.entry].address, "error_address_o");
      b.hit("error", now.from < memories);
      b.hit("error of the word", now.from == memories);
      b.hit("EXOKAY", now.response == 1);
      b.hit("DECERR", now.response == 3);
    }
    b.hit("a word in each place", places == 0xffff);
    b.hit("all under way", order.size() + answering + holds >= memories * entries);
    if (accepted >= 0 && d.arready_i) order.emplace_back(accepted / entries, accepted % entries), accepted = -1;
    if (done) {
      reads[now.from][now.entry] = {};
      if (now.from == memories) word_out = false;
    }
    if (taken && !done) held = sent;
    holds = comes && !done;
    if (taken) answering = false;
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
      reads[m][e] = {true, address};
      accepted = m * entries + e;
    }
    b.hit("each entry of each memory", used == 0xffff);
    b.rise();
    if (!answering) d.rvalid_i = 0;
  }
  return b.end();
}

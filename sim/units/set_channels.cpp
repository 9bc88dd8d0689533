// set_channels against an image that is shared out over the channels, each with a memory that answers in order.
#include "bench.hpp"
#include "gramer_pkg.hpp"

int main(int argc, char **argv) {
  Bench b("set_channels",
          {"no line", "fewer lines than channels", "a line in each channel in a cycle", "a channel is far ahead",
           "the last channel is behind", "the word", "an error", "errors of two channels in a cycle", "stopped"},
          argc, argv);
  auto &d = *b.dut;
  d.start_i = d.stop_i = d.word_valid_i = d.rvalid_i = 0;
  d.arready_i = 0;
  b.reset(d.rst_i);
  const uint32_t most = PARTITIONS * PARTITION_LINES;
  for (int run = 0; run < 80; ++run) {
    const bool stops = run > 12 && b.chance(15);
    const uint32_t lines = run < 12 ? run : stops || b.chance(10) ? most : b.random(600);
    uint64_t base[CHANNELS];
    for (auto &x : base) x = (b.random() & ~63ull) >> 8;
    const uint64_t word_address = b.random() >> 8 & ~3ull;
    const uint32_t key = b.random();
    struct Read { uint64_t address; unsigned id; };
    std::vector<Read> under_way[CHANNELS];
    std::vector<bool> there(lines);
    uint32_t came[CHANNELS] = {}, contiguous = 0;
    unsigned slow[CHANNELS];
    for (auto &x : slow) x = b.chance(50) ? 0 : b.random(95);
    if (run % 8 == 3) slow[CHANNELS - 1] = 90;
    if (run % 8 == 4) for (auto &x : slow) x = 0;
    const bool fails = b.chance(30), words = b.chance(60);
    const uint32_t stop_at = stops ? b.random(lines / 3) : ~0u;
    uint32_t all_came = 0;
    bool word_asked = false, word_came = false, stopped = false;
    b.settle();
    d.start_i = 1;
    d.lines_i = lines;
    for (unsigned c = 0; c < CHANNELS; ++c) d.base_i[c] = base[c];
    d.word_address_i = word_address;
    b.tick();
    d.start_i = 0;
    bool expects_error = false;
    uint64_t errors = 0;
    int rest = 24;
    uint64_t limit = 200000;
    while (rest) {
      b.check(--limit, "the channels do not end");
      d.arready_i = b.random() & ((1u << CHANNELS) - 1);
      if (!d.word_valid_i && !word_asked && words && b.chance(3)) d.word_valid_i = 1;
      if (all_came >= stop_at) d.stop_i = stopped = true;
      bool first_error = true;
      unsigned failed = 0;
      uint64_t error_address = 0;
      d.rvalid_i = 0;
      d.rid_i = d.rresp_i = 0;
      for (unsigned c = 0; c < CHANNELS; ++c) {
        if (under_way[c].empty() || b.chance(slow[c])) continue;
        const Read &r = under_way[c][0];
        d.rvalid_i = d.rvalid_i | 1u << c;
        d.rid_i = d.rid_i | uint64_t(r.id) << 8 * c;
        if (fails && b.chance(5)) {
          d.rresp_i = d.rresp_i | 2u << 2 * c;
          if (first_error) error_address = r.address;
          first_error = false;
          ++failed;
        }
        for (int w = 0; w < 16; ++w) d.rdata_i[16 * c + w] = uint32_t(r.address / 4 + w) * 2654435761u ^ key ^ c;
      }
      b.settle();
      const uint32_t asks = d.arvalid_o & d.arready_i, arrives = d.rvalid_i & d.rready_o;
      b.equal(arrives, d.rvalid_i, "rready_o");
      Read next[CHANNELS];
      unsigned beats[CHANNELS];
      for (unsigned c = 0; c < CHANNELS; ++c) {
        next[c] = {uint64_t(d.araddr_o[2 * c + 1]) << 32 | d.araddr_o[2 * c], unsigned(d.arid_o >> 8 * c & 255)};
        beats[c] = (d.arlen_o >> 8 * c & 255) + 1u;
      }
      const bool word_taken = d.word_valid_i && d.word_ready_o;
      b.rise();
      if (word_taken) d.word_valid_i = 0, word_asked = true;
      d.clk_i = 0;
      d.eval();
      b.equal(d.beat_o, arrives, "beat_o");
      // An error shows a cycle after the beat.
      b.equal(d.error_o, expects_error, "error_o");
      if (expects_error) b.equal(d.error_address_o, errors, "error_address_o");
      expects_error = failed > 0;
      errors = error_address;
      b.hit("an error", failed > 0);
      b.hit("errors of two channels in a cycle", failed > 1);
      uint32_t writes = 0;
      for (unsigned c = 0; c < CHANNELS; ++c) {
        if (!(arrives >> c & 1)) continue;
        const Read r = under_way[c][0];
        under_way[c].erase(under_way[c].begin());
        if (r.id == 1) {
          b.equal(c, 0, "channel of the word");
          b.equal(d.word_valid_o, 1, "word_valid_o");
          b.equal(d.word_o, uint32_t(word_address / 64 * 16 + (word_address / 4 & 15)) * 2654435761u ^ key, "word_o");
          word_came = true;
          continue;
        }
        const uint32_t nth = (r.address - base[c]) / 64, line = nth * CHANNELS + c;
        b.equal(nth, came[c], "order of a channel");
        writes |= 1u << line % PARTITIONS;
        b.equal(d.write_at_o[c], line / PARTITIONS, "write_at_o");
        for (int w = 0; w < 16; ++w)
          b.equal(d.write_line_o[c][w], uint32_t((base[c] / 4 + nth * 16 + w)) * 2654435761u ^ key ^ c, "write_line_o");
        there[line] = true;
        ++came[c];
        ++all_came;
      }
      b.equal(d.write_o, writes, "write_o");
      b.hit("a line in each channel in a cycle", __builtin_popcount(writes) == CHANNELS);
      for (unsigned c = 0; c < CHANNELS; ++c) {
        b.hit("a channel is far ahead", came[c] > came[(c + 1) % CHANNELS] + 40);
        if (!(asks >> c & 1)) continue;
        for (unsigned n = 0; n < beats[c]; ++n) under_way[c].push_back({next[c].address + 64 * n, next[c].id});
      }
      b.hit("the last channel is behind", lines > 100 && contiguous % CHANNELS == CHANNELS - 1 && came[0] > came[CHANNELS - 1] + 8);
      while (contiguous < lines && there[contiguous]) ++contiguous;
      b.check(d.loaded_o <= contiguous || contiguous == lines, "%u lines are said to be there, %u are", d.loaded_o, contiguous);
      if (d.all_o) b.equal(all_came, lines, "all_o");
      bool waits = d.busy_o || d.word_valid_i || word_asked != word_came;
      for (auto &queue : under_way) waits |= !queue.empty();
      if (waits || (!d.all_o && !stopped)) rest = 24;
      else --rest;
    }
    if (!stopped) {
      b.equal(all_came, lines, "lines");
      b.check(d.loaded_o >= lines, "%u of %u lines are said to be there", d.loaded_o, lines);
    }
    b.hit("the word", word_came);
    b.hit("stopped", stopped && all_came < lines);
    b.hit("no line", lines == 0);
    b.hit("fewer lines than channels", lines > 0 && lines < CHANNELS);
    d.stop_i = d.rvalid_i = d.word_valid_i = 0;
    if (stopped && all_came < lines) b.reset(d.rst_i);
  }
  return b.end();
}

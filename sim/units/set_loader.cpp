// set_loader against an image and a memory that answers reads of one id in order, and those of two ids in any.
#include "bench.hpp"
#include "gramer_pkg.hpp"

int main(int argc, char **argv) {
  Bench b("set_loader",
          {"no line", "one line", "more lines than reads under way", "all reads under way", "a whole page",
           "a burst ends with its page", "the word before earlier lines", "the word in between", "addresses wait",
           "an error", "an error of the word", "stopped", "a line a cycle", "EXOKAY", "DECERR", "addresses at both ends"},
          argc, argv);
  auto &d = *b.dut;
  d.start_i = d.stop_i = d.word_valid_i = d.rvalid_i = 0;
  d.arready_i = 1;
  b.reset(d.rst_i);
  for (int run = 0; run < 160; ++run) {
    const bool stops = run > 10 && b.chance(15); // before all lines are requested
    const uint32_t lines = run == 0 ? 0 : run == 1 ? 1 : run % 4 == 0 || stops ? 400 + b.random(500) : run == 10 ? 100 : b.random(200);
    // Addresses of all 64 bits, and at both ends of them.
    const uint64_t last = ~0ull - 64 * 1024 + 1;
    const uint64_t base = run % 5 == 2 ? 0 : run % 5 == 3 ? last : std::min<uint64_t>(b.random() & ~63ull, last);
    const uint64_t word_address = run % 5 == 2 ? ~3ull : run % 5 == 3 ? 4 : b.random() & ~3ull;
    b.hit("addresses at both ends", base == last && lines > 1);
    const bool order = b.chance(50); // the word may be answered before the image
    unsigned wait = b.chance(50) ? 0 : b.random(80), answer = b.chance(50) ? 100 : 20 + b.random(80);
    if (run == 4) answer = 25, wait = 0;
    if (run == 8) answer = 100, wait = 0;
    const bool fails = b.chance(20), words = b.chance(60);
    const uint32_t stop_at = stops ? b.random(lines / 3) : ~0u;
    const uint32_t key = b.random();
    struct Read { uint64_t address; unsigned id; };
    std::vector<Read> under_way;
    std::vector<bool> there(lines);
    uint32_t asked = 0, came = 0, in_row = 0;
    bool word_asked = false, stopped = false;
    b.settle();
    d.start_i = 1;
    d.lines_i = lines;
    d.base_i = base;
    d.word_address_i = word_address;
    b.tick();
    d.start_i = 0;
    b.tick();
    uint64_t limit = 20000;
    int rest = 20;
    while (rest) {
      b.check(--limit, "the loader does not end");
      d.arready_i = !b.chance(wait);
      if (!d.word_valid_i && !word_asked && words && b.chance(3)) d.word_valid_i = 1;
      if (came >= stop_at) d.stop_i = stopped = true;
      size_t pick = 0;
      d.rvalid_i = 0;
      if (!under_way.empty() && b.chance(answer)) {
        if (order && b.chance(50)) while (pick + 1 < under_way.size() && under_way[pick].id == 0) ++pick;
        if (under_way[pick].id == 0) pick = 0;
        const Read &r = under_way[pick];
        b.hit("the word before earlier lines", pick > 0);
        d.rvalid_i = 1;
        d.rid_i = r.id;
        d.rresp_i = fails && b.chance(r.id == 1 ? 50 : 3) ? 1 + b.random(3) : 0;
        for (int w = 0; w < 16; ++w) d.rdata_i[w] = uint32_t(r.address / 4 + w) * 2654435761u ^ key;
      }
      b.settle();
      const bool asks = d.arvalid_o && d.arready_i, arrives = d.rvalid_i && d.rready_o;
      b.hit("addresses wait", d.arvalid_o && !d.arready_i);
      const Read next{d.araddr_o, d.arid_o};
      const unsigned beats = d.arlen_o + 1u;
      const bool word_taken = d.word_valid_i && d.word_ready_o;
      b.rise();
      if (word_taken) d.word_valid_i = 0, word_asked = true;
      d.clk_i = 0;
      d.eval();
      if (arrives) {
        const Read r = under_way[pick];
        under_way.erase(under_way.begin() + pick);
        b.equal(d.beat_o, 1, "beat_o");
        b.equal(d.error_o, d.rresp_i != 0, "error_o");
        if (d.error_o) b.equal(d.error_address_o, r.address, "error_address_o");
        b.hit("EXOKAY", d.error_o && d.rresp_i == 1);
        b.hit("DECERR", d.error_o && d.rresp_i == 3);
        if (r.id == 1) {
          b.equal(d.word_valid_o, 1, "word_valid_o");
          b.equal(d.word_o, uint32_t(word_address / 64 * 16 + (word_address / 4 & 15)) * 2654435761u ^ key, "word_o");
          b.equal(d.write_o, 0, "write_o");
          b.hit("an error of the word", d.error_o);
          b.hit("the word in between", asked < lines);
        } else {
          const uint32_t line = (r.address - base) / 64;
          b.hit("an error", d.error_o);
          b.equal(d.write_o, 1u << line % PARTITIONS, "write_o");
          b.equal(d.write_at_o, line / PARTITIONS, "write_at_o");
          for (int w = 0; w < 16; ++w)
            b.equal(d.write_line_o[w], uint32_t((base / 4 + line * 16 + w)) * 2654435761u ^ key, "write_line_o");
          there[line] = true;
          ++came;
        }
        ++in_row;
      } else {
        b.equal(d.write_o, 0, "write_o");
        in_row = 0;
      }
      b.hit("a line a cycle", in_row > 100);
      if (asks) {
        b.check(next.address % 4096 / 64 + beats <= 64, "a burst of %u lines crosses a page", beats);
        for (unsigned n = 0; n < beats; ++n) under_way.push_back({next.address + 64 * n, next.id});
        if (next.id == 0) {
          b.equal(next.address, base + 64ull * asked, "araddr_o");
          asked += beats;
          b.check(beats == 64 || asked == lines || next.address % 4096 / 64 + beats == 64, "a burst ends early");
          b.hit("a whole page", beats == 64);
          b.hit("a burst ends with its page", beats < 64 && asked < lines);
        } else {
          b.equal(next.id, 1, "id of the word");
          b.equal(beats, 1, "beats of the word");
          b.equal(next.address, word_address & ~63ull, "address of the word");
        }
      }
      b.check(asked - came <= 256, "more lines under way than there may be");
      b.hit("all reads under way", asked - came > 192);
      uint32_t first = 0;
      while (first < lines && there[first]) ++first;
      b.check(d.loaded_o <= first, "%u lines are said to be there, %u are", d.loaded_o, first);
      b.check(asked <= lines, "more lines than the image has");
      if (!d.all_o && !stopped) rest = 20;
      else if (d.busy_o || !under_way.empty() || d.word_valid_i) rest = 20;
      else --rest;
    }
    if (!stopped) {
      b.equal(came, lines, "lines");
      b.equal(d.loaded_o, lines, "loaded_o");
    }
    b.hit("stopped", stopped && came < lines);
    b.hit("no line", lines == 0);
    b.hit("one line", lines == 1);
    b.hit("more lines than reads under way", lines > 256);
    d.stop_i = 0;
    d.rvalid_i = 0;
    d.word_valid_i = 0;
    // What a stopped run leaves is forgotten by the next one's start.
    if (stopped && came < lines) {
      b.reset(d.rst_i);
    }
  }
  return b.end();
}

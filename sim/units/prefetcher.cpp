// prefetcher against the expected effects of a stream, in order.
#include "bench.hpp"
#include <deque>

struct Event {
  enum Kind { CLEAR, FILTER, DICTIONARY, VERTEX, EDGE, UNIT } kind;
  unsigned a, b; // counter; key and entry; partition and line of the scratchpad
  Line line;     // or the unit: start, first, limit, ordinal
};

int main(int argc, char **argv) {
  Bench b("prefetcher",
          {"no dictionary", "no vertex lines", "no edge lines", "all sections empty",
           "all sections", "one counter", "all counters", "whole dictionary", "every partition",
           "beat without units", "gap between units", "last unit in the last place",
           "no unit at all", "unit waits", "stopped before the first unit", "stopped in between",
           "TLAST while stopped", "stopped and no unit is wanted", "next stream waits for its start",
           "read ahead full", "filter", "filter alone", "reset"},
          argc, argv);
  auto &d = *b.dut;
  d.start_i = d.stop_i = d.tvalid_i = d.unit_ready_i = 0;
  b.reset(d.rst_i);
  for (unsigned run = 0; run < 300; ++run) {
    std::deque<std::pair<Line, bool>> beats;
    std::deque<Event> expected;
    const bool bare = run % 10 == 0;
    const unsigned dictionary = bare || b.chance(25) ? 0 : b.chance(10) ? 32 : 1 + b.random(4);
    const unsigned vertices = bare || b.chance(25) ? 0 : 1 + b.random(12);
    const unsigned edges = bare || b.chance(25) ? 0 : 1 + b.random(20);
    const unsigned patterns = b.chance(10) ? 256 : b.chance(30) ? 1 : 1 + b.random(40);
    const unsigned work = 1 + b.random(8);
    b.hit("no dictionary", dictionary == 0 && vertices && edges);
    b.hit("no vertex lines", vertices == 0 && dictionary && edges);
    b.hit("no edge lines", edges == 0 && dictionary && vertices);
    b.hit("all sections empty", !dictionary && !vertices && !edges);
    b.hit("all sections", dictionary && vertices && edges);
    b.hit("one counter", patterns == 1);
    b.hit("all counters", patterns == 256);
    b.hit("whole dictionary", dictionary == 32);
    Line header = random_line(b);
    header[0] = dictionary, header[1] = vertices, header[2] = edges, header[3] = patterns;
    beats.push_back({header, false});
    for (unsigned i = 0; i < patterns; ++i) expected.push_back({Event::CLEAR, i, 0, {}});
    d.filters_i = b.chance(40);
    if (d.filters_i) {
      const Line line = random_line(b);
      beats.push_back({line, false});
      for (unsigned w = 0; w < 8; ++w) expected.push_back({Event::FILTER, w, 0, {line[2 * w], line[2 * w + 1] & 0x3ff}});
    }
    b.hit("filter", d.filters_i && dictionary);
    b.hit("filter alone", d.filters_i && !dictionary && !vertices && !edges);
    for (unsigned i = 0; i < dictionary; ++i) {
      const Line line = random_line(b);
      beats.push_back({line, false});
      for (unsigned e = 0; e < 32; ++e) {
        const unsigned entry = line[e / 2] >> 16 * (e % 2) & 0xffff;
        expected.push_back({Event::DICTIONARY, 32 * i + e, (entry >> 15) << 8 | (entry & 255), {}});
      }
    }
    for (unsigned i = 0; i < vertices + edges; ++i) {
      const Line line = random_line(b);
      beats.push_back({line, false});
      const unsigned at = i < vertices ? i : i - vertices;
      expected.push_back({i < vertices ? Event::VERTEX : Event::EDGE, at % 2, at / 2, line});
      b.hit("every partition", at % 2 == 1);
    }
    uint32_t ordinal = 0;
    const unsigned density = run % 4 == 0 ? 0 : run % 4 == 1 ? 100 : 60;
    for (unsigned i = 0; i < work; ++i) {
      Line line = random_line(b);
      unsigned valid = 0;
      for (unsigned u = 0; u < 4; ++u) {
        const bool there = b.chance(density);
        line[4 * u + 3] = (line[4 * u + 3] & ~1u) | there;
        if (!there) continue;
        valid |= 1u << u;
        expected.push_back({Event::UNIT, 0, 0, {line[4 * u], line[4 * u + 1], line[4 * u + 2], ordinal++}});
      }
      b.hit("beat without units", valid == 0);
      b.hit("gap between units", (valid & 5) == 5 && !(valid & 2));
      b.hit("last unit in the last place", i == work - 1 && (valid & 8));
      beats.push_back({line, i == work - 1});
    }
    b.hit("no unit at all", ordinal == 0);
    // After how many units the run stops; mostly never.
    const int stop_after = b.chance(40) ? int(b.random(ordinal + 1)) : -1;
    const bool abandon = run % 37 == 36; // reset in the middle
    unsigned handed = 0;
    bool started = false, waiting_unit = false;
    const unsigned wait = b.random(12), supply = run % 3 == 0 ? 100 : 50, demand = run % 3 == 1 ? 20 : 80;
    unsigned n = 0;
    d.stop_i = 0;
    for (;; ++n) {
      b.check(n < 20000, "the run does not end");
      d.start_i = !started && n >= wait;
      // The stop of the run before stays until the next start.
      d.stop_i = started && stop_after >= 0 && int(handed) >= stop_after;
      if (!d.tvalid_i && !beats.empty() && b.chance(supply)) {
        d.tvalid_i = 1;
        drive(d.tdata_i, beats.front().first);
        d.tlast_i = beats.front().second;
      }
      // A stopped run drains its stream though no unit is needed.
      d.unit_ready_i = b.chance(d.stop_i && run % 2 ? 0 : demand);
      d.rst_i = abandon && started && n > wait + 30;
      b.settle();
      if (d.rst_i) {
        b.hit("reset");
        b.rise();
        d.rst_i = 0;
        d.tvalid_i = 0;
        break;
      }
      b.hit("next stream waits for its start", !started && run && d.tvalid_i);
      b.hit("read ahead full", d.tvalid_i && !d.tready_o);
      auto next = [&](Event::Kind kind, const char *what) {
        b.check(!expected.empty() && expected.front().kind == kind, "%s out of order", what);
        const Event e = expected.front();
        expected.pop_front();
        return e;
      };
      if (d.count_clear_o) b.equal(d.count_at_o, next(Event::CLEAR, "a clear").a, "count_at_o");
      if (d.filter_write_o) {
        const Event e = next(Event::FILTER, "a word");
        b.equal(d.filter_at_o, e.a, "filter_at_o");
        b.equal(d.filter_word_o, e.line[0] | uint64_t(e.line[1]) << 32, "filter_word_o");
      }
      if (d.dictionary_write_o) {
        const Event e = next(Event::DICTIONARY, "an entry");
        b.equal(d.dictionary_key_o, e.a, "dictionary_key_o");
        b.equal(d.dictionary_entry_o, e.b, "dictionary_entry_o");
      }
      if (d.vertex_pad_write_o || d.edge_pad_write_o) {
        const bool vertex = d.vertex_pad_write_o;
        const Event e = next(vertex ? Event::VERTEX : Event::EDGE, "a line");
        b.equal(d.vertex_pad_write_o, vertex ? 1u << e.a : 0, "vertex_pad_write_o");
        b.equal(d.edge_pad_write_o, vertex ? 0 : 1u << e.a, "edge_pad_write_o");
        b.equal(d.pad_at_o, e.b, "pad_at_o");
        b.check(line_of(d.pad_line_o) == e.line, "a scratchpad line differs");
      }
      if (d.stop_i) {
        b.equal(d.unit_valid_o, 0, "unit_valid_o after the stop");
        b.hit("stopped before the first unit", handed == 0 && d.running_o && ordinal);
        b.hit("stopped in between", handed && handed < ordinal);
      }
      b.check(!waiting_unit || d.unit_valid_o || d.stop_i, "a unit is taken back");
      if (d.unit_valid_o) {
        b.check(!expected.empty() && expected.front().kind == Event::UNIT, "a unit out of order");
        const Line unit = line_of(d.unit_o, 4); // start is highest
        b.check(unit == Line({expected.front().line[3], expected.front().line[2],
                              expected.front().line[1], expected.front().line[0]}),
                "unit %u differs", handed);
        b.hit("unit waits", !d.unit_ready_i);
        if (d.unit_ready_i) expected.pop_front(), ++handed;
      }
      waiting_unit = d.unit_valid_o && !d.unit_ready_i;
      b.check(started || !(d.running_o && run && n == 0 && !d.finished_o), "runs without a start");
      const bool taken = d.tvalid_i && d.tready_o;
      const bool ended = started && d.finished_o;
      if (ended) {
        b.check(beats.empty() && !d.tvalid_i, "finished before the end of the stream");
        b.check(stop_after >= 0 || expected.empty(), "finished with %zu left", expected.size());
        b.check(expected.empty() || expected.front().kind == Event::UNIT, "a section is missing");
        b.equal(d.patterns_o, patterns, "patterns_o");
        b.hit("TLAST while stopped", stop_after >= 0);
        b.hit("stopped and no unit is wanted", stop_after >= 0 && run % 2 && handed < ordinal);
      }
      started |= d.start_i;
      b.rise();
      if (taken) beats.pop_front(), d.tvalid_i = 0;
      if (ended) break;
    }
    d.start_i = 0;
  }
  return b.end();
}

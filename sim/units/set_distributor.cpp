// set_distributor against a list of the halves of the stream: each goes once, in order, to a PU with room, when the
// lines of its lists are there.
#include "bench.hpp"
#include "gramer_pkg.hpp"

#include <algorithm>
#include <deque>

namespace {

constexpr unsigned GROUPS = UNIT_QUEUE / UNITS_A_GROUP;

struct Half {
  uint64_t unit[UNITS_A_GROUP];
  unsigned units = 0;
  uint64_t wants = 0; // lines of the image
};

struct Beat {
  Line line;
  bool last;
};

} // namespace

int main(int argc, char **argv) {
  Bench b("set_distributor",
          {"a half without units", "a half of one unit", "a half of four units", "a beat without units",
           "the stream waits", "the stream has gaps", "no PU has room", "one PU has room", "all have room",
           "the one with most room", "a half every other cycle", "units wait for their lines", "units wait for the whole image",
           "the image is there", "stopped before the end", "stopped in the header", "a second run", "places of a stop",
           "a plan with words"},
          argc, argv);
  auto &d = *b.dut;
  d.start_i = d.stop_i = d.tvalid_i = d.tlast_i = d.whole_i = d.all_i = 0;
  d.loaded_i = 0;
  for (unsigned p = 0; p < PUS; ++p) d.free_i[p] = GROUPS;
  b.reset(d.rst_i);
  for (unsigned run = 0; run < 400; ++run) {
    // The stream.
    std::vector<uint32_t> plans(PLANS);
    std::vector<Half> halves;
    std::deque<Beat> beats;
    Beat header{Line(16), false};
    for (unsigned p = 0; p < PLANS; ++p)
      plans[p] = uint32_t(b.random(2048)), header.line[p * IN_PLAN_EACH / 32] = plans[p] | uint32_t(b.random()) << 11;
    // A search plan's words follow the header.
    std::vector<uint64_t> words;
    if (b.chance(20)) plans[0] = OP_PLAN | unsigned(b.random(7)) << 4;
    else if ((plans[0] & 15) == OP_PLAN) plans[0] ^= 1;
    header.line[0] = plans[0];
    beats.push_back(header);
    const unsigned before = (plans[0] & 15) == OP_PLAN ? plans[0] >> 4 & 31 : 0;
    for (unsigned beat = 0; beat < before; ++beat) {
      Beat one{Line(16), false};
      for (unsigned w = 0; w < WORDS_A_BEAT; ++w) {
        words.push_back(b.random());
        one.line[2 * w] = uint32_t(words.back());
        one.line[2 * w + 1] = uint32_t(words.back() >> 32);
      }
      beats.push_back(one);
    }
    size_t word = 0;
    b.hit("a plan with words", !words.empty());
    const unsigned count = 1 + unsigned(b.random(24)), holes = b.chance(50) ? 0 : 60;
    uint64_t most_lines = 0;
    for (unsigned beat = 0; beat < count; ++beat) {
      Beat one{Line(16), beat + 1 == count};
      unsigned there = 0;
      for (unsigned h = 0; h < UNITS_A_BEAT / UNITS_A_GROUP; ++h) {
        Half half;
        const bool none = b.chance(holes / 2);
        for (unsigned u = 0; u < UNITS_A_GROUP; ++u) {
          const uint64_t address = b.random(4000), quarters = none || b.chance(holes) ? 0 : 1 + b.random(40);
          half.unit[u] = address | quarters << 26 | b.random(4) << 38 | b.random(4096) << 40 | b.random(4096) << 52;
          if (quarters) {
            ++half.units, ++there;
            half.wants = std::max<uint64_t>(half.wants, (address + quarters - 1) / LINE_QUARTERS + 1);
          }
          one.line[(h * UNITS_A_GROUP + u) * 2] = uint32_t(half.unit[u]);
          one.line[(h * UNITS_A_GROUP + u) * 2 + 1] = uint32_t(half.unit[u] >> 32);
        }
        b.hit("a half without units", !half.units);
        b.hit("a half of one unit", half.units == 1);
        b.hit("a half of four units", half.units == 4);
        most_lines = std::max(most_lines, half.wants);
        halves.push_back(half);
      }
      b.hit("a beat without units", !there);
      beats.push_back(one);
    }
    // The PUs: room of each, and the cycles since the last change.
    unsigned room[PUS], quiet = 0, loading = unsigned(b.random(4));
    for (unsigned p = 0; p < PUS; ++p) d.free_i[p] = room[p] = unsigned(b.random(GROUPS + 1));
    const unsigned pace = 2 + unsigned(b.random(100)), gaps = b.chance(50) ? 0 : 50;
    const bool stops = b.chance(30), whole = b.chance(30);
    const uint64_t stop_at = b.cycle + b.random(b.chance(40) ? 3 : 60);
    d.whole_i = whole;
    uint64_t loaded = loading == 0 ? most_lines : 0;
    d.loaded_i = uint32_t(loaded);
    d.all_i = loading == 0;
    d.stop_i = 0;
    d.start_i = 1;
    b.tick();
    d.start_i = 0;
    size_t at = 0;
    uint64_t places = 0, units = 0, pushed_last = 0;
    unsigned limit = 60000, after = 0;
    bool stopped = false;
    while (after < 8) {
      d.stop_i = stopped = stops && b.cycle >= stop_at;
      if (stopped && beats.size() == count + before + 1) b.hit("stopped in the header");
      const bool offers = !beats.empty() && (d.tvalid_i || !b.chance(gaps));
      if (!offers && !beats.empty()) b.hit("the stream has gaps");
      d.tvalid_i = offers;
      if (offers) drive(d.tdata_i, beats.front().line), d.tlast_i = beats.front().last;
      b.settle();
      const bool taken = offers && d.tready_o;
      b.hit("the stream waits", offers && !d.tready_o);
      b.rise();
      if (taken) beats.pop_front();
      d.eval();
      if (d.word_write_o) {
        b.check(word < words.size(), "more words than there are");
        b.equal(d.word_at_o, word, "a word's place");
        b.equal(d.word_o, words[word++] & ((uint64_t(1) << (IN_LABEL_HIGH_AT + IN_LABEL_HIGH_BITS)) - 1), "a word");
      }
      // What was handed on.
      unsigned to = 0, pushes = 0;
      for (unsigned p = 0; p < PUS; ++p)
        if (d.push_o >> p & 1) to = p, ++pushes;
      b.check(pushes <= 1, "a half for %u PUs", pushes);
      ++quiet;
      if (pushes) {
        b.equal(word, words.size(), "words before the first unit");
        while (at < halves.size() && !halves[at].units) ++at, places += UNITS_A_GROUP;
        b.check(at < halves.size(), "more halves than there are");
        const Half &half = halves[at++];
        places += UNITS_A_GROUP;
        units += half.units;
        for (unsigned u = 0; u < UNITS_A_GROUP; ++u) b.equal(d.unit_o[u], half.unit[u], "a unit");
        b.check(room[to] > 0, "a PU without room");
        b.check(d.all_i || (!whole && half.wants <= loaded), "a unit before its lines");
        unsigned best = 0, with = 0;
        for (unsigned p = 0; p < PUS; ++p) best = std::max(best, room[p]), with += room[p] != 0;
        // What PUs say is looked at some cycles before.
        if (quiet > 8) b.check(room[to] == best, "a PU with room %u instead of %u", room[to], best);
        b.hit("the one with most room", quiet > 8 && with > 1 && room[to] == best);
        b.hit("one PU has room", with == 1);
        b.hit("all have room", with == PUS);
        b.hit("a half every other cycle", pushed_last + 2 == b.cycle);
        pushed_last = b.cycle;
        quiet = 0;
        for (unsigned p = 0; p < PLANS; ++p) b.equal(d.plan_o[p], plans[p], "a plan");
      }
      // Room shows in the cycle after a push.
      for (unsigned p = 0; p < PUS; ++p) {
        d.free_i[p] = room[p];
        if (room[p] < GROUPS && b.random(400) < pace) ++room[p], quiet = 0;
      }
      if (pushes) --room[to];
      unsigned all_room = 0;
      for (unsigned p = 0; p < PUS; ++p) all_room += room[p];
      b.hit("no PU has room", !all_room);
      if (loading && b.chance(20)) {
        loaded = std::min(loaded + b.random(loading * 60), most_lines);
        d.loaded_i = uint32_t(loaded);
        d.all_i = loaded == most_lines && b.chance(10);
        if (d.all_i) loading = 0, b.hit("the image is there");
      }
      if (at < halves.size() && halves[at].units && !d.all_i) {
        b.hit("units wait for the whole image", whole && loaded >= halves[at].wants);
        b.hit("units wait for their lines", !whole && loaded < halves[at].wants);
      }
      b.check(--limit, "the stream does not end");
      after = d.finished_o ? after + 1 : 0;
      if (d.finished_o) b.check(beats.empty(), "finished before the end of the stream");
    }
    if (stopped) {
      b.check(d.places_o >= places && d.places_o <= halves.size() * UNITS_A_GROUP && d.places_o % UNITS_A_GROUP == 0,
              "%llu places", (unsigned long long)d.places_o);
      // Only halves without units may lie between.
      for (; places < d.places_o; places += UNITS_A_GROUP) b.check(!halves[at++].units, "a half is missing");
      b.hit("stopped before the end", at < halves.size());
      b.hit("places of a stop", at > 0 && at < halves.size());
    } else {
      for (; at < halves.size(); ++at) b.check(!halves[at].units, "a half is missing"), places += UNITS_A_GROUP;
      b.equal(d.places_o, places, "places");
    }
    b.equal(d.units_o, units, "units");
    b.equal(word, words.size(), "words");
    b.hit("a second run", run > 0);
    d.tvalid_i = 0;
  }
  return b.end();
}

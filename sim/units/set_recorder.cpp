// set_recorder against the records of each PU, in order, with beats of two records or of one.
#include "set_plans.hpp"

namespace {

constexpr unsigned IDS = PLACED + 1;
using Record = std::vector<uint32_t>;

} // namespace

int main(int argc, char **argv) {
  Bench b("set_recorder",
          {"nothing listed", "a record in half a beat", "two in a beat", "a record of a beat", "half of the room", "full", "full with none",
           "records after it", "all in the room", "beats wait", "a beat each cycle", "an end that waits", "an end at once"},
          argc, argv);
  auto &d = *b.dut;
  d.clear_i = d.valid_i = d.beat_ready_i = d.end_i = 0;
  b.reset(d.rst_i);
  for (int n = 0; n < 250; ++n) {
    const bool wide = b.random(2);
    const unsigned a_beat = wide ? 1 : 2, slow = b.chance(40) ? 0 : 20 + b.random(70), gaps = b.chance(30) ? 0 : b.random(90);
    std::vector<std::deque<Record>> waiting(PUS), sent(PUS);
    size_t all = 0;
    for (unsigned p = 0; p < PUS; ++p)
      for (unsigned r = b.chance(20) ? 0 : b.random(30); r; --r, ++all) {
        Record record;
        for (unsigned i = 0; i < IDS; ++i) record.push_back(b.random(ID));
        record[0] = record[0] / PUS * PUS + p; // tells the PU
        waiting[p].push_back(record);
      }
    const size_t needs = (all + a_beat - 1) / a_beat;
    const unsigned room = b.chance(10) ? 0 : b.chance(30) ? unsigned(needs) : b.random(unsigned(needs) + 20);
    d.room_i = room;
    d.clear_i = 1;
    b.tick();
    d.clear_i = 0;
    size_t taken = 0, came = 0, beats = 0;
    bool ended = false, was = false, over = false;
    unsigned quiet = 0;
    std::vector<bool> offered(PUS);
    for (uint64_t limit = 20000; !ended;) {
      d.valid_i = 0;
      for (unsigned p = 0; p < PUS; ++p) {
        offered[p] = !waiting[p].empty() && (offered[p] || !b.chance(gaps));
        if (!offered[p]) {
          pack(d.record_i[p], {{0, 1}});
          continue;
        }
        d.valid_i |= 1u << p;
        std::vector<Field> fields{{wide, 1}};
        for (unsigned i = IDS; i-- > 0;) fields.push_back({waiting[p].front()[i], ID_W});
        pack(d.record_i[p], fields);
      }
      d.beat_ready_i = !b.chance(slow);
      d.end_i = quiet == 6;
      b.settle();
      b.check(!(d.ready_o & ~d.valid_i) && !(d.ready_o & (d.ready_o - 1)), "a record that isn't there, or two");
      for (unsigned p = 0; p < PUS; ++p) {
        if (!(d.ready_o >> p & 1)) continue;
        sent[p].push_back(waiting[p].front()), waiting[p].pop_front();
        ++taken, offered[p] = false;
        b.hit("records after it", d.full_o);
      }
      b.hit("beats wait", d.beat_valid_o && !d.beat_ready_i);
      if (d.beat_valid_o && d.beat_ready_i) {
        const Line beat = line_of(d.beat_o);
        for (unsigned r = 0; r < a_beat; ++r) {
          if (r && beat[9] == NONE) {
            b.check(quiet > 6, "half a beat before the end");
            b.hit("a record in half a beat");
            continue;
          }
          const Line record(beat.begin() + r * 8, beat.begin() + (wide ? 16 : r * 8 + 8));
          b.equal(record[0], 0, "the ordinal"), b.equal(record[1], 0, "the number of the pattern");
          auto &own = sent[record[2] % PUS];
          b.check(!own.empty(), "run %d: a record that nobody sent", n);
          for (unsigned i = 0; i < (wide ? IDS : RECORD_NARROW); ++i) b.equal(record[2 + i], own.front()[i], "an id");
          own.pop_front(), ++came;
          b.hit(wide ? "a record of a beat" : "two in a beat", wide || r);
        }
        ++beats;
        b.hit("a beat each cycle", was);
        b.check(beats <= room, "run %d: %zu beats for %u", n, beats, room);
      }
      was = d.beat_valid_o && d.beat_ready_i;
      ended = d.ended_o;
      if (d.end_i) b.hit(ended ? "an end at once" : "an end that waits");
      over |= d.full_o;
      b.rise();
      const bool empty = std::all_of(waiting.begin(), waiting.end(), [](auto &own) { return own.empty(); });
      quiet = quiet >= 6 ? 7 : empty && !d.busy_o ? quiet + 1 : 0;
      b.check(--limit, "run %d does not end", n);
    }
    d.end_i = 0;
    b.settle();
    b.check(taken == all && !d.beat_valid_o, "run %d: something is left", n);
    b.equal(d.records_o, came, "records that left");
    b.equal(came, std::min<size_t>(all, size_t(room) * a_beat), "records");
    b.equal(d.full_o, needs > room, "full");
    b.equal(d.soft_o, needs && room && needs >= room - room / 2, "half of the room");
    b.check(!over || d.full_o, "full for a time");
    b.hit("nothing listed", !all), b.hit("full", d.full_o && room), b.hit("full with none", d.full_o && !room);
    b.hit("all in the room", needs == room && all), b.hit("half of the room", d.soft_o && !d.full_o);
  }
  return b.end();
}

// filter against the rule it stands for: an embedding passes if its newest vertex is adjacent to
// none before the vertex whose list it came from; a clique if it is adjacent to all; one of two or more vertices in a run
// whose dictionary selects, if it knows the pattern. The user's filter refuses any. The bench is the dictionary.
#include "messages.hpp"

struct Passing {
  bool valid = false, passes = false, refused = false;
  Found of;
  unsigned number = 0;
};

int main(int argc, char **argv) {
  Bench b("filter",
          {"start vertex", "start vertex that the dictionary lacks", "unit begins later",
           "second vertex", "clique", "clique without an edge", "largest clique",
           "adjacent before the extending vertex", "extended at the last position",
           "largest motif", "every pair", "motif known", "motif not known", "labelled pattern known", "labelled pattern not known",
           "labels of three vertices", "last vertex", "last vertex dropped", "degree 0",
           "one a cycle", "refused", "start vertex refused", "reset under way"},
          argc, argv);
  auto &d = *b.dut;
  Config c;
  Passing now, before; // in the first stage, and the one whose result is out
  unsigned streak = 0, pairs = 0;
  d.found_valid_i = 0;
  c.drive(d.config_i);
  b.reset(d.rst_i);
  for (unsigned n = 0; n < 120000; ++n) {
    if (n % 150 == 0) {
      c.app = (n / 150) % 3;
      c.selects = c.app == FSM || (c.app == MOTIF && b.chance(50));
    }
    // A configuration stays while embeddings are in flight.
    const bool quiet = n % 150 < 3 || n % 150 > 146;
    c.drive(d.config_i);
    d.rst_i = b.chance(1) && b.chance(20);
    Found f;
    f.size = c.app == CLIQUE ? b.random(b.chance(30) ? DEPTH : 4) : b.random(c.app == MOTIF ? MAX_MOTIF : 3);
    const unsigned all = (1u << f.size) - 1;
    f.slot = b.random(SLOTS);
    f.last = f.size != 0 && b.chance(40);
    f.vertex = uint32_t(b.random());
    f.cursor.i = c.app == CLIQUE || f.size == 0 ? 0 : b.random(f.size);
    f.cursor.last = b.random(DEPTH);
    f.cursor.lo = b.chance(30) ? 0 : b.random(1ull << EDGE_W);
    f.cursor.hi = b.random(1ull << EDGE_W);
    // The extender tests the positions in order and knows that position i is adjacent.
    f.mask = (b.chance(50) ? all : b.random(all + 1)) & (b.chance(80) ? ~((1u << f.cursor.i) - 1) : ~0u);
    if (f.size) f.mask |= 1u << f.cursor.i;
    f.record = {b.random(1ull << EDGE_W), b.chance(10) ? 0 : uint32_t(b.random()), uint32_t(b.random(1 << LABEL_W))};
    f.key = 0;
    if (c.app == MOTIF) f.key = b.random(1u << f.size * (f.size ? f.size - 1 : 0) / 2);
    if (c.app == FSM) {
      f.key = f.size == 2 ? b.random(2) : 0;
      for (unsigned j = 0; j < f.size; ++j) f.key |= b.random(1 << LABEL_W) << (3 + j * LABEL_W);
    }
    d.found_valid_i = !quiet && !d.rst_i && b.chance((n / 50) % 2 ? 100 : 40);
    f.drive(d.found_i);
    d.refused_i = b.chance(15);
    // The answer to the key of the cycle before. The dictionary has all motifs, unless it selects.
    const unsigned number = b.random(COUNTERS), known = (c.app == MOTIF && !c.selects) || b.chance(60);
    d.entry_i = known << NUMBER_W | number;
    b.settle();

    unsigned key = f.key;
    if (c.app == CLIQUE) key = 0;
    else {
      for (unsigned i = 0; i < f.size; ++i)
        if (f.mask >> i & 1) key |= 1u << (f.size * (f.size - 1) / 2 + i);
      if (c.app == FSM) key |= f.record.label << (3 + f.size * LABEL_W);
    }
    if (d.found_valid_i) b.equal(d.key_o, key, "key_o");

    if (now.valid) {
      const Found &of = now.of;
      const bool looked_up = c.selects && of.size > 0;
      bool structure = true;
      for (unsigned j = 0; j < of.size; ++j) {
        const bool adjacent = of.mask >> j & 1;
        if (c.app == CLIQUE ? !adjacent : j < of.cursor.i && adjacent) structure = false;
      }
      now.passes = structure && !now.refused && (!looked_up || known);
      b.hit("refused", structure && now.refused && of.size > 0);
      b.hit("start vertex refused", now.refused && of.size == 0);
      b.hit("start vertex", of.size == 0);
      b.hit("start vertex that the dictionary lacks", c.selects && of.size == 0 && !known);
      b.hit("unit begins later", of.size == 0 && of.cursor.lo != 0);
      b.hit("second vertex", of.size == 1 && now.passes);
      b.hit("clique", c.app == CLIQUE && of.size > 1 && now.passes);
      b.hit("clique without an edge", c.app == CLIQUE && !structure);
      b.hit("largest clique", c.app == CLIQUE && of.size + 1 == DEPTH && now.passes);
      b.hit("adjacent before the extending vertex", c.app != CLIQUE && !structure);
      b.hit("extended at the last position", c.app == MOTIF && of.cursor.i + 1 == of.size && now.passes);
      b.hit("largest motif", c.app == MOTIF && of.size + 1 == MAX_MOTIF && now.passes);
      if (c.app == MOTIF)
        for (unsigned i = 0; i < of.size; ++i)
          if (of.mask >> i & 1) pairs |= 1u << (of.size * (of.size - 1) / 2 + i);
      b.hit("every pair", pairs == (1u << MAX_MOTIF * (MAX_MOTIF - 1) / 2) - 1);
      b.hit("motif known", c.app == MOTIF && looked_up && structure && known);
      b.hit("motif not known", c.app == MOTIF && looked_up && structure && !known);
      b.hit("labelled pattern known", c.app == FSM && looked_up && structure && known);
      b.hit("labelled pattern not known", c.app == FSM && looked_up && structure && !known);
      b.hit("labels of three vertices", c.app == FSM && of.size == 2 && now.passes);
      b.hit("last vertex", of.last && now.passes);
      b.hit("last vertex dropped", of.last && !now.passes);
      b.hit("degree 0", of.record.degree == 0 && now.passes);
      if (now.passes) {
        b.equal(d.last_o, of.last, "last_o");
        b.equal(d.size_o, of.size + 1, "size_o");
        b.equal(d.first_o, of.size != 0 || of.cursor.lo == 0, "first_o");
        b.equal(d.slot_o, of.slot, "slot_o");
        b.equal(d.vertex_o, of.vertex, "vertex_o");
        b.equal(d.number_o, c.app == CLIQUE ? 0 : number, "number_o");
      }
    }
    b.equal(d.valid_o, now.valid && now.passes, "valid_o");
    streak = now.valid ? streak + 1 : 0;
    b.hit("one a cycle", streak > 20);

    // A token that came with the last vertex has walked on already.
    const bool result = before.valid && !before.of.last;
    b.equal(d.result_valid_o, result, "result_valid_o");
    if (result) {
      const Found &of = before.of;
      const auto r = unpack(d.result_o, {SLOT_W, 1, SIZE_W, 32, EDGE_W, 32, LABEL_W, KEY_W, POS_W,
                                         POS_W, EDGE_W, EDGE_W});
      b.equal(r[0], of.slot, "the result's slot");
      // A start vertex that is refused goes on without a list.
      Record record = of.record;
      if (of.size == 0 && before.refused) record.degree = 0;
      b.equal(r[1], before.passes || of.size == 0, "the result's accept");
      b.equal(r[2], of.size, "the result's size");
      b.equal(r[3], of.vertex, "the result's vertex");
      b.check(Record{r[4], uint32_t(r[5]), uint32_t(r[6])} == record, "the result's record");
      b.equal(r[7], of.key, "the result's key");
      b.check(Cursor{unsigned(r[8]), unsigned(r[9]), r[10], r[11]} == of.cursor, "the result's cursor");
    }
    b.hit("reset under way", d.rst_i && now.valid);
    before = now;
    before.valid &= !d.rst_i;
    now = {d.found_valid_i && !d.rst_i, false, bool(d.refused_i), f};
    now.of.key = key;
    b.rise();
  }
  return b.end();
}

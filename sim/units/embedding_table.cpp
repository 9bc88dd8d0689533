// embedding_table against rows of an array.
#include "bench.hpp"

struct Lane {
  uint32_t id;
  uint64_t offset;
  uint32_t degree, key;
};

int main(int argc, char **argv) {
  Bench b("embedding_table",
          {"first position", "deepest embedding", "degree 0", "largest offset", "row copied",
           "copied row changed after", "copy and write together", "copied to itself",
           "read while written", "every row copied to"},
          argc, argv);
  auto &d = *b.dut;
  const unsigned slots = 4, depth = 16;
  Lane model[slots][depth] = {};
  unsigned copied = 0;
  int fresh = -1;
  for (unsigned n = 0; n < 30000; ++n) {
    const bool first = n < slots * depth;
    d.row_i = first ? n / depth : b.random(slots);
    d.row_lane_i = b.random(depth);
    d.row_key_lane_i = b.random(depth);
    d.write_i = first || b.chance(50);
    d.write_lane_i = first ? n % depth : b.chance(20) ? depth - 1 : b.random(depth);
    d.write_id_i = uint32_t(b.random());
    d.write_offset_i = b.chance(5) ? (1ull << 40) - 1 : b.random(1ull << 40);
    d.write_degree_i = b.chance(10) ? 0 : uint32_t(b.random());
    d.write_key_i = b.random(1024);
    d.copy_i = !first && b.chance(20);
    d.copy_to_i = b.random(slots);
    d.listed_row_i = b.random(slots);
    d.early_row_i = b.random(slots);
    d.list_row_i = b.random(slots);
    d.list_lane_i = b.random(depth);
    b.settle();
    if (!first) {
      const auto *row = model[d.row_i];
      for (unsigned j = 0; j < depth; ++j) {
        b.equal(d.row_ids_o[j], row[j].id, "row_ids_o");
        b.equal(d.listed_ids_o[j], model[d.listed_row_i][j].id, "listed_ids_o");
        if (j < 5) b.equal(d.early_ids_o[j], model[d.early_row_i][j].id, "early_ids_o");
      }
      b.equal(d.row_offset_o, row[d.row_lane_i].offset, "row_offset_o");
      b.equal(d.row_degree_o, row[d.row_lane_i].degree, "row_degree_o");
      b.equal(d.row_key_o, row[d.row_key_lane_i].key, "row_key_o");
      b.equal(d.root_offset_o, row[0].offset, "root_offset_o");
      b.equal(d.root_degree_o, row[0].degree, "root_degree_o");
      const Lane &list = model[d.list_row_i][d.list_lane_i];
      b.equal(d.list_id_o, list.id, "list_id_o");
      b.equal(d.list_offset_o, list.offset, "list_offset_o");
      b.equal(d.list_degree_o, list.degree, "list_degree_o");
      b.hit("degree 0", list.degree == 0);
      b.hit("largest offset", list.offset == (1ull << 40) - 1);
      b.hit("read while written", d.write_i && !d.copy_i && d.list_row_i == d.row_i &&
                                      d.list_lane_i == d.write_lane_i);
    }
    if (d.copy_i) {
      b.hit("row copied", d.copy_to_i != d.row_i);
      b.hit("copied to itself", d.copy_to_i == d.row_i);
      b.hit("copy and write together", d.write_i);
      if (d.copy_to_i != d.row_i) {
        std::memcpy(model[d.copy_to_i], model[d.row_i], sizeof model[0]);
        copied |= 1u << d.copy_to_i;
        fresh = d.copy_to_i;
      }
    } else if (d.write_i) {
      model[d.row_i][d.write_lane_i] = {d.write_id_i, d.write_offset_i, d.write_degree_i, d.write_key_i};
      b.hit("first position", d.write_lane_i == 0);
      b.hit("deepest embedding", d.write_lane_i == depth - 1);
      b.hit("copied row changed after", fresh == int(d.row_i));
    }
    b.hit("every row copied to", copied == (1u << slots) - 1);
    b.rise();
  }
  return b.end();
}

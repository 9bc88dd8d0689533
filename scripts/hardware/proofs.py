"""The proofs of sim/formal: sources, modes with their depths, broken variants that must fail, and smaller sizes."""

PACKAGES = ["gramer_pkg.sv", "gramer_types_pkg.sv"]
SET = ["gramer_set_pkg.sv", "gramer_set_types_pkg.sv"]

# A scheduler of 2 slots whose edges have 3 bits. What follows from the widths comes from there.
REDUCED = [
    ("gramer_pkg.sv", "SLOTS      = 4", "SLOTS      = 2"),
    ("gramer_types_pkg.sv", "EDGE_W   = 40", "EDGE_W   = 3"),
    ("gramer_types_pkg.sv", "ID_W     = 32", "ID_W     = 5"),
    ("gramer_types_pkg.sv", "EDGE_W - 4", "1"),
    ("gramer_types_pkg.sv", "ID_W - 2", "1"),
    ("gramer_types_pkg.sv", "logic [31:0] degree", "edge_t degree"),
    ("gramer_types_pkg.sv", "logic [31:0] first", "edge_t first"),
    ("gramer_types_pkg.sv", "logic [31:0] limit", "edge_t limit"),
    ("gramer_types_pkg.sv", "logic [31:0]         ordinal_t", "logic ordinal_t"),
    ("gramer_types_pkg.sv", "[31:0] degrees", "[EDGE_W-1:0] degrees"),
    # Of positions with fewer bits than a line has places, which the scheduler doesn't ask for.
    ("gramer_types_pkg.sv", "lo[EDGE_W-1:4]", "eline_t'(lo >> 4)"),
    ("gramer_types_pkg.sv", "lo[3:0]", "SPOT_W'(lo)"),
    ("gramer_types_pkg.sv", "hi[EDGE_W-1:4]", "eline_t'(hi >> 4)"),
    ("gramer_types_pkg.sv", "hi[3:0]", "SPOT_W'(hi)"),
    ("gramer_scheduler.sv", "[31:0]", "[EDGE_W-1:0]"),
    ("gramer_embedding_table.sv", "[31:0]", "[EDGE_W-1:0]"),
]
# A line without entries, for designs that don't take one apart.
LINE = ("gramer_set_types_pkg.sv", "typedef logic [LANES*ENTRY_W-1:0] line_t", "typedef logic [LINE_W-1:0] line_t")
# A set core's row memory for four roots, and counters of the map with four bits.
SET_REDUCED = [
    ("gramer_set_types_pkg.sv", "PLACES     = 16", "PLACES     = 4"),
    ("gramer_set_types_pkg.sv", "LEVEL_W    = 17", "LEVEL_W    = 4"),
    LINE,
]
# Words of rows of two bits.
ROW_REDUCED = [
    ("gramer_set_row_memory.sv", "word_t", "class_t"),
    ("set_row_memory_proof.sv", "word_t", "class_t"),
    LINE,
    ("gramer_set_pkg.sv", "ROW_BANKS       = 8", "ROW_BANKS       = 2"),
    ("gramer_set_pkg.sv", "ROW_WORDS       = 8", "ROW_WORDS       = 4"),
]
# Units with ranges of two bits, in four halves of two.
UNIT_REDUCED = [
    ("gramer_set_types_pkg.sv", "RANGE_W    = 12;", "RANGE_W    = 2;"),
    LINE,
    ("gramer_set_pkg.sv", "ID_W            = 4", "ID_W            = 2"),
]
# Plans of eleven bits and units of nine, four in a beat; two halves wait in a PU, two beats of the stream, which is cut after four cycles.
DISTRIBUTOR_REDUCED = [
    ("gramer_set_types_pkg.sv", "RANGE_W    = 12;", "RANGE_W    = 1;"),
    ("gramer_set_types_pkg.sv", "STREAM_WAIT = 1 << 18", "STREAM_WAIT = 1 << 2"),
    LINE,
    ("gramer_set_pkg.sv", "LINE_W          = 2;", "LINE_W          = 44;"),
    ("gramer_set_pkg.sv", "UNIT_QUEUE      = 8", "UNIT_QUEUE      = 4"),
    ("gramer_set_distributor.sv", "DEPTH(4)", "DEPTH(2)"),
]
# Lines of four entries, one a quarter, with ids of four bits; two lines in a slot, two read ahead.
STREAMER_REDUCED = [
    ("gramer_set_types_pkg.sv", "RANGE_W    = 12;", "RANGE_W    = 5;"),
    ("gramer_set_types_pkg.sv", "WORD_W     = 64;", "WORD_W     = 8;"),
    ("gramer_set_pkg.sv", "SIZE_W          = 6", "SIZE_W          = 3"),
    ("gramer_set_pkg.sv", "LINE_ENTRIES    = 16", "LINE_ENTRIES    = 4"),
    ("gramer_set_pkg.sv", "QUARTER_ENTRIES = 4", "QUARTER_ENTRIES = 1"),
    ("gramer_set_pkg.sv", "LIST_LINES      = 32", "LIST_LINES      = 2"),
    ("gramer_set_streamer.sv", "AHEAD = 16", "AHEAD = 2"),
    ("gramer_set_streamer.sv", "(RANGE_W-3)'(at)", "(RANGE_W-1)'(at)"),
    ("gramer_set_streamer.sv", "bound[RANGE_W:4]", "bound[RANGE_W:2]"),
    ("gramer_set_streamer.sv", "4'(l) < bound[3:0]", "2'(l) < bound[1:0]"),
    ("gramer_set_streamer.sv", "4'(l) <= {f0_q.own.low, 2'b0}", "2'(l) <= f0_q.own.low"),
    ("gramer_set_streamer.sv", "{unit_q.address[1:0], 2'b0}", "unit_q.address[1:0]"),
    ("gramer_set_streamer.sv", "logic [3:0] lane;", "logic [1:0] lane;"),
    ("gramer_set_streamer.sv", "i < 4; i++", "i < 2; i++"),
    ("gramer_set_choice.sv", "value_i [16]", "value_i [4]"),
    ("gramer_set_choice.sv", "[3:0]       at_i", "[1:0]       at_i"),
    ("gramer_set_choice.sv", "of4(at_i[1:0], value_i[4], value_i[5], value_i[6], value_i[7])", "'0"),
    ("gramer_set_choice.sv", "of4(at_i[1:0], value_i[8], value_i[9], value_i[10], value_i[11])", "'0"),
    ("gramer_set_choice.sv", "of4(at_i[1:0], value_i[12], value_i[13], value_i[14], value_i[15])", "'0"),
    ("gramer_set_choice.sv", "of4(at_i[3:2], four0, four1, four2, four3)", "four0"),
]
# Ends of wedges of two banks, two each.
REACHED_REDUCED = [
    ("gramer_set_pkg.sv", "MAP_BANKS       = 1", "MAP_BANKS       = 2"),
    ("gramer_set_pkg.sv", "REACHED         = 4", "REACHED         = 2"),
]
# Addresses of ten bits, and lines of eight bytes, by which a reader's word is told apart from its line.
READER_REDUCED = [
    ("gramer_types_pkg.sv", "LINE_W   = 512", "LINE_W   = 64"),
    ("gramer_types_pkg.sv", "EDGE_W   = 40", "EDGE_W   = 8"),
    ("gramer_axi_reader.sv", "32'(word_address_i[5:2])*32", "32'(word_address_i[2])*32"),
    ("gramer_axi_reader.sv", "[63:0]", "[9:0]"),
    ("gramer_axi_reader.sv", "[63:6]", "[9:6]"),
    ("gramer_axi_reader.sv", "64'(", "10'("),
    ("gramer_axi_reader.sv", "MISS_W + 64", "MISS_W + 10"),
]
# An image of eight lines of eight bytes, two of them a page, and addresses of ten bits.
LOADER_REDUCED = [
    LINE,
    ("gramer_set_pkg.sv", "LINE_W          = 2;", "LINE_W          = 64;"),
    ("gramer_set_pkg.sv", "PARTITION_LINES = 2;", "PARTITION_LINES = 4;"),
    ("gramer_set_loader.sv", "4096 / LINE_BYTES", "2"),
    ("gramer_set_loader.sv", "[63:6], 6'b0", "[9:3], 3'b0"),
    ("gramer_set_loader.sv", "[63:0]", "[9:0]"),
    ("gramer_set_loader.sv", "64'(", "10'("),
    ("gramer_set_loader.sv", "[6 +: BURST_W]", "[3 +: BURST_W]"),
    ("gramer_set_loader.sv", "32'(word_address_i[5:2])*32", "32'(word_address_i[2])*32"),
]
# A plan's asker with room for two operations.
ASKER_REDUCED = [
    ("gramer_set_plan_asker.sv", "WAITING   = 16", "WAITING   = 2"),
]


def two_entries(id_bits: int) -> list[tuple[str, str, str]]:
    """A plan's merger and walker for lines of two entries, with ids of this many bits and sizes of one."""
    numbers = {"LINE_W": (2, 2 * (id_bits + 1)), "LINE_ENTRIES": (16, 2), "LINE_QUARTERS": (4, 2),
               "QUARTER_ENTRIES": (4, 1), "ID_W": (4, id_bits), "SIZE_W": (6, 1), "PLAN_WORDS": (40, 4),
               "PLAN_SETS": (32, 4)}
    return [("gramer_set_pkg.sv", f"{name:<15} = {was};", f"{name:<15} = {now};") for name, (was, now) in numbers.items()]


# The walker for three vertices.
WALKER_REDUCED = two_entries(3) + [("gramer_set_pkg.sv", "PLAN_LEVELS     = 0;", "PLAN_LEVELS     = 3;")]

# Name: sources, {mode: depth} (broken: bmc of the broken variants alone, the others' goes with bmc),
# [(source, text, replacement) of each broken variant], and what is
# replaced everywhere to make the design smaller.
PROOFS = {
    "fifo": (
        ["gramer_fifo.sv"],
        {"bmc": 16, "prove": 2, "cover": 20},
        [("gramer_fifo.sv", "if (pop_i)  read_q", "if (pop_i && !(push_i && full_o)) read_q")],
    ),
    "rr_arbiter": (
        ["gramer_rr_arbiter.sv"],
        {"bmc": 16, "prove": 2, "cover": 12},
        [("gramer_rr_arbiter.sv", "request_i & after_q", "'0")],
    ),
    "skid": (
        ["gramer_skid.sv"],
        {"bmc": 12, "prove": 2, "cover": 12},
        [
            ("gramer_skid.sv", "if (ready_q) data_q", "data_q"),
            ("gramer_skid.sv", "ready_q <= !rst_i && !waits;", "ready_q <= !rst_i;"),
            ("gramer_skid.sv", "valid_o = full_q || (valid_i && ready_q)", "valid_o = full_q || valid_i"),
        ],
    ),
    "control": (
        ["gramer_skid.sv", "gramer_control.sv"],
        {"bmc": 10, "prove": 2, "cover": 12},
        [
            ("gramer_control.sv", "w_valid && (!bvalid_q || bready_i)", "w_valid"),
            ("gramer_control.sv", "ar_valid && (!rvalid_q || rready_i)", "ar_valid"),
            ("gramer_control.sv", "write  = aw_valid && w_valid &&", "write  = aw_valid &&"),
            ("gramer_control.sv", "bresp_o     = '0", "bresp_o     = 2'd2"),
            ("gramer_control.sv", "rresp_o     = '0", "rresp_o     = {1'b0, ar_valid}"),
            ("gramer_control.sv", "{8{strobes[2]}}", "{8{strobes[3]}}"),
            ("gramer_control.sv", "default: rdata_q <= registers_q[read_at];", "default: rdata_q <= registers_q[{1'b0, read_at[WORD_W-2:0]}];"),
        ],
    ),
    "axi_reader": (
        PACKAGES + ["gramer_fifo.sv", "gramer_rr_arbiter.sv", "gramer_skid.sv", "gramer_axi_reader.sv"],
        {"bmc": 8, "cover": 12},
        [
            ("gramer_axi_reader.sv", "error_o = beat_o && response != '0", "error_o = beat_o && response == 2'b10"),
            ("gramer_axi_reader.sv", "if (free && valid) begin", "if (valid) begin"),
            ("gramer_axi_reader.sv", "arid_q   <= index;", "arid_q   <= {1'b0, index[0]};"),
            ("gramer_axi_reader.sv", "answer && take && from", "answer && from"),
            ("gramer_axi_reader.sv", "error_address_o = oldest_address[m];", "error_address_o = oldest_address[0];"),
            ("gramer_axi_reader.sv", "(m % 2 == 1 ? edge_base_i : '0)", "(m % 2 == 1 ? 10'(edge_base_i[8:0]) : '0)"),
            ("gramer_axi_reader.sv", "fill_entry_o    = oldest_entry[m];", "fill_entry_o    = oldest_entry[0];"),
        ],
        READER_REDUCED,
    ),
    "slot_buffer": (
        PACKAGES + ["gramer_slot_buffer.sv"],
        {"bmc": 14, "prove": 2, "cover": 14},
        [("gramer_slot_buffer.sv", "if (return_i) begin", "if (return_i && !free_i) begin")],
    ),
    "crossbar": (
        ["gramer_rr_arbiter.sv", "gramer_crossbar_column.sv", "gramer_crossbar.sv"],
        {"bmc": 10, "prove": 2, "cover": 10},
        [
            ("gramer_crossbar_column.sv", "if (grant[i] && ready_i) read_q", "if (grant[i]) read_q"),
            ("gramer_rr_arbiter.sv", "request_i[r] && !less[r]", "request_i[r]"),
        ],
    ),
    "stealing": (
        PACKAGES + ["gramer_fifo.sv", "gramer_slot_buffer.sv", "gramer_stealing_buffer.sv", "gramer_ancestor_buffer.sv",
                    "gramer_embedding_table.sv", "gramer_receiver.sv", "gramer_unit_ledger.sv", "gramer_threshold_table.sv",
                    "gramer_scheduler.sv"],
        {"prove": 1, "broken": 36, "cover": 36},
        [
            ("gramer_scheduler.sv", "rest.hi  = middle", "rest.hi  = entry.hi"),
            ("gramer_scheduler.sv", "rest.lo = entry.hi", "rest.lo = entry.lo"),
            ("gramer_scheduler.sv", "rest.hi  = middle", "rest.hi  = middle - 1'b1"),
        ],
        REDUCED,
    ),
    "set_row_ring": (
        SET + ["gramer_set_row_ring.sv"],
        {"bmc": 9, "prove": 2, "cover": 16},
        [
            ("gramer_set_row_ring.sv", "places_q > (PLACE_W+1)'(wants_i)", "places_q != '0"),
            ("gramer_set_row_ring.sv", "(wants_i ? WANTED_W'(words_i) : '0)", "'0"),
            ("gramer_set_row_ring.sv", "if (done_i) begin", "if (take_i) begin"),
        ],
        SET_REDUCED,
    ),
    "set_skid_buffer": (
        ["gramer_set_skid_buffer.sv"],
        {"bmc": 12, "prove": 2, "cover": 12},
        [
            ("gramer_set_skid_buffer.sv", "valid_q       <= spare_valid_q || valid_i;", "valid_q       <= valid_i;"),
            ("gramer_set_skid_buffer.sv", "if (ready_o) spare_q", "spare_q"),
            ("gramer_set_skid_buffer.sv", "spare_valid_q ? spare_q : data_i", "data_i"),
        ],
    ),
    "set_late_fifo": (
        ["gramer_set_late_fifo.sv"],
        {"bmc": 14, "prove": 2, "cover": 20},
        [
            ("gramer_set_late_fifo.sv", "data_o  = mem[head[PTR_W-1:0]]", "data_o  = mem[read_q[PTR_W-1:0]]"),
            ("gramer_set_late_fifo.sv", "full(after_q, head)", "full(write_q, head)"),
            ("gramer_set_late_fifo.sv", "next_q <= head + 1'b1;", "next_q <= read_q + 1'b1;"),
            ("gramer_set_late_fifo.sv", "valid_o = write_q != head", "valid_o = write_q != read_q"),
        ],
    ),
    "set_unit_queue": (
        SET + ["gramer_fifo.sv", "gramer_set_unit_queue.sv"],
        {"bmc": 8, "prove": 2, "cover": 10},
        [
            ("gramer_set_unit_queue.sv", "(take_i && left_q == low)", "take_i"),
            ("gramer_set_unit_queue.sv", "if (pop) valid_q <= there != '0;", "if (pop) valid_q <= 1'b1;"),
            ("gramer_set_unit_queue.sv", "left_q <= left_q & ~low;", "left_q <= '0;"),
            ("gramer_set_unit_queue.sv", "free_o + FREE_W'(pop) - FREE_W'(push_i)", "free_o - FREE_W'(push_i)"),
        ],
        UNIT_REDUCED,
    ),
    "set_distributor": (
        SET + ["gramer_fifo.sv", "gramer_rr_arbiter.sv", "gramer_set_skid_buffer.sv", "gramer_set_distributor.sv"],
        {"prove": 1, "broken": 10, "cover": 12},
        [
            ("gramer_set_distributor.sv", "push_q     <= !rst_i && b_take && b_some_q ? grant", "push_q     <= !rst_i && b_take && b_some_q ? most_q"),
            ("gramer_set_distributor.sv", "TOTAL_W'(b_wants_q[u]) >= loaded_i", "TOTAL_W'(b_wants_q[u]) > loaded_i"),
            ("gramer_set_distributor.sv", "a_take ? all_i : b_valid_q", "a_take ? 1'b1 : b_valid_q"),
            ("gramer_set_distributor.sv", "valid && (stop_i || a_ready)", "valid"),
            ("gramer_set_distributor.sv", "(picked || !b_some_q) && !stop_i", "(picked || !b_some_q)"),
            ("gramer_set_distributor.sv", "ended_q && !a_valid && !b_valid_q", "ended_q"),
            ("gramer_set_distributor.sv", "half_q == HALF_W'(HALVES - 1) && last)", "last)"),
        ],
        DISTRIBUTOR_REDUCED,
    ),
    "set_streamer": (
        SET + ["gramer_fifo.sv", "gramer_set_choice.sv", "gramer_set_streamer.sv"],
        {"prove": 2, "broken": 14, "cover": 18},
        [
            ("gramer_set_streamer.sv", "load_q == SLOT && used_q != USED_W'(LISTS)", "load_q == SLOT"),
            ("gramer_set_streamer.sv", "load_left_q >= LINE_AT_W'(LIST_LINES);", "load_left_q > LINE_AT_W'(LIST_LINES);"),
            ("gramer_set_streamer.sv", "load_q == LENGTHS ? load_line_q - 1'b1", "load_q == LENGTHS ? load_line_q"),
            ("gramer_set_streamer.sv", "if (f0_q.own.k == TRIANGLE) f0_range", "f0_range"),
            ("gramer_set_streamer.sv", "&& entry[l].size != '0", ""),
            ("gramer_set_streamer.sv", "(any_q || ends_q || marks_q) && !m_full", "(any_q || marks_q) && !m_full"),
            ("gramer_set_streamer.sv", "more = marks_q && (any_q || ends_q)", "more = marks_q && any_q"),
            ("gramer_set_streamer.sv", "left_q <= less_q;", "left_q <= '0;"),
            ("gramer_set_streamer.sv", "x_last_q     <= left_lines_q == LINE_AT_W'(1);", "x_last_q     <= 1'b1;"),
            ("gramer_set_streamer.sv", "= there_q != '0 && room_q != '0;", "= there_q != '0 && room_q != '0 && issue_ready_i;"),
        ],
        STREAMER_REDUCED,
    ),
    "set_row_memory": (
        SET + ["gramer_set_row_memory.sv"],
        {"bmc": 8, "prove": 4, "cover": 8},
        [
            ("gramer_set_row_memory.sv", "count_mem[write_at_i] <= write_word_i[b];", "count_mem[write_at_i] <= write_word_i[0];"),
            ("gramer_set_row_memory.sv", "make_word_o[b] <= make_q;", "make_word_o[b] <= make_mem[make_at_i];"),
            ("gramer_set_row_memory.sv", "count_mem[count_at_i[b]]", "count_mem[count_at_i[0]]"),
        ],
        ROW_REDUCED,
    ),
    "set_loader": (
        SET + ["gramer_set_loader.sv"],
        {"bmc": 11, "prove": 4, "cover": 20},
        [
            ("gramer_set_loader.sv", "rvalid_i && rresp_i != '0", "rvalid_i && rresp_i == 2'b10"),
            ("gramer_set_loader.sv", "(READ_W+1)'(READS - BURST)", "(READ_W+1)'(READS - BURST + 1)"),
            ("gramer_set_loader.sv", "room = burst_t'(BURST) - {1'b0, first};", "room = burst_t'(BURST);"),
            ("gramer_set_loader.sv", "base_i + (10'(oldest_q)", "base_i + (10'(there_q)"),
            ("gramer_set_loader.sv", "(oldest_q & TOTAL_W'(PARTS - 1)) == TOTAL_W'(p)", "(next_q & TOTAL_W'(PARTS - 1)) == TOTAL_W'(p)"),
            ("gramer_set_loader.sv", "arrives  = rvalid_i && !is_word", "arrives  = rvalid_i"),
            ("gramer_set_loader.sv", "if (free) begin\n      araddr_q", "if (free || word_valid_i) begin\n      araddr_q"),
            ("gramer_set_loader.sv", "there_q == lines_q;", "there_q + 1'b1 == lines_q;"),
            ("gramer_set_loader.sv", "reads_q <= (READ_W+1)'(READS - BURST);", "reads_q == '0;"),
        ],
        LOADER_REDUCED,
    ),
    "set_partition": (
        SET + ["gramer_fifo.sv", "gramer_set_partition_memory.sv", "gramer_set_partition.sv"],
        {"bmc": 12, "cover": 14},
        [
            ("gramer_set_partition.sv", "(p >= PORT_PUS || !write_i)", "1'b1"),
            ("gramer_set_partition.sv", "assign next  = queued ? first : second;", "assign next  = second;"),
            ("gramer_set_partition.sv", "(waits[p] || !served[p])", "!served[p]"),
            ("gramer_set_partition.sv", "first  = oldest[o * PORT_PUS + p];", "first  = oldest[o * PORT_PUS];"),
            ("gramer_set_partition.sv", "for_q[s][o] <= for_q[s-1][o];", "for_q[s][o] <= for_q[s][o];"),
        ],
        SET_REDUCED + [("gramer_set_pkg.sv", "PUS             = 2", "PUS             = 4")],
    ),
    "set_port": (
        SET + ["gramer_set_late_fifo.sv", "gramer_set_port.sv"],
        {"bmc": 10, "cover": 14},
        [
            ("gramer_set_port.sv", "assign issued        = issue_valid_i && !full;", "assign issued        = issue_valid_i;"),
            ("gramer_set_port.sv", "meta.none || there_q[head_at] || passes", "meta.none || there_q != '0 || passes"),
            ("gramer_set_port.sv", "from |= turn_t'(p);", "from = '0;"),
            ("gramer_set_port.sv", "answer_i[p] && answer_for_i[p] == head_at", "answer_i[p]"),
            ("gramer_set_port.sv", "popped_q && read_at == answer_at_t'(a)", "popped_q && head_at == answer_at_t'(a)"),
            ("gramer_set_port.sv", "request_for_o <= tail_at;", "request_for_o <= head_at;"),
            ("gramer_set_late_fifo.sv", "mem[head[PTR_W-1:0]]", "mem[read_q[PTR_W-1:0]]"),
            ("gramer_set_late_fifo.sv", "valid_o = write_q != head", "valid_o = write_q != read_q"),
        ],
        SET_REDUCED + [("gramer_set_pkg.sv", "PARTITIONS      = 2", "PARTITIONS      = 4")],
    ),
    "set_map_bank": (
        SET + ["gramer_set_map_bank.sv"],
        {"bmc": 21, "cover": 22},
        [
            ("gramer_set_map_bank.sv", "same1[6] ? 2'd3 : 2'd0", "same1[6] ? 2'd2 : 2'd0"),
            ("gramer_set_map_bank.sv", "^ place_t'({other.root, other.at})", "^ place_t'({access.root, other.at})"),
            ("gramer_set_map_bank.sv", "alike_of(access5_q, access1_q)", "alike_of(access4_q, access1_q)"),
            ("gramer_set_map_bank.sv", "if (on_i) begin\n      read2_q", "if (!clear_i) begin\n      read2_q"),
            ("gramer_set_map_bank.sv", "entry2.value < level2_i", "entry2.value <= level2_i"),
            ("gramer_set_map_bank.sv", "before_q ? entry_q[4] : stale3_q", "stale3_q"),
            ("gramer_set_map_bank.sv", "entry_q[4] <= access3_q.clear ? '0 : new3;", "entry_q[4] <= new3;"),
            ("gramer_set_map_bank.sv", "access3_q.count && !access3_q.keep", "access3_q.count"),
            ("gramer_set_map_bank.sv", "&& old4_q.value == level4_i", "&& entry_q[4].value == level4_i"),
            ("gramer_set_map_bank.sv", "&& old4_q.value == tag4_i", "&& entry_q[4].value == tag4_i"),
            ("gramer_set_map_bank.sv", "access3_q.tag ? tag3_i", "access3_q.tag ? tag4_i"),
            ("gramer_set_map_bank.sv", "access3_q.count || access3_q.tag", "access3_q.count"),
        ],
        SET_REDUCED,
    ),
    "set_reached": (
        SET + ["gramer_set_reached.sv"],
        {"bmc": 12, "cover": 16},
        [
            ("gramer_set_reached.sv", "{1'b0, row_i} < count_q", "{1'b0, row_i} <= count_q"),
            ("gramer_set_reached.sv", "&& count_q == rows_q", "&& count_q >= rows_q - 1'b1"),
            ("gramer_set_reached.sv", "if (note_q[b] && !full[b]) mem", "if (note_q[b]) mem"),
            ("gramer_set_reached.sv", "if (rst_i || clear_i) count_q", "if (rst_i) count_q"),
            ("gramer_set_reached.sv", "else if ((note_q & full) != '0)", "else if ((note_i & full) != '0)"),
        ],
        REACHED_REDUCED,
    ),
    "set_plan_asker": (
        SET + ["gramer_fifo.sv", "gramer_set_list_lines.sv", "gramer_set_plan_asker.sv"],
        {"bmc": 9, "cover": 14},
        [
            ("gramer_set_plan_asker.sv", "c_valid_q && !full && (!x_valid_q", "c_valid_q && (!x_valid_q"),
            ("gramer_set_plan_asker.sv", "x_issued = x_valid_q && issue_ready_i", "x_issued = x_valid_q"),
            ("gramer_set_plan_asker.sv", "(x_issued && x_last));", "x_last);"),
            ("gramer_set_plan_asker.sv", "return a < b ? a : b", "return a < b ? b : a"),
            ("gramer_set_plan_asker.sv", "bound[l] = op_i.limit;", "bound[l] = '1;"),
            ("gramer_set_list_lines.sv", "first_q ? low_q : '0", "low_q"),
        ],
        ASKER_REDUCED,
    ),
    "set_intersector": (
        SET + ["gramer_set_intersector.sv"],
        {"bmc": 6, "cover": 6},
        [
            ("gramer_set_intersector.sv", "^ {LANES{id[3*t + 2]}}", "^ {LANES{id[3*t + 1]}}"),
            ("gramer_set_intersector.sv", "carry = {1'b0, of_lane, 1'b1} + 1'b1;", "carry = {1'b0, of_lane[THREES-1:1], 1'b1, 1'b1} + 1'b1;"),
            ("gramer_set_intersector.sv", "&& !is_padding(held_i[h*ENTRY_W +: KEPT_ID_W])", ""),
            ("gramer_set_intersector.sv", "step_q.compare && held_q[h]", "held_q[h]"),
        ],
        two_entries(8) + [("gramer_set_pkg.sv", "PARTITION_LINES = 2;", "PARTITION_LINES = 32;")],
    ),
    "set_plan_merger": (
        SET + ["gramer_set_intersector.sv", "gramer_set_plan_merger.sv"],
        {"bmc": 18, "cover": 20},
        [
            ("gramer_set_plan_merger.sv", "i_step_q.emit ? '0 : matched", "matched"),
            ("gramer_set_plan_merger.sv", "(high && !op_q.word.difference)", "high"),
            ("gramer_set_plan_merger.sv", "i_above_q[l] && i_below_q[l]", "i_above_q[l]"),
            ("gramer_set_plan_merger.sv", "i_lanes_q[l] && i_above_q[l]", "i_lanes_q[l]"),
            ("gramer_set_plan_merger.sv", "!a_valid_q || !b_valid_q || b_take;", "1'b1;"),
            ("gramer_set_plan_merger.sv", "b_take  = b_valid_q;", "b_take  = 1'b0;"),
            ("gramer_set_plan_merger.sv", "(high || (emit && h_end_q))", "(high || emit)"),
        ],
        two_entries(3),
    ),
    "set_plan_walker": (
        SET + ["gramer_set_plan_walker.sv"],
        {"bmc": 25, "cover": 30},
        [
            ("gramer_set_plan_walker.sv", "here_q.left <= less_q;", "here_q.left <= '0;"),
            ("gramer_set_plan_walker.sv", "unit_done_o <= level_q == 3'd1;", "unit_done_o <= 1'b1;"),
            ("gramer_set_plan_walker.sv", "here_q.at != here_q.last && !here_q.cut", "here_q.at != here_q.last"),
            ("gramer_set_plan_walker.sv", "less_q <= back_q.left & (back_q.left - 1'b1);", "less_q <= back_q.left;"),
            ("gramer_set_plan_walker.sv", "LINE: if (pushed) state_q <= LINE_WAIT;", "LINE: state_q <= LINE_WAIT;"),
        ],
        WALKER_REDUCED,
    ),
}

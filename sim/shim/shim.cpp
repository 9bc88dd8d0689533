// The C side of a Verilated core: one call a clock passes the pins in and out. Compiled once for
// each model, with MODEL_HEADER, MODEL_CLASS and BANKS defined.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "verilated.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"
#include MODEL_HEADER

// A failed assertion ends the run with an error instead of the process.
void vl_stop(const char* file, int line, const char* hier) {
  VL_PRINTF("%s:%d: assertion failed in %s\n", file, line, hier);
  Verilated::threadContextp()->gotFinish(true);
}

extern "C" {

// `MAX_BANKS` of sim/src/model.rs.
static const int MOST_BANKS = 8;

// Mirrored by `Pins` in sim/src/model.rs.
struct Pins {
  // To the core
  uint8_t reset_n, awvalid, wvalid, bready, arvalid, rready, in_tvalid, in_tlast, out_tready;
  uint8_t bank_arready[MOST_BANKS], bank_rvalid[MOST_BANKS], bank_rid[MOST_BANKS], bank_rresp[MOST_BANKS], bank_rlast[MOST_BANKS];
  uint8_t wstrb;
  uint32_t awaddr, wdata, araddr;
  uint8_t bank_rdata[MOST_BANKS][64];
  uint8_t in_tdata[64];
  // From the core
  uint8_t awready, wready, bvalid, arready, rvalid, in_tready, out_tvalid, out_tlast;
  uint8_t bank_arvalid[MOST_BANKS], bank_rready[MOST_BANKS], bank_arid[MOST_BANKS], bank_arlen[MOST_BANKS];
  uint8_t bank_arsize[MOST_BANKS], bank_arburst[MOST_BANKS], interrupt;
  uint32_t rdata;
  uint64_t bank_araddr[MOST_BANKS];
  uint8_t out_tdata[64];
};

// An instance, and the context of Verilator that it lives in. What belongs to the context of a thread
// (a failed assertion, scopes) belongs to the instance that the thread used last, so every entry
// says which one that is: a thread may have several.
struct Model {
  std::unique_ptr<VerilatedContext> context{new VerilatedContext};
  std::unique_ptr<MODEL_CLASS> top;
  std::string state;
};

// Element `at` of a public variable of at most 64 bits.
static uint64_t element(const VerilatedVar& var, uint32_t at) {
  const char* data = static_cast<const char*>(var.datap()) + size_t(at) * var.entSize();
  uint64_t value = 0;
  std::memcpy(&value, data, var.entSize());
  return value;
}

uint64_t model_pins_size() { return sizeof(Pins); }

// `seed` decides what registers hold before their reset where the build lets them be random;
// `plusargs` are separated by spaces.
Model* model_new(uint32_t seed, const char* plusargs) {
  auto* model = new Model;
  Verilated::threadContextp(model->context.get());
  model->context->randReset(2);
  model->context->randSeed(int(seed));
  std::vector<std::string> arguments{"core"};
  std::istringstream words{plusargs};
  for (std::string word; words >> word;) arguments.push_back("+" + word);
  // Which fault of a build with faults acts; other builds don't ask.
  if (const char* mutant = std::getenv("GRAMER_MUTANT"))
    arguments.push_back(std::string("+mutant=") + mutant);
  std::vector<const char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(argument.c_str());
  model->context->commandArgs(int(pointers.size()), pointers.data());
  model->top.reset(new MODEL_CLASS{model->context.get(), "core"});
  // Before the end of the first reset registers hold anything, and assertions say nothing.
  model->context->assertOn(false);
  return model;
}

// What parts of the core hold, a line a part, without what is 0; of a queue how many elements.
const char* model_state(Model* model) {
  std::ostringstream out;
  for (const auto& [path, scope] : *model->context->scopeNameMap()) {
    if (!scope->varsp()) continue;
    const VerilatedVar* write = scope->varFind("write_q");
    const VerilatedVar* read = scope->varFind("read_q");
    std::ostringstream line;
    for (const auto& [name, var] : *scope->varsp()) {
      // Arrays of counters, and inputs, which are public for another reason.
      const size_t length = std::strlen(name);
      const bool input = length > 2 && !std::strcmp(name + length - 2, "_i");
      if (var.udims() > 0 || var.entSize() > 8 || input || &var == read) continue;
      uint64_t value = element(var, 0);
      const char* shown = name;
      if (&var == write && read) {
        value = (value - element(*read, 0)) & ((uint64_t(1) << var.packed().elements()) - 1);
        shown = "fill";
      }
      if (value) line << ' ' << shown << " 0x" << std::hex << value << std::dec;
    }
    if (!line.str().empty()) out << "  " << path << ':' << line.str() << '\n';
  }
  model->state = out.str();
  return model->state.c_str();
}

// The sum of `count` elements from `first` of the arrays `name` whose path contains `part`, modulo
// 2^63 (before a run they hold anything); -1 if there is none.
int64_t model_sum(Model* model, const char* part, const char* name, uint32_t first,
                  uint32_t count) {
  bool found = false;
  uint64_t sum = 0;
  for (const auto& [path, scope] : *model->context->scopeNameMap()) {
    if (!std::strstr(path, part) || !scope->varsp()) continue;
    const VerilatedVar* var = scope->varFind(name);
    if (!var || var->udims() != 1 || first + count > uint32_t(var->elements(1))) continue;
    found = true;
    for (uint32_t at = first; at < first + count; at++) sum += element(*var, at);
  }
  return found ? int64_t(sum & INT64_MAX) : -1;
}

void model_free(Model* model) {
  Verilated::threadContextp(model->context.get());
  model->top->final();
  delete model;
}

// One clock: inputs, combinational settling, outputs as they are before the rising edge, the edge.
// Returns 1 if the design has stopped at a failed assertion.
int model_cycle(Model* model, Pins* pins) {
  MODEL_CLASS& top = *model->top;
  Verilated::threadContextp(model->context.get());
  if (pins->reset_n) model->context->assertOn(true);
  top.ap_rst_n = pins->reset_n;
  top.s_axi_control_awvalid = pins->awvalid;
  top.s_axi_control_awaddr = pins->awaddr;
  top.s_axi_control_wvalid = pins->wvalid;
  top.s_axi_control_wdata = pins->wdata;
  top.s_axi_control_wstrb = pins->wstrb;
  top.s_axi_control_bready = pins->bready;
  top.s_axi_control_arvalid = pins->arvalid;
  top.s_axi_control_araddr = pins->araddr;
  top.s_axi_control_rready = pins->rready;
  top.s_axis_in_tvalid = pins->in_tvalid;
  top.s_axis_in_tlast = pins->in_tlast;
  std::memcpy(&top.s_axis_in_tdata, pins->in_tdata, 64);
  top.m_axis_out_tready = pins->out_tready;
  uint32_t arready = 0, rvalid = 0, rresp = 0, rlast = 0;
  for (int b = 0; b < BANKS; b++) {
    arready |= uint32_t(pins->bank_arready[b]) << b;
    rvalid |= uint32_t(pins->bank_rvalid[b]) << b;
    rresp |= uint32_t(pins->bank_rresp[b]) << (2 * b);
    rlast |= uint32_t(pins->bank_rlast[b]) << b;
    // Ports of several banks lie one after the other, lowest bank first.
    reinterpret_cast<uint8_t*>(&top.m_axi_rid)[b] = pins->bank_rid[b];
    std::memcpy(reinterpret_cast<uint8_t*>(&top.m_axi_rdata) + 64 * b, pins->bank_rdata[b], 64);
  }
  top.m_axi_arready = arready;
  top.m_axi_rvalid = rvalid;
  top.m_axi_rresp = rresp;
  top.m_axi_rlast = rlast;
  top.ap_clk = 0;
  top.eval();

  pins->awready = top.s_axi_control_awready;
  pins->wready = top.s_axi_control_wready;
  pins->bvalid = top.s_axi_control_bvalid;
  pins->arready = top.s_axi_control_arready;
  pins->rvalid = top.s_axi_control_rvalid;
  pins->rdata = top.s_axi_control_rdata;
  pins->interrupt = top.__SYM__interrupt; // a word that Verilator renames
  pins->in_tready = top.s_axis_in_tready;
  pins->out_tvalid = top.m_axis_out_tvalid;
  pins->out_tlast = top.m_axis_out_tlast;
  if (pins->out_tvalid) std::memcpy(pins->out_tdata, &top.m_axis_out_tdata, 64);
  for (int b = 0; b < BANKS; b++) {
    pins->bank_arvalid[b] = top.m_axi_arvalid >> b & 1;
    pins->bank_rready[b] = top.m_axi_rready >> b & 1;
    pins->bank_arid[b] = reinterpret_cast<uint8_t*>(&top.m_axi_arid)[b];
    pins->bank_arlen[b] = reinterpret_cast<uint8_t*>(&top.m_axi_arlen)[b];
    pins->bank_arsize[b] = top.m_axi_arsize >> (3 * b) & 7;
    pins->bank_arburst[b] = top.m_axi_arburst >> (2 * b) & 3;
    std::memcpy(&pins->bank_araddr[b], reinterpret_cast<uint8_t*>(&top.m_axi_araddr) + 8 * b, 8);
  }
  model->context->timeInc(1);
  top.ap_clk = 1;
  top.eval();
  model->context->timeInc(1);
  return model->context->gotFinish();
}

}  // extern "C"

// The C side of a Verilated core: one call a clock passes the pins in and out. Compiled once for
// each model, with MODEL_HEADER, MODEL_CLASS and BANKS defined.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "verilated.h"
#include MODEL_HEADER

// A failed assertion ends the run with an error instead of the process.
void vl_stop(const char* file, int line, const char* hier) {
  VL_PRINTF("%s:%d: assertion failed in %s\n", file, line, hier);
  Verilated::threadContextp()->gotFinish(true);
}

extern "C" {

// Mirrored by `Pins` in sim/src/model.rs.
struct Pins {
  // To the core
  uint8_t reset_n, awvalid, wvalid, bready, arvalid, rready, in_tvalid, in_tlast, out_tready;
  uint8_t bank_arready[4], bank_rvalid[4], bank_rid[4], bank_rresp[4];
  uint8_t wstrb;
  uint32_t awaddr, wdata, araddr;
  uint8_t bank_rdata[4][64];
  uint8_t in_tdata[64];
  // From the core
  uint8_t awready, wready, bvalid, arready, rvalid, in_tready, out_tvalid, out_tlast;
  uint8_t bank_arvalid[4], bank_rready[4], bank_arid[4], bank_arlen[4];
  uint8_t bank_arsize[4], bank_arburst[4], interrupt;
  uint32_t rdata;
  uint64_t bank_araddr[4];
  uint8_t out_tdata[64];
};

struct Model {
  std::unique_ptr<VerilatedContext> context{new VerilatedContext};
  std::unique_ptr<MODEL_CLASS> top;
};

uint64_t model_pins_size() { return sizeof(Pins); }

Model* model_new() {
  auto* model = new Model;
  model->context->randReset(2);
  // Which fault of a build with faults acts; other builds don't ask.
  if (const char* mutant = std::getenv("GRAMER_MUTANT")) {
    const std::string argument = std::string("+mutant=") + mutant;
    const char* arguments[] = {"core", argument.c_str()};
    model->context->commandArgs(2, arguments);
  }
  model->top.reset(new MODEL_CLASS{model->context.get(), "core"});
  return model;
}

void model_free(Model* model) {
  model->top->final();
  delete model;
}

// One clock: inputs, combinational settling, outputs as they are before the rising edge, the edge.
// Returns 1 if the design has stopped at a failed assertion.
int model_cycle(Model* model, Pins* pins) {
  MODEL_CLASS& top = *model->top;
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
  uint32_t arready = 0, rvalid = 0, rresp = 0;
  for (int b = 0; b < BANKS; b++) {
    arready |= uint32_t(pins->bank_arready[b]) << b;
    rvalid |= uint32_t(pins->bank_rvalid[b]) << b;
    rresp |= uint32_t(pins->bank_rresp[b]) << (2 * b);
    // Ports of several banks lie one after the other, lowest bank first.
    reinterpret_cast<uint8_t*>(&top.m_axi_rid)[b] = pins->bank_rid[b];
    std::memcpy(reinterpret_cast<uint8_t*>(&top.m_axi_rdata) + 64 * b, pins->bank_rdata[b], 64);
  }
  top.m_axi_arready = arready;
  top.m_axi_rvalid = rvalid;
  top.m_axi_rresp = rresp;
  top.m_axi_rlast = rvalid;
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

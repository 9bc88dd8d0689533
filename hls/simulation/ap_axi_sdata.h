// As much of Vitis' ap_axi_sdata.h as the data movers use: a beat of an AXI4 stream.
#pragma once
#include "ap_int.h"

template <int DATA, int USER, int ID, int DEST>
struct ap_axiu {
  ap_uint<DATA> data;
  uint64_t keep, strb;
  bool last;
};

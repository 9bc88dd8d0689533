// Subset of Vitis' ap_axi_sdata.h for the data movers: a beat of an AXI4 stream, with the original field types.
// The include path selects the vendor's ap_int.h or the one in this folder.
#pragma once
#include <ap_int.h>

template <int DATA, int USER, int ID, int DEST>
struct ap_axiu {
  ap_uint<DATA> data;
  ap_uint<DATA / 8> keep, strb;
  ap_uint<1> last;
};

// As much of Vitis' ap_axi_sdata.h as the data movers use: a beat of an AXI4 stream, with fields of
// the types that it has there. Whose ap_int.h it is, the compiler's options say.
#pragma once
#include <ap_int.h>

template <int DATA, int USER, int ID, int DEST>
struct ap_axiu {
  ap_uint<DATA> data;
  ap_uint<DATA / 8> keep, strb;
  ap_uint<1> last;
};

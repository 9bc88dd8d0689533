// What the two data movers share: a line of memory and a beat of a stream are 512 bits.
#pragma once
#include "ap_axi_sdata.h"
#include "ap_int.h"
#include "hls_stream.h"

typedef ap_uint<512> line_t;
typedef ap_axiu<512, 0, 0, 0> beat_t;

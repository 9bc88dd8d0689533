// Definitions of both data movers: a memory line and a stream beat have 512 bits.
#pragma once
#include "ap_axi_sdata.h"
#include "ap_int.h"
#include "hls_stream.h"

typedef ap_uint<512> line_t;
typedef ap_axiu<512, 0, 0, 0> beat_t;

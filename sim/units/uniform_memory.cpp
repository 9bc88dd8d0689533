// onchip_memory on a machine without scratchpads: the bound means nothing, every line is cached.
#include "onchip_memory.cpp"

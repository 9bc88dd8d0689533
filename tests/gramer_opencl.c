/* The accelerator driven by a plain OpenCL program, without anything of the host in this
 * repository: an xclbin of ours is an ordinary one.
 *
 *     cc tests/gramer_opencl.c -lOpenCL -o gramer_opencl && ./gramer_opencl FILE.xclbin BANKS
 *
 * It counts the triangles of a graph of five vertices, all but the last joined to each other, the
 * last to vertex 0: 4. Numbers of arguments are their positions in accelerator.yaml. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define MOST_BANKS 4
enum { APPLICATION, K, FLAGS, SLOTS, LAMBDA, VERTEX_BOUND, EDGE_BOUND, VERTEX_SETS, EDGE_SETS,
       RESULT_BEATS, ABORT, EDGE_BASE, BANK0 };
enum { HEAD, HEAD_BEATS, UNITS, UNITS_FIRST, UNITS_BEATS };
enum { RESULT, CAPACITY };

static void check(cl_int code, const char *what) {
    if (code == CL_SUCCESS) return;
    fprintf(stderr, "%s failed: %d\n", what, code);
    exit(1);
}
static cl_context context;
static cl_mem buffer(size_t bytes) {
    cl_int e;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &e);
    check(e, "clCreateBuffer");
    return made;
}
static void u32(cl_kernel kernel, int at, uint32_t value) {
    check(clSetKernelArg(kernel, at, sizeof value, &value), "clSetKernelArg");
}
static void u64(cl_kernel kernel, int at, uint64_t value) {
    check(clSetKernelArg(kernel, at, sizeof value, &value), "clSetKernelArg");
}
static cl_mem memory(cl_kernel kernel, int at, size_t bytes) {
    cl_mem made = buffer(bytes);
    check(clSetKernelArg(kernel, at, sizeof made, &made), "clSetKernelArg");
    return made;
}

int main(int argc, char **argv) {
    static unsigned char file[64 << 20];
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!in) return fprintf(stderr, "usage: gramer_opencl FILE.xclbin BANKS\n"), 2;
    size_t size = fread(file, 1, sizeof file, in);
    fclose(in);
    unsigned banks = (unsigned)atoi(argv[2]);
    if (banks < 1 || banks > MOST_BANKS) return fprintf(stderr, "1 to 4 banks\n"), 2;

    cl_platform_id platform;
    cl_device_id device;
    cl_int e;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    check(e, "clCreateContext");
    const unsigned char *binary = file;
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &size, &binary, NULL, &e);
    check(e, "clCreateProgramWithBinary");
    const char *names[3] = {"gramer_drain", "gramer_core", "gramer_fill"};
    cl_kernel kernels[3];
    cl_command_queue queues[3]; /* one each: they run at the same time */
    for (int i = 0; i < 3; i++) {
        kernels[i] = clCreateKernel(program, names[i], &e);
        check(e, names[i]);
        queues[i] = clCreateCommandQueue(context, device, 0, &e);
        check(e, "clCreateCommandQueue");
    }
    cl_kernel drain = kernels[0], core = kernels[1], fill = kernels[2];

    /* Vertex records {offset, degree, label} and edge entries, line i in bank i mod banks. */
    uint32_t degrees[5] = {4, 3, 3, 3, 1};
    uint32_t edges[LINE / 4] = {1, 2, 3, 4, 0, 2, 3, 0, 1, 3, 0, 1, 2, 0};
    unsigned char image[MOST_BANKS][4 * LINE] = {{0}};
    unsigned edge_base = (2 + banks - 1) / banks * LINE;
    uint64_t offset = 0;
    for (int v = 0; v < 5; v++) {
        unsigned char *record = image[v / 4 % banks] + v / 4 / banks * LINE + v % 4 * 16;
        memcpy(record, &offset, 8);
        memcpy(record + 8, &degrees[v], 4);
        offset += degrees[v];
    }
    memcpy(image[0] + edge_base, edges, LINE);
    uint32_t head[LINE / 4] = {0, 0, 0, 1};  /* no dictionary, no scratchpad lines, one pattern */
    uint32_t units[2 * LINE / 4] = {0};      /* {start, first, limit, valid} */
    for (uint32_t v = 0; v < 5; v++) {
        uint32_t unit[4] = {v, 0, degrees[v], 1};
        memcpy(units + 4 * v, unit, sizeof unit);
    }

    /* All arguments before any write: they say in which bank a buffer has to be. */
    uint32_t numbers[10] = {0, 3, 2, 1, 8, 0, 0, 1, 1, 0};
    for (int i = APPLICATION; i <= RESULT_BEATS; i++)
        if (i == EDGE_BOUND) u64(core, i, 0); else u32(core, i, numbers[i]);
    u64(core, EDGE_BASE, edge_base);
    cl_mem abort_word = memory(core, ABORT, LINE), graph[MOST_BANKS];
    for (unsigned b = 0; b < banks; b++) graph[b] = memory(core, BANK0 + b, sizeof image[b]);
    cl_mem head_buffer = memory(fill, HEAD, sizeof head);
    cl_mem unit_buffer = memory(fill, UNITS, sizeof units);
    u32(fill, HEAD_BEATS, 1), u32(fill, UNITS_FIRST, 0), u32(fill, UNITS_BEATS, 2);
    static uint64_t result[1024 * 8];
    cl_mem result_buffer = memory(drain, RESULT, sizeof result);
    u32(drain, CAPACITY, 1024);

    unsigned char zeros[LINE] = {0};
    cl_command_queue q = queues[0];
    check(clEnqueueWriteBuffer(q, abort_word, 1, 0, LINE, zeros, 0, NULL, NULL), "write");
    check(clEnqueueWriteBuffer(q, head_buffer, 1, 0, sizeof head, head, 0, NULL, NULL), "write");
    check(clEnqueueWriteBuffer(q, unit_buffer, 1, 0, sizeof units, units, 0, NULL, NULL), "write");
    for (unsigned b = 0; b < banks; b++)
        check(clEnqueueWriteBuffer(q, graph[b], 1, 0, sizeof image[b], image[b], 0, NULL, NULL), "write");

    cl_event events[3];
    for (int i = 0; i < 3; i++) check(clEnqueueTask(queues[i], kernels[i], 0, NULL, &events[i]), "start");
    check(clWaitForEvents(3, events), "clWaitForEvents");
    check(clEnqueueReadBuffer(q, result_buffer, 1, 0, sizeof result, result, 0, NULL, NULL), "read");
    /* Beat 0: beats that came; beat 1: counts; beat 2: status. */
    printf("beats %lu, status %lu, triangles %lu\n", (unsigned long)result[0],
           (unsigned long)(uint32_t)result[16], (unsigned long)result[8]);
    return result[8] == 4 && (uint32_t)result[16] == 0 ? 0 : 1;
}

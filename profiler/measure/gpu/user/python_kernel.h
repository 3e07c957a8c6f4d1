/* SPDX-License-Identifier: Apache-2.0 */
/* Interface between libattnscope and the Python package: functions that the package provides to a worker. The package
   mirrors these structures with ctypes (app/python/attnscope/_c.py).

   Functions return an attnscope_status; last_error() then has the reason. They must not throw. Calls are serialized,
   but come from different threads; the CUDA context is the device's primary context. */
#ifndef ATTNSCOPE_PYTHON_KERNEL_H
#define ATTNSCOPE_PYTHON_KERNEL_H

#include <stdint.h>

#include "assets/own-kernel/attnscope_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATTNSCOPE_PYTHON_VERSION 1

/* Additional status: the function's results are wrong or depend on earlier calls; recorded as incorrect. */
enum { ATTNSCOPE_INCORRECT = 4 };

/* A prepared call. Graphs are CUgraph handles that the package owns until release(). */
typedef struct attnscope_python_plan {
  void* handle;        /* passed to call() and release() */
  void* before;        /* graph to run once before `measured` can run: the forward pass of a backward pass; or null */
  void* measured;      /* graph of one execution; null if it could not be captured: call() then runs it */
  void* after;         /* graph or null: copies the results to the buffers of attnscope_pointers */
  int64_t memory;      /* tag of the memory that `measured` allocates (attnscope_memory_tag), 0 if none */
  int64_t br, bc;      /* tile that the function's autotuner chose; 0: unknown */
  int64_t saved_bytes; /* backward: bytes that the forward pass saves for it; -1: unknown */
  double host_ns;      /* host time of one eager call, median; 0: unknown */
  const char* note;    /* why the function was not captured, or another remark; or null */
} attnscope_python_plan;

typedef struct attnscope_python {
  int32_t version; /* ATTNSCOPE_PYTHON_VERSION */
  /* Imports the function and returns the text of its manifest, valid until the next call. */
  int (*describe)(const char* file, const char* entry, const char** manifest);
  /* Untimed: tensors, warm-up, capture. `stream` is a CUstream; the device is idle before and after. */
  int (*prepare)(const char* file, const char* entry, const attnscope_problem*, const attnscope_pointers*, void* stream,
                 attnscope_python_plan*);
  /* Enqueues one execution, if it was not captured. */
  int (*call)(void* handle);
  /* Enqueues the copy of the results, if they were not captured. */
  int (*copy_results)(void* handle);
  void (*release)(void* handle);
  const char* (*last_error)(void);
} attnscope_python;

/* Exported by libattnscope.so. */

/* Runs `attnscope worker` with these arguments (without the program's name) and serves Python functions with
   `functions`. Returns the exit code. `in` and `out` are the descriptors of the protocol. */
int attnscope_worker(int argc, const char* const* argv, const attnscope_python* functions, int in, int out);
const char* attnscope_version(void);

/* PyTorch's allocator (torch.cuda.memory.CUDAPluggableAllocator). Memory is exactly as large as requested, between
   guard areas, and filled with NaN bytes. Works while a stream is captured. Memory with a tag is freed by
   attnscope_memory_release(); until then a freed block serves later requests of its size. Without memory,
   attnscope_malloc() throws a C++ exception, which PyTorch converts to RuntimeError ("CUDA out of memory. ..."). */
void* attnscope_malloc(intptr_t size, int device, void* stream);
void attnscope_free(void* pointer, intptr_t size, int device, void* stream);
/* For set_record_stream_fn() of the allocator: the block does not serve later requests. */
void attnscope_record_stream(void* pointer, void* stream);
/* Tag of later allocations; 0: none. */
void attnscope_memory_tag(int64_t tag);
void attnscope_memory_release(int64_t tag);
/* Bytes allocated and not freed by torch with this tag: now and at most. */
int64_t attnscope_memory_live(int64_t tag);
int64_t attnscope_memory_peak(int64_t tag);

#ifdef __cplusplus
}
#endif

#endif

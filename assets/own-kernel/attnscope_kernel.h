/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that needs host code, for Attnscope: a shared library with these functions. A statement names it as its
   source ("source": "my-kernel.so"); `attnscope help own-kernel` says the rest.

   The library exports one function, attnscope_kernel_v1(), declared at the end. Its functions are called in a process
   of their own, whose current CUDA context is the device's primary one, which the CUDA runtime uses too. One thread
   calls at a time, not always the same. No exception may leave them. Pointers are valid during the call, but for device
   addresses and the workspace, which are from prepare() to release(). */
#ifndef ATTNSCOPE_KERNEL_H
#define ATTNSCOPE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface: attnscope_kernel.version. */
#define ATTNSCOPE_KERNEL_VERSION 1

/* What functions return. With any but OK, last_error() says why. */
enum attnscope_status {
  ATTNSCOPE_OK = 0,
  ATTNSCOPE_ERROR = 1,         /* the point is recorded as crashed */
  ATTNSCOPE_UNSUPPORTED = 2,   /* as infeasible */
  ATTNSCOPE_OUT_OF_MEMORY = 3, /* as out-of-memory */
};

enum attnscope_dtype { ATTNSCOPE_FP16 = 0, ATTNSCOPE_BF16 = 1 };
enum attnscope_pass { ATTNSCOPE_FORWARD = 0, ATTNSCOPE_BACKWARD = 1 };

/* Elements from one batch entry, head and row to the next; the d elements of a row follow one another. Where entries
   differ in length and follow one another, attnscope_pointers.q_starts and k_starts say where each begins. */
typedef struct attnscope_strides {
  int64_t batch, head, row;
} attnscope_strides;

/* A knob of the statement, and its value at this point. */
typedef struct attnscope_knob {
  const char* name;
  int64_t value;
} attnscope_knob;

typedef struct attnscope_problem {
  int32_t device; /* CUDA's number of it, in this process */
  int32_t dtype;  /* attnscope_dtype, of q, k, v, o, dout and the gradients */
  int32_t pass;   /* attnscope_pass: what launch() has to do */
  int64_t batch, heads_q, heads_kv, n_q, n_k, d;
  attnscope_strides q, o, dout, dq; /* batch x heads_q x n_q x d; 0 for what is not there */
  attnscope_strides k, v, dk, dv;   /* batch x heads_kv x n_k x d */
  double scale;                     /* of the scores q.k, before their softmax: 1 / sqrt(d) */
  /* Query i sees the keys from i + n - n_q - window_left to i + n - n_q + window_right, where n is n_k or the batch
     entry's length; -1: no bound on that side. Causal: -1, 0. */
  int64_t window_left, window_right;
  int64_t mask_block;    /* side of the squares of block_mask, elements; 0 without it */
  int32_t lse_base_2;    /* lse holds logarithms to base 2, else natural ones */
  int32_t deterministic; /* the same bits from each launch are asked for */
  int64_t br, bc;        /* tile */
  int64_t knob_count;
  const attnscope_knob* knobs;
} attnscope_problem;

/* Device addresses; null for what the problem or the statement does not have. */
typedef struct attnscope_pointers {
  const void *q, *k, *v;
  void* o;                            /* in a backward pass it is an input, and so is lse */
  float* lse;                         /* batch x heads_q x n_q, where the statement's "computes" has "lse" */
  const void* dout;                   /* backward */
  void *dq, *dk, *dv;                 /* backward */
  const int32_t* key_lengths;         /* batch: keys that are no padding */
  const uint8_t* block_mask;          /* ceil(n_q / mask_block) x ceil(n_k / mask_block), 0: that square is left out */
  const int32_t *q_starts, *k_starts; /* batch + 1: rows before each batch entry, of layout thd */
  void* workspace;                    /* as many bytes as workspace() asked for, aligned to 256; it holds anything */
} attnscope_pointers;

typedef struct attnscope_kernel {
  int32_t version; /* ATTNSCOPE_KERNEL_VERSION */
  /* OK or UNSUPPORTED. */
  int (*supported)(const attnscope_problem*);
  /* Bytes of device memory to be given to prepare(): 0 for none. What a library allocates itself is looked at: device
     memory that grows from launch to launch is a leak. */
  int (*workspace)(const attnscope_problem*, size_t* bytes);
  /* Everything that is not to be timed: compilation, the choice of a plan, autotuning, graph capture. Called anew for
     each set of addresses, several of which may be prepared at once. `stream` is the one that launch() will be given.
     Launches may write outputs, never inputs. Leaves the device idle. It may take four times as long as --timeout.
     *plan is given to launch() and release(). */
  int (*prepare)(const attnscope_problem*, const attnscope_pointers*, void* stream, void** plan);
  /* Enqueues one execution into the stream (a CUstream or cudaStream_t) and returns; nothing of it may be elsewhere.
     Called again and again, and timed. */
  int (*launch)(void* plan, void* stream);
  /* The device is idle. Also called for what a failed prepare() left in *plan, unless that is null. */
  void (*release)(void* plan);
  /* One line about what failed last; valid until the next call. Never null. */
  const char* (*last_error)(void);
} attnscope_kernel;

/* To be defined and exported by the library. What it returns lives as long as the process. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const attnscope_kernel*
attnscope_kernel_v1(void);

#ifdef __cplusplus
}
#endif

#endif

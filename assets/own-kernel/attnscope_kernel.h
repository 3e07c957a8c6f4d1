/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of a user-defined kernel with host code: a shared library with these functions. The manifest names it as
   its source ("source": "my-kernel.so"); see `attnscope help own-kernel`.

   The library exports one function, attnscope_kernel_v1(), declared at the end. Its functions run in a separate
   process; the current CUDA context is the device's primary context, which the CUDA runtime also uses. Calls are
   serialized, but may come from different threads. Functions must not throw. Pointers are valid during the call;
   device addresses and the workspace are valid from prepare() to release(). */
#ifndef ATTNSCOPE_KERNEL_H
#define ATTNSCOPE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; see attnscope_kernel.version. */
#define ATTNSCOPE_KERNEL_VERSION 1

/* Return values. For all but OK, last_error() returns the reason. */
enum attnscope_status {
  ATTNSCOPE_OK = 0,
  ATTNSCOPE_ERROR = 1,         /* the point is recorded as crashed */
  ATTNSCOPE_UNSUPPORTED = 2,   /* recorded as infeasible */
  ATTNSCOPE_OUT_OF_MEMORY = 3, /* recorded as out-of-memory */
};

enum attnscope_dtype { ATTNSCOPE_FP16 = 0, ATTNSCOPE_BF16 = 1, ATTNSCOPE_FP32 = 2 };
enum attnscope_pass { ATTNSCOPE_FORWARD = 0, ATTNSCOPE_BACKWARD = 1 };

/* Strides in elements; the d elements of a row are contiguous. For packed batch entries of different lengths,
   attnscope_pointers.q_starts and k_starts have the first row of each entry. */
typedef struct attnscope_strides {
  int64_t batch, head, row;
} attnscope_strides;

/* A knob of the manifest and its value at this point. */
typedef struct attnscope_knob {
  const char* name;
  int64_t value;
} attnscope_knob;

typedef struct attnscope_problem {
  int32_t device; /* CUDA device ordinal in this process */
  int32_t dtype;  /* attnscope_dtype of q, k, v, o, dout and the gradients */
  int32_t pass;   /* attnscope_pass that launch() computes */
  int64_t batch, heads_q, heads_kv, n_q, n_k, d;
  attnscope_strides q, o, dout, dq; /* batch x heads_q x n_q x d; 0 if unused */
  attnscope_strides k, v, dk, dv;   /* batch x heads_kv x n_k x d */
  double scale;                     /* factor of the scores q.k before the softmax: 1 / sqrt(d) */
  /* Query i sees keys i + n - n_q - window_left to i + n - n_q + window_right, where n is n_k or the batch entry's
     length. -1: unlimited on that side. Causal: -1, 0. */
  int64_t window_left, window_right;
  int64_t mask_block;    /* block size of block_mask in elements; 0 without it */
  int32_t lse_base_2;    /* lse has base-2 logarithms, else natural ones */
  int32_t deterministic; /* bitwise reproducible results are required */
  int64_t br, bc;        /* tile */
  int64_t knob_count;
  const attnscope_knob* knobs;
} attnscope_problem;

/* Device addresses; null if the problem or the manifest does not use them. */
typedef struct attnscope_pointers {
  const void *q, *k, *v;
  void* o;                            /* in a backward pass, o and lse are inputs */
  float* lse;                         /* batch x heads_q x n_q, if the manifest's "computes" has "lse" */
  const void* dout;                   /* backward */
  void *dq, *dk, *dv;                 /* backward */
  const int32_t* key_lengths;         /* batch: number of unpadded keys */
  const uint8_t* block_mask;          /* ceil(n_q / mask_block) x ceil(n_k / mask_block), 0: the block is masked */
  const int32_t *q_starts, *k_starts; /* batch + 1: first row of each batch entry, for layout thd */
  void* workspace;                    /* size from workspace(), aligned to 256 bytes; uninitialized */
} attnscope_pointers;

typedef struct attnscope_kernel {
  int32_t version; /* ATTNSCOPE_KERNEL_VERSION */
  /* Returns OK or UNSUPPORTED. */
  int (*supported)(const attnscope_problem*);
  /* Bytes of device memory that prepare() needs, 0 for none. The library may also allocate memory itself, but device
     memory that grows from launch to launch is reported as a leak. */
  int (*workspace)(const attnscope_problem*, size_t* bytes);
  /* Untimed work: compilation, plan selection, autotuning, graph capture. Called once per set of addresses, several
     of which may be prepared at the same time. `stream` is the stream that launch() will receive. Kernels may write
     outputs, but never inputs. The device must be idle on return. May take up to four times --timeout. *plan is
     passed to launch() and release(). */
  int (*prepare)(const attnscope_problem*, const attnscope_pointers*, void* stream, void** plan);
  /* Enqueues one execution into the stream (a CUstream or cudaStream_t) and returns. All work must be in that stream.
     Called repeatedly and timed. */
  int (*launch)(void* plan, void* stream);
  /* Releases a plan; the device is idle. Also called if prepare() failed and *plan is not null. */
  void (*release)(void* plan);
  /* Returns a one-line description of the last error, never null; valid until the next call. */
  const char* (*last_error)(void);
} attnscope_kernel;

/* Defined and exported by the library. The result must stay valid for the life of the process. */
#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
const attnscope_kernel*
attnscope_kernel_v1(void);

#ifdef __cplusplus
}
#endif

#endif

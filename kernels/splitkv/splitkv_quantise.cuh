// SPDX-License-Identifier: Apache-2.0
// Quantizes K or V to an 8-bit cache: e4m3 values in the input's layout, with one scale per K/V head. Not part of the
// measured time, since a cache is written once and read in every decoding step.
//
// Tile program of block (quantized_keys keys, K/V head): load all keys of the head; load the block's keys again and
// store them; the first block also stores the scale.
#include "device/e4m3.cuh"
#include "device/global.cuh"
#include "device/quantize_shape.h"
#include "splitkv/splitkv_shape.h"

namespace attnscope::splitkv {

using namespace device;

constexpr int d = ATTN_D;
constexpr int row_chunks = d / 8;

struct Head {
  const int* pages;  ///< row of the batch entry in the block table
  int kv;
  int head;
  int heads_kv;
  int n;
  int page;

  __device__ __forceinline__ long long element(int chunk) const {
    const int key = chunk / row_chunks;
    const long long row = ATTN_PAGED ? (static_cast<long long>(pages[key / page]) * heads_kv + head) * page + key % page
                                     : static_cast<long long>(kv) * n + key;
    return row * d + chunk % row_chunks * 8;
  }
};

}  // namespace attnscope::splitkv

extern "C" __global__ void __launch_bounds__(attnscope::splitkv::quantize_threads)
    attn_splitkv_quantise(const unsigned short* x, const int* block_table, unsigned char* out, float* scales, int n,
                          int page, int heads_kv) {
  using namespace attnscope::splitkv;
  __shared__ unsigned of_warp[quantize_threads / 32];
  const int blocks = (n + quantized_keys - 1) / quantized_keys;
  const int kv = static_cast<int>(blockIdx.x) / blocks;
  const int block = static_cast<int>(blockIdx.x) % blocks;
  const int pages = ATTN_PAGED ? (n + page - 1) / page : 0;
  const Head head{block_table + static_cast<long long>(kv / heads_kv) * pages, kv, kv % heads_kv, heads_kv, n, page};
  const int thread = static_cast<int>(threadIdx.x);

  unsigned most = 0;  // largest magnitude, as bits of an fp32 number
  for (int chunk = thread; chunk < n * row_chunks; chunk += quantize_threads) {
    const uint4 v = load_16_bytes(x + head.element(chunk));
    for (const unsigned word : {v.x, v.y, v.z, v.w}) {
      most = max(most, max(word & 0x7fff0000u, word << 16 & 0x7fff0000u));
    }
  }
  most = __reduce_max_sync(0xffffffffu, most);
  if (thread % 32 == 0) {
    of_warp[thread / 32] = most;
  }
  __syncthreads();
  for (const unsigned each : of_warp) {
    most = max(most, each);
  }
  const int exponent = attnscope::scale_exponent(most);
  const float factor = __int_as_float((127 - exponent) << 23);
  if (block == 0 && thread == 0) {
    store_float(scales + kv, __int_as_float((127 + exponent) << 23));
  }

  const int last = min((block + 1) * quantized_keys, n) * row_chunks;
  for (int chunk = block * quantized_keys * row_chunks + thread; chunk < last; chunk += quantize_threads) {
    const long long at = head.element(chunk);
    const uint4 v = load_16_bytes(x + at);
    const float2 a = unpack(v.x);
    const float2 b = unpack(v.y);
    const float2 c = unpack(v.z);
    const float2 e = unpack(v.w);
    store_8_bytes(out + at, pack_e4m3(a.x * factor, a.y * factor, b.x * factor, b.y * factor),
                  pack_e4m3(c.x * factor, c.y * factor, e.x * factor, e.y * factor));
  }
}

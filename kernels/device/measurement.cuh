// SPDX-License-Identifier: Apache-2.0
// Helper kernels of the measurement. Includes no header, so that NVRTC needs none.

// Fills L2 with unrelated lines by writing `bytes` (a multiple of 128, larger than L2) past L1. Writes noise, since L2
// compresses lines of one repeated value, and reading those evicts nothing.
extern "C" __global__ void attn_fill_l2(unsigned char* data, long long bytes) {
  const long long stride = 16ll * gridDim.x * blockDim.x;
  for (long long at = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < bytes;
       at += stride) {
    const unsigned noise = static_cast<unsigned>(at) * 2654435761u;
    asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(data + at), "r"(noise), "r"(~noise),
                 "r"(noise ^ 0x5555u), "r"(noise >> 7)
                 : "memory");
  }
}

// Like attn_fill_l2, but with evict_last lines. These also evict the lines for which a kernel requested evict_last. The
// priority ends when the lines are discarded.
extern "C" __global__ void attn_displace_l2(unsigned char* data, long long bytes) {
  unsigned long long keep;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep));
  const long long stride = 16ll * gridDim.x * blockDim.x;
  for (long long at = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < bytes;
       at += stride) {
    const unsigned noise = static_cast<unsigned>(at) * 2654435761u;
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(data + at), "r"(noise),
                 "r"(~noise), "r"(noise ^ 0x5555u), "r"(noise >> 7), "l"(keep)
                 : "memory");
  }
}

// Fills a buffer with one 32-bit word; bytes beyond the last whole word become 0.
extern "C" __global__ void attn_fill_words(unsigned* data, long long bytes, int word) {
  const long long words = bytes / 4;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long i = first; i < words; i += stride) data[i] = static_cast<unsigned>(word);
  if (first < bytes % 4) reinterpret_cast<unsigned char*>(data + words)[first] = 0;
}

// Drops those lines from L2 without write-back. Dirty lines would be written back during the next launch and counted as
// its traffic.
extern "C" __global__ void attn_discard_l2(unsigned char* data, long long bytes) {
  const long long stride = 128ll * gridDim.x * blockDim.x;
  for (long long at = 128ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < bytes;
       at += stride) {
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(data + at) : "memory");
  }
}

// Reads `bytes` (a multiple of 16, several times the L2 size) that attn_fill_l2 wrote earlier, so that L2 evicts its
// dirty lines and writes them to DRAM. Discarded lines do not work: reading them evicts nothing. The loads are volatile
// in PTX as well, since the assembler drops loads with unused results.
extern "C" __global__ void attn_read_noise(const unsigned char* data, long long bytes) {
  const long long stride = 16ll * gridDim.x * blockDim.x;
  for (long long at = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < bytes;
       at += stride) {
    unsigned a, b, c, d;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(data + at));
  }
}

// Keeps the stream busy while the host enqueues the timed launches, so that launch gaps are not timed.
extern "C" __global__ void attn_delay(long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (static_cast<long long>(now - begin) < nanoseconds);
}

// Stores the cycle counter of each SM and the global time (ns). Two such stamps give the mean SM clock between them.
// `stamps`: a pair of values per SM, written with one store.
extern "C" __global__ void attn_stamp_clocks(unsigned long long* stamps) {
  unsigned sm;
  unsigned long long cycles, now;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(stamps + 2 * sm), "l"(cycles), "l"(now) : "memory");
}

// Adds the number of infinite or NaN values among `count` values to result[0], and the number of rows of `row` values
// that are all 0 to result[1]. `infinity` is the bit pattern of infinity (0x7C00 in fp16, 0x7F80 in bf16, 0x7F800000 in
// fp32) and states the size of a value.
extern "C" __global__ void attn_count_nonfinite(const void* data, long long count, int infinity, long long row,
                                                unsigned long long* result) {
  const auto magnitude = [&](long long i) {
    return infinity > 0xFFFF ? static_cast<const int*>(data)[i] & 0x7FFFFFFF
                             : static_cast<const unsigned short*>(data)[i] & 0x7FFF;
  };
  unsigned long long found = 0;
  unsigned long long zero_rows = 0;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const int first = magnitude(i);
    if (first >= infinity) ++found;
    if (first != 0 || i % row != 0) continue;
    long long end = i + 1;
    while (end < i + row && magnitude(end) == 0) ++end;
    if (end == i + row) ++zero_rows;
  }
  if (found != 0) atomicAdd(result, found);
  if (zero_rows != 0) atomicAdd(result + 1, zero_rows);
}

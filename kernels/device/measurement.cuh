// SPDX-License-Identifier: Apache-2.0
// What measuring needs on the device besides the kernel that is measured. Uses no header, so that NVRTC needs none.

// Fills L2 with clean lines that nobody else uses, by reading `bytes` (a multiple of 16, larger than L2) past the L1.
// Reading, not writing: dirty lines would be written back during the launch that follows, and be counted as its own.
extern "C" __global__ void attn_fill_l2(const unsigned char* data, long long bytes) {
  const long long stride = 16ll * gridDim.x * blockDim.x;
  for (long long at = 16ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < bytes; at += stride) {
    unsigned a, b, c, d;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(data + at));
  }
}

// Keeps the stream busy while the host queues what is to be timed, so that no launch gap is timed with it.
extern "C" __global__ void attn_delay(long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (static_cast<long long>(now - begin) < nanoseconds);
}

// Adds to *result how many of `count` 16-bit values are infinite or NaN: those whose magnitude is at least `infinity`
// (0x7C00 in fp16, 0x7F80 in bf16).
extern "C" __global__ void attn_count_nonfinite(const unsigned short* data, long long count, int infinity,
                                                unsigned long long* result) {
  unsigned long long found = 0;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    if ((data[i] & 0x7FFF) >= infinity) ++found;
  }
  if (found != 0) atomicAdd(result, found);
}

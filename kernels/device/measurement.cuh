// SPDX-License-Identifier: Apache-2.0
// What measuring needs on the device besides the kernel that is measured. Uses no header, so that NVRTC needs none.

// Fills L2 with lines that nobody else uses, by writing `bytes` (a multiple of 128, larger than L2) past the L1.
// Writing, not reading: lines that hold one value throughout are kept compressed, and reading them displaces nothing.
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

// The same with lines that L2 is to keep (evict_last): they displace those of which a kernel asked that, which plain
// ones do not. What is discarded then is kept no longer.
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

// Drops those lines from L2 unwritten: left dirty, they would be written back during the launch that follows, and be
// counted as its own.
extern "C" __global__ void attn_discard_l2(unsigned char* data, long long bytes) {
  const long long stride = 128ll * gridDim.x * blockDim.x;
  for (long long at = 128ll * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x); at < bytes;
       at += stride) {
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(data + at) : "memory");
  }
}

// Reads `bytes` (a multiple of 16, several times the L2) of what attn_fill_l2 stored earlier: all that is dirty in L2
// has to make room, and is written to DRAM. Lines that were discarded cannot serve: reading them displaces nothing.
// The loads are volatile to PTX too: the assembler drops others whose values nobody uses.
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

// Keeps the stream busy while the host queues what is to be timed, so that no launch gap is timed with it.
extern "C" __global__ void attn_delay(long long nanoseconds) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (static_cast<long long>(now - begin) < nanoseconds);
}

// Where the clock of each SM stands, and the time, which all SMs share: two such stamps tell the mean frequency between
// them. `stamps`: two values for each SM, written as one.
extern "C" __global__ void attn_stamp_clocks(unsigned long long* stamps) {
  unsigned sm;
  unsigned long long cycles, now;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
  asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(stamps + 2 * sm), "l"(cycles), "l"(now) : "memory");
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

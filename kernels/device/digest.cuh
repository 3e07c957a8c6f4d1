// SPDX-License-Identifier: Apache-2.0
// Includes no header, so that NVRTC needs none.

// Adds a digest of `bytes` bytes at `data` (8-byte aligned) to *result. The digest is the sum of a hash of each 8-byte
// word and its index, so it does not depend on the order of the atomic additions.
extern "C" __global__ void attn_digest(const unsigned char* data, long long bytes, unsigned long long* result) {
  unsigned long long sum = 0;
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; 8 * i < bytes; i += stride) {
    unsigned long long word = 0;
    if (8 * i + 8 <= bytes) {
      word = reinterpret_cast<const unsigned long long*>(data)[i];
    } else {
      for (long long at = 8 * i; at < bytes; ++at) word = word << 8 | data[at];
    }
    // SplitMix64's finalizer (Steele, Lea and Flood, OOPSLA 2014).
    word += 0x9E3779B97F4A7C15ull * static_cast<unsigned long long>(i + 1);
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ word >> 27) * 0x94D049BB133111EBull;
    sum += word ^ word >> 31;
  }
  if (sum != 0) atomicAdd(result, sum);
}

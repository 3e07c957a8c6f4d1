// SPDX-License-Identifier: Apache-2.0
// Driver shim that presents one GPU as several of the same kind; each additional GPU is another context on it.
// Launches, copies, events and waits between GPUs then run on single-GPU hardware; times of concurrent work are
// meaningless. tests/gpu/gpus.sh builds it and loads it instead of the driver (ATTNSCOPE_CUDA_LIBRARY). ATTNSCOPE_GPUS
// sets the number of GPUs.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace {

constexpr int most = 8;
std::array<CUcontext, most> contexts{};

// Other symbols resolve to the driver, with which this library is linked.
template <typename Function>
Function* driver(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

// Uses the versioned name that cuda.h maps the function to.
#define AS_TEXT(name) #name
#define DRIVER(name) driver<decltype(name)>(AS_TEXT(name))

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  const char* const asked = std::getenv("ATTNSCOPE_GPUS");
  *count = std::clamp(asked == nullptr ? 2 : std::atoi(asked), 1, most);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  int count = 0;
  cuDeviceGetCount(&count);
  *device = ordinal;
  return ordinal < count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  return DRIVER(cuDeviceGetName)(name, length, 0);
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) {
  return DRIVER(cuDeviceTotalMem)(bytes, 0);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  return DRIVER(cuDeviceGetAttribute)(value, attribute, 0);
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  const CUresult result = DRIVER(cuDeviceGetUuid)(uuid, 0);
  uuid->bytes[15] = static_cast<char>(uuid->bytes[15] + device);
  return result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (device == 0) return DRIVER(cuDevicePrimaryCtxRetain)(context, 0);
  CUcontext& own = contexts[static_cast<std::size_t>(device)];
  using Create = CUresult(CUcontext*, unsigned, CUdevice);
  const CUresult result = own == nullptr ? driver<Create>("cuCtxCreate_v2")(&own, 0, 0) : CUDA_SUCCESS;
  *context = own;
  return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return device == 0 ? DRIVER(cuDevicePrimaryCtxRelease)(0) : CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 1;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return CUDA_SUCCESS;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// CUDA driver API, loaded at run time, and RAII wrappers of its handles.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"
#include "profiler/measure/gpu/driver/dynamic_library.h"

// All functions used. The macro expands names like cuda.h does ("cuMemAlloc" to cuMemAlloc_v2), so that declared types
// and loaded symbols have the same version.
#define ATTNSCOPE_CUDA_FUNCTIONS(X)    \
  X(cuInit)                            \
  X(cuDriverGetVersion)                \
  X(cuGetErrorName)                    \
  X(cuGetErrorString)                  \
  X(cuDeviceGetCount)                  \
  X(cuDeviceGet)                       \
  X(cuDeviceGetName)                   \
  X(cuDeviceTotalMem)                  \
  X(cuDeviceGetAttribute)              \
  X(cuDeviceGetUuid)                   \
  X(cuDevicePrimaryCtxRetain)          \
  X(cuDevicePrimaryCtxRelease)         \
  X(cuCtxSetCurrent)                   \
  X(cuCtxPushCurrent)                  \
  X(cuCtxPopCurrent)                   \
  X(cuCtxEnablePeerAccess)             \
  X(cuDeviceCanAccessPeer)             \
  X(cuCtxSynchronize)                  \
  X(cuCtxResetPersistingL2Cache)       \
  X(cuMemGetInfo)                      \
  X(cuMemAlloc)                        \
  X(cuMemFree)                         \
  X(cuMemGetAllocationGranularity)     \
  X(cuMemAddressReserve)               \
  X(cuMemAddressFree)                  \
  X(cuMemCreate)                       \
  X(cuMemRelease)                      \
  X(cuMemMap)                          \
  X(cuMemUnmap)                        \
  X(cuMemSetAccess)                    \
  X(cuMemcpyHtoDAsync)                 \
  X(cuMemcpyDtoH)                      \
  X(cuMemcpyDtoDAsync)                 \
  X(cuMemcpy2DAsync)                   \
  X(cuMemcpyPeerAsync)                 \
  X(cuMemcpy3DPeerAsync)               \
  X(cuMemsetD8Async)                   \
  X(cuStreamCreate)                    \
  X(cuStreamDestroy)                   \
  X(cuStreamQuery)                     \
  X(cuStreamSynchronize)               \
  X(cuStreamIsCapturing)               \
  X(cuThreadExchangeStreamCaptureMode) \
  X(cuStreamWaitEvent)                 \
  X(cuEventCreate)                     \
  X(cuEventDestroy)                    \
  X(cuEventRecord)                     \
  X(cuEventQuery)                      \
  X(cuModuleLoadData)                  \
  X(cuModuleUnload)                    \
  X(cuModuleGetFunction)               \
  X(cuFuncGetAttribute)                \
  X(cuFuncSetAttribute)                \
  X(cuLaunchKernel)                    \
  X(cuLaunchKernelEx)                  \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)

/// Functions that drivers since CUDA 12.4 have, for graphs.
#define ATTNSCOPE_CUDA_GRAPH_FUNCTIONS(X) \
  X(cuGraphGetNodes)                      \
  X(cuGraphNodeGetType)                   \
  X(cuGraphKernelNodeGetParams)           \
  X(cuGraphClone)                         \
  X(cuGraphNodeFindInClone)               \
  X(cuGraphDestroyNode)                   \
  X(cuGraphAddDependencies)               \
  X(cuGraphInstantiate)                   \
  X(cuGraphLaunch)                        \
  X(cuGraphExecDestroy)                   \
  X(cuGraphDestroy)                       \
  X(cuKernelGetFunction)                  \
  X(cuFuncGetName)

namespace attnscope {
struct GpuError;
}  // namespace attnscope

namespace attnscope::gpu {

/// NaN in every type if all bytes have this value; marks memory that no kernel has written.
inline constexpr unsigned char nan_byte = 0xFF;

/// Function pointers of the driver API. Copyable: the library stays loaded.
struct CudaApi {
#define ATTNSCOPE_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
  ATTNSCOPE_CUDA_FUNCTIONS(ATTNSCOPE_MEMBER)
  ATTNSCOPE_CUDA_GRAPH_FUNCTIONS(ATTNSCOPE_MEMBER)  ///< cuGraphGetNodes is null if the driver lacks one.
#undef ATTNSCOPE_MEMBER
  decltype(&::cuEventElapsedTime) elapsed_time = nullptr;  ///< Version 1, which every driver has.
  /// Null if the driver does not support tensor maps.
  decltype(&::cuTensorMapEncodeTiled) encode_tensor_map = nullptr;
  decltype(&::cuFuncGetParamInfo) parameter_info = nullptr;  ///< Null if the driver is older than CUDA 12.4.
  std::filesystem::path path;

  /// The error is one sentence.
  [[nodiscard]] static Result<CudaApi, LibraryError> load();

  /// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
  [[nodiscard]] std::string describe(CUresult result) const;
  /// Throws DriverError unless `result` is success.
  void check(CUresult result, const char* call) const;
  // These throw DriverError. Sizes are in bytes.
  void record(CUevent event, CUstream stream) const {
    check(cuEventRecord(event, stream), "cuEventRecord");
  }
  void fill(CUdeviceptr target, unsigned char value, std::size_t bytes, CUstream stream) const {
    check(cuMemsetD8Async(target, value, bytes, stream), "cuMemsetD8Async");
  }
  void copy_to_host(void* target, CUdeviceptr source, std::size_t bytes) const {
    check(cuMemcpyDtoH(target, source, bytes), "cuMemcpyDtoH");
  }
  void copy_to_device(CUdeviceptr target, const void* source, std::size_t bytes, CUstream stream) const {
    check(cuMemcpyHtoDAsync(target, source, bytes, stream), "cuMemcpyHtoDAsync");
  }
  void copy_on_device(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream) const {
    check(cuMemcpyDtoDAsync(target, source, bytes, stream), "cuMemcpyDtoDAsync");
  }
  /// Returns whether all bytes have this value. Pre: the device is idle.
  [[nodiscard]] bool is_filled(CUdeviceptr address, unsigned char value, std::size_t bytes) const {
    std::vector<unsigned char> copy(bytes);
    copy_to_host(copy.data(), address, bytes);
    return std::ranges::all_of(copy, [&](unsigned char byte) { return byte == value; });
  }
  [[nodiscard]] double elapsed_ns(CUevent begin, CUevent end) const {
    float milliseconds = 0;
    check(elapsed_time(&milliseconds, begin, end), "cuEventElapsedTime");
    return 1e6 * static_cast<double>(milliseconds);
  }
  [[nodiscard]] int attribute(CUfunction_attribute which, CUfunction function) const {
    int value = 0;
    check(cuFuncGetAttribute(&value, which, function), "cuFuncGetAttribute");
    return value;
  }
};

class DriverError : public std::runtime_error {
 public:
  DriverError(CUresult code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] CUresult code() const { return code_; }

 private:
  CUresult code_;
};

/// RAII owner of a driver handle; `Destroy` is the member of CudaApi that releases it.
template <class Handle, auto Destroy>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  UniqueHandle(const CudaApi& cuda, Handle handle) : cuda_(&cuda), handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : cuda_(other.cuda_), handle_(std::exchange(other.handle_, Handle{})) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    UniqueHandle(std::move(other)).swap(*this);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != Handle{}) (cuda_->*Destroy)(handle_);
  }

  [[nodiscard]] Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  void swap(UniqueHandle& other) noexcept {
    std::swap(cuda_, other.cuda_);
    std::swap(handle_, other.handle_);
  }

  const CudaApi* cuda_ = nullptr;
  Handle handle_{};
};

using Stream = UniqueHandle<CUstream, &CudaApi::cuStreamDestroy>;
using Event = UniqueHandle<CUevent, &CudaApi::cuEventDestroy>;
using Module = UniqueHandle<CUmodule, &CudaApi::cuModuleUnload>;
using DeviceMemory = UniqueHandle<CUdeviceptr, &CudaApi::cuMemFree>;

/// Retains the device's primary context and makes it current on the constructing thread.
class Context {
 public:
  /// Throws DriverError.
  Context(const CudaApi& cuda, CUdevice device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] CUcontext get() const { return context_; }
  void make_current() const;

 private:
  const CudaApi& cuda_;
  CUdevice device_;
  CUcontext context_ = nullptr;
};

// All of these throw DriverError.
[[nodiscard]] Stream make_stream(const CudaApi&);
[[nodiscard]] Event make_event(const CudaApi&);
[[nodiscard]] Module load_module(const CudaApi&, const std::string& image);
[[nodiscard]] DeviceMemory allocate(const CudaApi&, std::int64_t bytes);
[[nodiscard]] std::int64_t free_device_bytes(const CudaApi&);
[[nodiscard]] int attribute(const CudaApi&, CUdevice, CUdevice_attribute);
/// "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as in nvidia-smi.
[[nodiscard]] std::string device_uuid(const CudaApi&, CUdevice);
[[nodiscard]] std::string device_name(const CudaApi&, CUdevice);
/// Limits from the driver. Rates are datasheet figures if known_gpus() has the GPU; otherwise they are estimated from
/// clocks.
[[nodiscard]] DeviceLimits device_limits(const CudaApi&, CUdevice);
/// "13.0"
[[nodiscard]] std::string driver_api_version(const CudaApi&);

/// Loads and initializes the driver; fails, with a fix, if it finds no device. If `devices` contains a GPU node
/// (nvidia0) but the driver lists no GPU, the GPU counts as failed, not as absent.
[[nodiscard]] Result<CudaApi, GpuError> start_driver(const std::filesystem::path& devices = "/dev");

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/python_call.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/user/python_kernel.h"

namespace attnscope::gpu {
namespace {

/// Memory of a tensor.
struct TensorBlock {
  CUdeviceptr base = 0;
  CUdeviceptr bytes = 0;
  int device = 0;
  CUstream stream = nullptr;
  std::int64_t tag = 0;
  bool in_use = true;
  bool reusable = true;  ///< False if another stream used it: it may still do so when it is freed.
};

struct TensorUsage {
  std::int64_t live = 0;
  std::int64_t peak = 0;

  void add(CUdeviceptr bytes) {
    live += static_cast<std::int64_t>(bytes);
    peak = std::max(peak, live);
  }
  void remove(CUdeviceptr bytes) { live -= static_cast<std::int64_t>(bytes); }
};

/// Makes the device's primary context current and allows calls that a capture of the thread would forbid.
class DriverScope {
 public:
  DriverScope(const CudaApi& cuda, CUcontext context) : cuda_(cuda) {
    cuda_.check(cuda_.cuCtxPushCurrent(context), "cuCtxPushCurrent");
    cuda_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  DriverScope(const DriverScope&) = delete;
  DriverScope& operator=(const DriverScope&) = delete;
  ~DriverScope() {
    cuda_.cuThreadExchangeStreamCaptureMode(&mode_);
    cuda_.cuCtxPopCurrent(nullptr);
  }

 private:
  const CudaApi& cuda_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

class TorchMemory {
 public:
  CUdeviceptr allocate(CUdeviceptr bytes, int device, CUstream stream) {
    const std::lock_guard lock(mutex_);
    if (tag_ != 0) {
      const auto reused = std::ranges::find_if(blocks_, [&](const auto& entry) {
        const TensorBlock& block = entry.second;
        return !block.in_use && block.reusable && block.tag == tag_ && block.bytes == bytes && block.device == device &&
               block.stream == stream;
      });
      if (reused != blocks_.end()) {
        reused->second.in_use = true;
        usage_[tag_].add(bytes);
        return reused->first;
      }
    }
    DeviceState& state = device_state(device);
    const DriverScope scope(cuda_, state.context);
    const CUdeviceptr base = allocate_memory(bytes);
    try {
      fill(state, base, bytes + extra_bytes);
    } catch (const DriverError&) {
      cuda_.cuMemFree(base);
      throw;
    }
    const CUdeviceptr address = (base + guard_bytes + alignment - 1) / alignment * alignment;
    blocks_.emplace(address,
                    TensorBlock{.base = base, .bytes = bytes, .device = device, .stream = stream, .tag = tag_});
    usage_[tag_].add(bytes);
    return address;
  }

  void free(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end() || !found->second.in_use) return;
    TensorBlock& block = found->second;
    block.in_use = false;
    usage_[block.tag].remove(block.bytes);
    if (block.tag != 0) return;
    const DriverScope scope(cuda_, device_state(block.device).context);
    // A graph may use memory that is freed during its capture.
    if (tag_ != 0) {
      block.tag = tag_;
    } else if (is_captured(block.stream)) {
      block.tag = kept;
    } else {
      cuda_.cuStreamSynchronize(block.stream);  // cuMemFree() waits for other streams
      free_memory(found);
    }
  }

  void release(std::int64_t tag) {
    if (tag <= 0) return;
    const std::lock_guard lock(mutex_);
    for (auto entry = blocks_.begin(); entry != blocks_.end();) {
      TensorBlock& block = entry->second;
      if (block.tag == tag && !block.in_use) {
        const DriverScope scope(cuda_, device_state(block.device).context);
        entry = free_memory(entry);
        continue;
      }
      if (block.tag == tag) {
        block.tag = 0;
        usage_[0].add(block.bytes);
      }
      ++entry;
    }
    usage_.erase(tag);
    if (tag_ == tag) tag_ = 0;
  }

  void poison(std::int64_t tag) {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, block] : blocks_) {
      if (block.tag != tag) continue;
      DeviceState& state = device_state(block.device);
      const DriverScope scope(cuda_, state.context);
      fill(state, address, block.bytes);
    }
  }

  Message stray_write(std::int64_t tag) {
    const std::lock_guard lock(mutex_);
    const auto is_written = [&](CUdeviceptr begin, CUdeviceptr end) {
      return !cuda_.is_filled(begin, nan_byte, end - begin);
    };
    for (const auto& [address, block] : blocks_) {
      if (block.tag != tag) continue;
      const DriverScope scope(cuda_, device_state(block.device).context);
      if (is_written(block.base, address)) {
        return make_reason("point.tensor_underrun", "A kernel wrote before the start of a tensor of {} bytes.",
                           block.bytes);
      }
      if (is_written(address + block.bytes, block.base + block.bytes + extra_bytes)) {
        return make_reason("point.tensor_overrun", "A kernel wrote beyond the end of a tensor of {} bytes.",
                           block.bytes);
      }
    }
    return {};
  }

  void set_used_by_other_stream(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found != blocks_.end()) found->second.reusable = false;
  }
  void set_tag(std::int64_t tag) {
    const std::lock_guard lock(mutex_);
    tag_ = tag;
  }
  TensorUsage usage(std::int64_t tag) {
    const std::lock_guard lock(mutex_);
    const auto found = usage_.find(tag);
    return found == usage_.end() ? TensorUsage{} : found->second;
  }

 private:
  /// Primary context of a device, and a stream that is never captured.
  struct DeviceState {
    CUcontext context = nullptr;
    Stream stream;
  };
  static constexpr CUdeviceptr alignment = 512;  ///< like PyTorch's own allocator
  static constexpr CUdeviceptr guard_bytes = 256;
  static constexpr CUdeviceptr extra_bytes = 2 * guard_bytes + alignment;
  static constexpr std::int64_t kept = -1;  ///< tag of blocks that are never freed
  using Blocks = std::map<CUdeviceptr, TensorBlock>;

  DeviceState& device_state(int device) {
    if (const auto found = devices_.find(device); found != devices_.end()) return found->second;
    if (devices_.empty()) {
      auto cuda = CudaApi::load();
      if (!cuda) throw std::runtime_error(text(cuda.error().what));
      cuda_ = std::move(cuda).value();
    }
    CUdevice handle = 0;
    DeviceState state;
    cuda_.check(cuda_.cuDeviceGet(&handle, device), "cuDeviceGet");
    cuda_.check(cuda_.cuDevicePrimaryCtxRetain(&state.context, handle), "cuDevicePrimaryCtxRetain");
    const DriverScope scope(cuda_, state.context);
    state.stream = make_stream(cuda_);
    return devices_.emplace(device, std::move(state)).first->second;
  }

  CUdeviceptr allocate_memory(CUdeviceptr bytes) {
    CUdeviceptr base = 0;
    const CUresult result = cuda_.cuMemAlloc(&base, bytes + extra_bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      throw std::runtime_error(fmt::format("CUDA out of memory. Tried to allocate {} bytes; {} bytes are free.", bytes,
                                           free_device_bytes(cuda_)));
    }
    cuda_.check(result, "cuMemAlloc");
    return base;
  }

  void fill(DeviceState& state, CUdeviceptr begin, CUdeviceptr bytes) {
    if (bytes == 0) return;
    cuda_.fill(begin, nan_byte, bytes, state.stream.get());
    cuda_.check(cuda_.cuStreamSynchronize(state.stream.get()), "cuStreamSynchronize");
  }

  bool is_captured(CUstream stream) const {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cuda_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  Blocks::iterator free_memory(Blocks::iterator block) {
    cuda_.cuMemFree(block->second.base);
    return blocks_.erase(block);
  }

  CudaApi cuda_;  ///< loaded with the first device
  std::mutex mutex_;
  std::map<int, DeviceState> devices_;
  Blocks blocks_;  ///< key: address that PyTorch received
  std::map<std::int64_t, TensorUsage> usage_;
  std::int64_t tag_ = 0;
};

/// Never destroyed: PyTorch frees tensors until the process ends.
TorchMemory& torch_memory() {
  static auto& memory = *new TorchMemory;
  return memory;
}

/// Returns an error message that is valid until the thread's next call, or null.
const char* try_allocate(CUdeviceptr& address, CUdeviceptr bytes, int device, CUstream stream) {
  thread_local std::string message;
  try {
    address = torch_memory().allocate(bytes, device, stream);
    return nullptr;
  } catch (const std::exception& error) {
    message = error.what();
  }
  return message.c_str();
}

/// PyTorch does not check the allocator's result for null, but converts exceptions to RuntimeError. The exception must
/// come from its C++ library: that of libattnscope.so is linked statically, and frames of both would abort unwinding.
/// For that reason this function and its caller have no objects with destructors.
[[noreturn]] void throw_to_torch(const char* message) {
  auto* raise = &std::__throw_runtime_error;
  if (void* const library = ::dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD); library != nullptr) {
    void* const symbol = ::dlsym(library, "_ZSt21__throw_runtime_errorPKc");
    if (symbol != nullptr) raise = reinterpret_cast<decltype(raise)>(symbol);
  }
  raise(message);
  __builtin_unreachable();
}

}  // namespace

void poison_memory(std::int64_t tag) {
  torch_memory().poison(tag);
}

Message stray_write(std::int64_t tag) {
  return torch_memory().stray_write(tag);
}

}  // namespace attnscope::gpu

extern "C" {

void* attnscope_malloc(intptr_t size, int device, void* stream) {
  CUdeviceptr address = 0;
  const char* const error =
      attnscope::gpu::try_allocate(address, static_cast<CUdeviceptr>(size), device, static_cast<CUstream>(stream));
  if (error != nullptr) attnscope::gpu::throw_to_torch(error);
  return reinterpret_cast<void*>(address);
}
void attnscope_free(void* pointer, intptr_t, int, void*) {
  try {
    attnscope::gpu::torch_memory().free(reinterpret_cast<CUdeviceptr>(pointer));
  } catch (const std::exception&) {  // the context is lost; PyTorch calls this function in destructors
  }
}
void attnscope_record_stream(void* pointer, void*) {
  attnscope::gpu::torch_memory().set_used_by_other_stream(reinterpret_cast<CUdeviceptr>(pointer));
}
void attnscope_memory_tag(int64_t tag) {
  attnscope::gpu::torch_memory().set_tag(tag);
}
void attnscope_memory_release(int64_t tag) {
  try {
    attnscope::gpu::torch_memory().release(tag);
  } catch (const std::exception&) {  // the context is lost
  }
}
int64_t attnscope_memory_live(int64_t tag) {
  return attnscope::gpu::torch_memory().usage(tag).live;
}
int64_t attnscope_memory_peak(int64_t tag) {
  return attnscope::gpu::torch_memory().usage(tag).peak;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/cuda_driver.h"

#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope::gpu {
namespace {

constexpr int min_driver_version = 12000;  ///< CUDA 12.0, the first version with sm_90a.

GpuError no_gpu_error(const std::filesystem::path& devices) {
  constexpr int max_nodes = 64;
  for (int i = 0; i < max_nodes; ++i) {
    const std::string node = (devices / fmt::format("nvidia{}", i)).string();
    std::error_code ignored;
    if (!std::filesystem::exists(node, ignored)) continue;
    return {make_reason("gpu.not_seen_with_node", "The NVIDIA driver finds no GPU, although {} exists.", node),
            make_reason("gpu.not_seen_with_node_fix",
                        "Check nvidia-smi and the kernel log; the GPU may need a reset or a reboot.")};
  }
  return {make_reason("gpu.not_seen", "The NVIDIA driver finds no GPU."),
          make_reason("gpu.not_seen_fix", "Check nvidia-smi; in a container, start it with --gpus all."), true};
}

}  // namespace

Result<CudaApi, LibraryError> CudaApi::load() {
  // The toolkit's folders are not searched: they contain only a stub for linking.
  const auto library = DynamicLibrary::open({.title = "The NVIDIA driver",
                                             .override_variable = "ATTNSCOPE_CUDA_LIBRARY",
                                             .names = {"libcuda.so.1"},
                                             .folders = {"/usr/lib/wsl/lib"}});
  if (!library) return Failure{library.error()};
  CudaApi api;
  api.path = library->path();
  std::string missing;
  const auto bind = [&](auto& function, const char* name) {
    if (!library->bind(function, name) && missing.empty()) missing = name;
  };
#define ATTNSCOPE_BIND_NAME(name) bind(api.name, #name);
#define ATTNSCOPE_BIND(name) ATTNSCOPE_BIND_NAME(name)
  ATTNSCOPE_CUDA_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
#undef ATTNSCOPE_BIND_NAME
  bool graphs = true;
#define ATTNSCOPE_BIND_NAME(name) graphs = library->bind(api.name, #name) && graphs;
#define ATTNSCOPE_BIND(name) ATTNSCOPE_BIND_NAME(name)
  ATTNSCOPE_CUDA_GRAPH_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
#undef ATTNSCOPE_BIND_NAME
  if (!graphs) api.cuGraphGetNodes = nullptr;
  bind(api.elapsed_time, "cuEventElapsedTime");
  (void)library->bind(api.encode_tensor_map, "cuTensorMapEncodeTiled");
  (void)library->bind(api.parameter_info, "cuFuncGetParamInfo");
  if (!missing.empty()) {
    return Failure{LibraryError{
        make_message("NVIDIA driver {}: missing function {} (older than CUDA 11.4).", api.path.string(), missing)}};
  }
  return api;
}

std::string CudaApi::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
    return fmt::format("CUDA error {}", static_cast<int>(result));
  }
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

void CudaApi::check(CUresult result, const char* call) const {
  if (result != CUDA_SUCCESS) throw DriverError(result, fmt::format("{}: {}", call, describe(result)));
}

Context::Context(const CudaApi& cuda, CUdevice device) : cuda_(cuda), device_(device) {
  cuda_.check(cuda_.cuDevicePrimaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain");
  const CUresult current = cuda_.cuCtxSetCurrent(context_);
  if (current != CUDA_SUCCESS) {
    cuda_.cuDevicePrimaryCtxRelease(device_);
    cuda_.check(current, "cuCtxSetCurrent");
  }
}

Context::~Context() {
  cuda_.cuCtxSetCurrent(nullptr);
  cuda_.cuDevicePrimaryCtxRelease(device_);
}

void Context::make_current() const {
  cuda_.check(cuda_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

Stream make_stream(const CudaApi& cuda) {
  CUstream stream = nullptr;
  cuda.check(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return {cuda, stream};
}

Event make_event(const CudaApi& cuda) {
  CUevent event = nullptr;
  cuda.check(cuda.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate");
  return {cuda, event};
}

Module load_module(const CudaApi& cuda, const std::string& image) {
  CUmodule module = nullptr;
  cuda.check(cuda.cuModuleLoadData(&module, image.data()), "cuModuleLoadData");
  return {cuda, module};
}

DeviceMemory allocate(const CudaApi& cuda, std::int64_t bytes) {
  CUdeviceptr address = 0;
  cuda.check(cuda.cuMemAlloc(&address, static_cast<std::size_t>(bytes)), "cuMemAlloc");
  return {cuda, address};
}

std::int64_t free_device_bytes(const CudaApi& cuda) {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda.check(cuda.cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return static_cast<std::int64_t>(free);
}

int attribute(const CudaApi& cuda, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  cuda.check(cuda.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

std::string device_uuid(const CudaApi& cuda, CUdevice device) {
  CUuuid uuid{};
  cuda.check(cuda.cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string device_name(const CudaApi& cuda, CUdevice device) {
  std::array<char, 256> name{};
  cuda.check(cuda.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "cuDeviceGetName");
  return name.data();
}

DeviceLimits device_limits(const CudaApi& cuda, CUdevice device) {
  const auto ask = [&](CUdevice_attribute which) { return attribute(cuda, device, which); };
  const auto ask_clock = [&](CUdevice_attribute which) {  // kHz; a virtual GPU may hide it: 0
    int value = 0;
    return cuda.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? 1e3 * value : 0.0;
  };
  std::size_t memory = 0;
  cuda.check(cuda.cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem");

  DeviceLimits limits;
  limits.name = device_name(cuda, device);
  limits.compute_major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  limits.compute_minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  limits.sm_count = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits.max_threads_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.max_threads_per_sm = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.max_blocks_per_sm = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  limits.registers_per_sm = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits.shared_bytes_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  limits.shared_bytes_per_sm = ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  limits.shared_bytes_reserved = ask(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  limits.l2_bytes = ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  limits.dram_bytes = static_cast<std::int64_t>(memory);

  if (const DeviceLimits* known = find_gpu(limits.name)) {
    limits.dram_bytes_per_second = known->dram_bytes_per_second;
    limits.l2_bytes_per_second = known->l2_bytes_per_second;
    limits.tensor_flops = known->tensor_flops;
    limits.boost_hz = known->boost_hz;
  } else {
    const double sm_clock = ask_clock(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    const double memory_clock = ask_clock(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    const double bus_bytes = ask(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
    limits.boost_hz = sm_clock;
    limits.dram_bytes_per_second = 2 * memory_clock * bus_bytes;  // double data rate
    limits.l2_bytes_per_second = 64.0 * limits.sm_count * sm_clock;
    limits.tensor_flops =
        tensor_flops_per_sm_clock(limits.compute_major, limits.compute_minor) * limits.sm_count * sm_clock;
  }
  return limits;
}

std::string driver_api_version(const CudaApi& cuda) {
  int version = 0;
  if (cuda.cuDriverGetVersion(&version) != CUDA_SUCCESS) return {};
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Result<CudaApi, GpuError> start_driver(const std::filesystem::path& devices) {
  const auto fail = [](Message what, Message fix, bool gpu_absent = false) {
    return Failure{GpuError{std::move(what), std::move(fix), gpu_absent}};
  };
  auto cuda = CudaApi::load();
  if (!cuda) {
    if (cuda.error().absent)
      return fail(
          cuda.error().what,
          make_reason("gpu.install_driver", "Install the NVIDIA driver (in a container: start it with --gpus all)."),
          true);
    return fail(cuda.error().what, make_reason("gpu.reinstall_driver", "Reinstall the NVIDIA driver."));
  }
  // A driver that is installed but does not respond is an error; the simulator must not replace the GPU.
  const auto silent = [&](const char* call, CUresult result, Message fix) {
    return fail(make_reason("gpu.driver_start", "The NVIDIA driver failed to initialize: {}: {}.", call,
                            cuda->describe(result)),
                std::move(fix));
  };
  const Message check = make_reason("gpu.check_nvidia_smi", "Check nvidia-smi.");
  if (const CUresult result = cuda->cuInit(0); result != CUDA_SUCCESS) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (result == CUDA_ERROR_NO_DEVICE && visible != nullptr) {
      return fail(make_reason("gpu.hidden", "CUDA_VISIBLE_DEVICES='{}' hides every GPU.", visible),
                  "Unset it, or set it to the number of a GPU.", true);
    }
    if (result == CUDA_ERROR_NO_DEVICE) return Failure{no_gpu_error(devices)};
    const bool mismatch =
        result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH || result == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE;
    return silent("cuInit", result,
                  mismatch
                      ? "The kernel module and libcuda.so.1 have different versions: reboot or reinstall the driver."
                      : check);
  }
  int version = 0;
  if (const CUresult result = cuda->cuDriverGetVersion(&version); result != CUDA_SUCCESS) {
    return silent("cuDriverGetVersion", result, check);
  }
  if (version < min_driver_version) {
    return fail(make_reason("gpu.driver_too_old", "The NVIDIA driver supports CUDA {}.{}; 12.0 or newer is required.",
                            version / 1000, version % 1000 / 10),
                "Install driver 525 or newer.");
  }
  int count = 0;
  if (const CUresult result = cuda->cuDeviceGetCount(&count);
      result != CUDA_SUCCESS && result != CUDA_ERROR_NO_DEVICE) {
    return silent("cuDeviceGetCount", result, check);
  }
  if (count == 0) return Failure{no_gpu_error(devices)};
  return std::move(cuda).value();
}

}  // namespace attnscope::gpu

namespace attnscope {

using namespace gpu;  // NOLINT(google-build-using-namespace): this file is the driver's

Result<std::vector<GpuSummary>, GpuError> list_gpus() {
  const auto cuda = start_driver();
  if (!cuda) return Failure{cuda.error()};
  std::vector<GpuSummary> gpu_summaries;
  try {
    int count = 0;
    cuda->check(cuda->cuDeviceGetCount(&count), "cuDeviceGetCount");
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      CUdevice device = 0;
      cuda->check(cuda->cuDeviceGet(&device, ordinal), "cuDeviceGet");
      std::size_t memory = 0;
      cuda->check(cuda->cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem");
      gpu_summaries.push_back({.ordinal = ordinal,
                               .name = device_name(*cuda, device),
                               .uuid = device_uuid(*cuda, device),
                               .compute_major = attribute(*cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                               .compute_minor = attribute(*cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                               .dram_bytes = static_cast<std::int64_t>(memory)});
    }
  } catch (const DriverError& error) {
    return Failure{GpuError{make_reason("gpu.no_answer", "A GPU did not respond: {}.", error.what()), {}}};
  }
  return gpu_summaries;
}

}  // namespace attnscope

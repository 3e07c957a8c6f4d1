// SPDX-License-Identifier: Apache-2.0
#include "fake_gpu.h"

#include <cuda.h>
#include <cupti_result.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <nvrtc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "fake_graphs.h"
#include "kernels/device/philox_shape.h"
#include "kernels/oracle/float16.h"
#include "kernels/ringattn/ringattn_combine_shape.h"
#include "tests/kernels/host_kernels.h"

#undef cuEventElapsedTime  // cuda.h maps it to a later version; the driver table loads the first one

using attnscope::DType;
using attnscope::fake::captured;
using attnscope::fake::Faults;
using attnscope::fake::KernelArguments;

namespace attnscope::fake {

Faults::Faults() {
  const char* text = std::getenv("ATTNSCOPE_FAKE_GPU");
  if (text != nullptr) text_ = text;
}

std::optional<std::string> Faults::value(std::string_view name) const {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    if (item.substr(0, item.find('=')) != name) continue;
    const std::size_t equals = item.find('=');
    return std::string(equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1));
  }
  return std::nullopt;
}

std::int64_t Faults::number(std::string_view name, std::int64_t otherwise) const {
  const auto text = value(name);
  return text ? std::stoll(*text) : otherwise;
}

bool Faults::matches(std::string_view name, std::string_view text) const {
  const auto part = value(name);
  return part && text.find(*part) != std::string_view::npos;
}

}  // namespace attnscope::fake

namespace {

constexpr int million = 1'000'000;
constexpr std::size_t granule = std::size_t{1} << 21;  ///< granularity of mapped memory

/// Contents of a fake cubin: entries by name, and the compile options, which determine what the kernel computes.
struct FakeModule {
  std::string options;
  std::map<std::string, std::string> entries;
};
struct FakeFunction {
  const FakeModule* module = nullptr;
  std::string entry;
  unsigned allowed_shared_bytes = 48 * 1024;  ///< dynamic shared memory of a launch
  std::function<void()> compute = nullptr;    ///< of kernels without module and arguments
};

constexpr int max_devices = 64;

struct Device {
  CUresult sticky = CUDA_SUCCESS;
  bool hanging = false;
  std::int64_t clock_ns = 0;
  std::int64_t allocations = 0;
  std::int64_t used_bytes = 0;
  std::int64_t launches = 0;
  std::int64_t early_launches = 0;
  std::int64_t peer_copies = 0;
  std::int64_t uploaded_bytes = 0;
  std::int64_t persisting_resets = 0;
  std::int64_t refused_modules = 0;
  std::int64_t dirty_bytes = 0;  ///< in L2
  std::int64_t counter_configs = 0;
  std::int64_t counter_sessions = 0;
  std::int64_t launches_in_ranges = 0;
  std::string pushed_ranges;
  std::map<std::string, std::int64_t> counter_calls;
  std::map<CUdeviceptr, std::int64_t> sizes;
  std::int64_t behind_ns = 0;  ///< end of work on another stream
  std::map<CUmemGenericAllocationHandle, std::int64_t> created;
  std::map<CUdeviceptr, std::int64_t> reserved;
  std::map<CUdeviceptr, std::int64_t> mapped;
  std::map<std::string, int> computed;  ///< launches by entry
  std::vector<std::uint16_t> first_output;
};
Device device;
std::vector<std::unique_ptr<FakeFunction>> functions;  // live as long as the library
std::atomic<std::int64_t> compilations{0};
void (*on_launch)(const char* entry) = nullptr;

/// Process that Ctrl-C reaches. A worker has a separate process group, its supervisor that of the terminal.
pid_t terminal_process() {
  std::string parent;
  std::ifstream("/proc/" + std::to_string(::getppid()) + "/comm") >> parent;
  return parent == "attnscope" ? ::getppid() : ::getpid();
}

bool is_service(const std::string& entry) {
  return entry == "attn_fill_l2" || entry == "attn_displace_l2" || entry == "attn_discard_l2" ||
         entry == "attn_delay" || entry == "attn_count_nonfinite" || entry == "attn_row_statistics" ||
         entry == "attn_read_noise" || entry == "attn_stamp_clocks" || entry == "attn_digest" ||
         entry == "attn_fill_words";
}

/// Value of a define: "ATTN_D=64" -> 64.
std::int64_t define(const FakeModule& module, const std::string& name, std::int64_t otherwise) {
  const std::size_t at = module.options.find("-D" + name + "=");
  return at == std::string::npos ? otherwise : std::stoll(module.options.substr(at + name.size() + 3));
}

template <class T>
T argument(void** arguments, std::size_t index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

template <class T>
T* buffer(void** arguments, std::size_t index) {
  return reinterpret_cast<T*>(argument<CUdeviceptr>(arguments, index));
}

void count_nonfinite(void** arguments) {
  const auto count = argument<long long>(arguments, 1);
  const int infinity = argument<int>(arguments, 2);
  const auto row = argument<long long>(arguments, 3);
  auto* result = buffer<std::uint64_t>(arguments, 4);
  bool zero = true;
  for (long long i = 0; i < count; ++i) {
    const int magnitude = infinity > 0xFFFF ? buffer<std::int32_t>(arguments, 0)[i] & 0x7FFF'FFFF
                                            : buffer<std::uint16_t>(arguments, 0)[i] & 0x7FFF;
    if (magnitude >= infinity) ++result[0];
    zero = (zero || i % row == 0) && magnitude == 0;
    if (zero && i % row == row - 1) ++result[1];
  }
}

void fill_words(void** arguments) {
  auto* data = buffer<std::int32_t>(arguments, 0);
  std::fill_n(data, argument<long long>(arguments, 1) / 4, argument<int>(arguments, 2));
}

/// FNV-1a; differs for different bytes, like the kernel's digest.
void digest(void** arguments) {
  const auto* data = buffer<unsigned char>(arguments, 0);
  const auto bytes = static_cast<long long>(argument<std::int64_t>(arguments, 1));
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (long long i = 0; i < bytes; ++i) sum = (sum ^ data[i]) * 0x100000001B3U;
  *buffer<std::uint64_t>(arguments, 2) += sum;
}

/// Elements of a buffer; 16 bits each unless dtype is fp32.
struct Elements {
  DType dtype;
  void* data;
  [[nodiscard]] double at(std::int64_t i) const {
    if (dtype == DType::fp32) return static_cast<double>(static_cast<float*>(data)[i]);
    return static_cast<double>(attnscope::from_bits(dtype, static_cast<std::uint16_t*>(data)[i]));
  }
  void set(std::int64_t i, float value) const {
    if (dtype == DType::fp32) static_cast<float*>(data)[i] = value;
    if (dtype != DType::fp32) static_cast<std::uint16_t*>(data)[i] = attnscope::to_bits(dtype, value);
  }
};

/// Reference implementation of attn_fa2_forward(q, k, v, o, lse, instances, group, n_q, n_k, scale, heads_q, left,
/// right, key_lengths, block_mask, mask_block, keep, seed).
void compute_fa2(const FakeModule& module, void** arguments) {
  const DType dtype = define(module, "ATTN_FP32", 0) == 1   ? DType::fp32
                      : define(module, "ATTN_BF16", 0) == 1 ? DType::bf16
                                                            : DType::fp16;
  const std::int64_t d = define(module, "ATTN_D", 64);
  const std::int64_t mask = define(module, "ATTN_MASK", 0);
  const bool dropout = define(module, "ATTN_DROPOUT", 0) == 1;
  const Elements q{dtype, buffer<void>(arguments, 0)};
  const Elements k{dtype, buffer<void>(arguments, 1)};
  const Elements v{dtype, buffer<void>(arguments, 2)};
  const Elements o{dtype, buffer<void>(arguments, 3)};
  auto* lse = buffer<float>(arguments, 4);
  const std::int64_t instances = argument<int>(arguments, 5);
  const std::int64_t group = argument<int>(arguments, 6);
  const std::int64_t n_q = argument<int>(arguments, 7);
  const std::int64_t n_k = argument<int>(arguments, 8);
  const auto scale = static_cast<double>(argument<float>(arguments, 9));
  const std::int64_t heads_q = argument<int>(arguments, 10);
  const std::int64_t left = argument<int>(arguments, 11);
  const std::int64_t right = argument<int>(arguments, 12);
  const auto* key_lengths = buffer<std::int32_t>(arguments, 13);
  const auto* block_mask = buffer<std::uint8_t>(arguments, 14);
  const std::int64_t mask_block = argument<int>(arguments, 15);
  const auto keep = static_cast<unsigned>(argument<int>(arguments, 16));
  const auto seed = static_cast<unsigned>(argument<int>(arguments, 17));
  for (std::int64_t row = 0; row < instances * n_q; ++row) {
    const std::int64_t instance = row / n_q;
    const std::int64_t i = row % n_q;
    const std::int64_t kv = instance / group * n_k;
    const std::int64_t length = (mask & 4) != 0 ? key_lengths[instance / heads_q] : n_k;
    std::vector<std::int64_t> keys;
    std::vector<double> scores;
    double highest = -std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; j < length; ++j) {
      const std::int64_t diagonal = i + length - n_q;
      if ((mask & 1) != 0 && j > diagonal + right) continue;
      if ((mask & 2) != 0 && j < diagonal - left) continue;
      if ((mask & 8) != 0) {
        const std::int64_t columns = (n_k + mask_block - 1) / mask_block;
        if (block_mask[i / mask_block * columns + j / mask_block] == 0) continue;
      }
      double dot = 0;
      for (std::int64_t c = 0; c < d; ++c) dot += q.at(row * d + c) * k.at((kv + j) * d + c);
      keys.push_back(j);
      scores.push_back(dot * scale);
      highest = std::max(highest, dot * scale);
    }
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - highest);
    for (std::size_t n = 0; n < keys.size() && dropout; ++n) {
      const unsigned byte = attnscope::dropout_byte(seed, static_cast<unsigned>(instance), static_cast<unsigned>(i),
                                                    static_cast<unsigned>(keys[n]));
      scores[n] *= byte < keep ? 256.0 / keep : 0.0;
    }
    for (std::int64_t c = 0; c < d; ++c) {
      double out = 0;
      for (std::size_t n = 0; n < keys.size(); ++n) out += scores[n] * v.at((kv + keys[n]) * d + c);
      o.set(row * d + c, keys.empty() ? 0.0F : static_cast<float>(out / sum));
    }
    lse[row] = keys.empty() ? -std::numeric_limits<float>::infinity() : static_cast<float>(highest + std::log(sum));
  }
}

/// Returns whether the address is reserved but unmapped.
bool is_unmapped(CUdeviceptr address) {
  const auto holds = [&](const std::map<CUdeviceptr, std::int64_t>& ranges) {
    return std::ranges::any_of(ranges, [&](const auto& range) {
      return address >= range.first && address < range.first + static_cast<CUdeviceptr>(range.second);
    });
  };
  return holds(device.reserved) && !holds(device.mapped);
}

/// fp16 NaN with which outputs are filled before a kernel runs.
constexpr std::uint16_t poisoned = 0xFFFF;

/// Sizes of the arguments that a graph copies, for KernelArguments.
std::string argument_sizes(const FakeFunction& kernel) {
  return kernel.entry == "attn_fa2_forward" ? "pppppiiiiiiiippiii" : "";
}

/// Applies the requested faults to a kernel with the parameters of attn_fa2_forward.
void apply_faults(const FakeFunction& kernel, void** arguments) {
  if (kernel.compute) return;
  const Faults faults;
  const bool any = std::ranges::any_of(std::array{"overrun", "underrun", "stray-read", "stray-front", "other-stream",
                                                  "write-input", "stale", "zero-rows"},
                                       [&](const char* fault) { return faults.matches(fault, kernel.entry); });
  if (!any) return;
  const std::int64_t elements =
      std::int64_t{argument<int>(arguments, 5)} * argument<int>(arguments, 7) * define(*kernel.module, "ATTN_D", 64);
  auto* o = buffer<std::uint16_t>(arguments, 3);
  const std::int64_t end = elements * (define(*kernel.module, "ATTN_FP32", 0) == 1 ? 2 : 1);
  if (faults.matches("overrun", kernel.entry)) o[end] = 0;
  if (faults.matches("zero-rows", kernel.entry)) std::fill_n(o + elements / 2, 64, std::uint16_t{0});
  if (faults.matches("underrun", kernel.entry)) o[-1] = 0;
  const auto k = argument<CUdeviceptr>(arguments, 1);
  const auto k_bytes =
      static_cast<CUdeviceptr>(std::int64_t{2} * argument<int>(arguments, 5) / argument<int>(arguments, 6) *
                               argument<int>(arguments, 8) * define(*kernel.module, "ATTN_D", 64));
  const bool strays = (faults.matches("stray-read", kernel.entry) && is_unmapped(k + k_bytes + 255)) ||
                      (faults.matches("stray-front", kernel.entry) && is_unmapped(k - 1));
  if (strays) device.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  if (faults.matches("other-stream", kernel.entry)) device.behind_ns = million;
  if (faults.matches("write-input", kernel.entry)) buffer<std::uint16_t>(arguments, 1)[0] = 0x7FFF;
  if (!faults.matches("stale", kernel.entry)) return;
  if (device.first_output.empty()) device.first_output.assign(o, o + elements);
  std::ranges::copy(device.first_output, o);
}

/// Split-KV's combine computes the whole result from the arguments of the partial launch, stored here in the order of
/// attn_fa2_forward's parameters.
struct SplitkvLaunch {
  std::array<std::uint64_t, 18> slots{};

  /// Stores the arguments of attn_splitkv_partial(q, k, v, block_table, o_part, lse_part, group, n_q, n_k, splits,
  /// page, scale, heads_q, left, right, key_lengths, block_mask, mask_block, keep, seed).
  void partial(void** arguments, std::int64_t blocks) {
    constexpr std::array<std::pair<int, int>, 16> moves{{{0, 0},
                                                         {1, 1},
                                                         {2, 2},
                                                         {6, 6},
                                                         {7, 7},
                                                         {8, 8},
                                                         {11, 9},
                                                         {12, 10},
                                                         {13, 11},
                                                         {14, 12},
                                                         {15, 13},
                                                         {16, 14},
                                                         {17, 15},
                                                         {18, 16},
                                                         {19, 17},
                                                         {6, 5}}};
    constexpr std::array pointers{0, 1, 2, 13, 14};
    for (const auto& [from, to] : moves) {
      const bool pointer = std::ranges::find(pointers, to) != pointers.end();
      slots[static_cast<std::size_t>(to)] = 0;
      std::memcpy(&slots[static_cast<std::size_t>(to)], arguments[from], pointer ? 8 : 4);
    }
    slots[5] *= static_cast<std::uint64_t>(blocks / argument<int>(arguments, 9));  // all query heads
  }
  void combine(const FakeModule& module, void** arguments) {
    slots[3] = argument<CUdeviceptr>(arguments, 2);
    slots[4] = argument<CUdeviceptr>(arguments, 3);
    std::array<void*, 18> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = &slots[i];
    compute_fa2(module, all.data());
  }
};
SplitkvLaunch splitkv;

/// Events of a counter range, over all passes.
struct FakeRange {
  std::string name;
  std::int64_t launches = 0;
  std::int64_t moved = 0;  ///< between SMs and L2, each direction
  std::int64_t dram_read = 0;
  std::int64_t dram_written = 0;
  std::set<int> passes = {};  ///< passes that contained the range
};

// CUPTI state: configuration, session, and ranges of the counter data image.
struct Profiler {
  bool in_session = false;
  bool again = false;  ///< the configuration may serve another round
  std::string open_range;
  std::string config;  ///< metric names
  int passes = 0;
  int passes_done = 0;
  std::size_t max_ranges = 0;
  std::vector<FakeRange> ranges;
};
Profiler profiler;
/// Configurations set since profiling was enabled: address and contents.
std::vector<std::pair<const std::uint8_t*, std::string>> stored_configs;
/// Range capacity of the first configuration.
std::size_t range_capacity = 0;
constexpr std::int64_t bytes_per_launch = 4096;

/// Number of passes. As on GH100, the two directions between SM and L2 do not fit into one pass.
int passes_of(std::string_view metrics) {
  const auto has = [&](std::string_view name) { return metrics.find(name) != std::string_view::npos; };
  return has("l1tex__m_xbar2l1tex_read_bytes") && has("l1tex__m_l1tex2xbar_write_bytes") ? 2 : 1;
}

/// Index of the pass that counts the metric.
int pass_of(std::string_view metric, int passes) {
  return passes == 2 && metric.starts_with("l1tex__m_xbar2l1tex_read_bytes") ? 1 : 0;
}

void count_launch(const std::string& entry, void** arguments, bool service, std::int64_t blocks) {
  const auto open =
      std::ranges::find_if(profiler.ranges, [](const FakeRange& range) { return range.name == profiler.open_range; });
  FakeRange nobodys;
  FakeRange& range = profiler.open_range.empty() || open == profiler.ranges.end() ? nobodys : *open;
  ++range.launches;
  const std::int64_t moved = bytes_per_launch * (Faults().has("by-grid") && !service ? blocks : 1);
  range.moved += moved;
  if (!service) {
    if (!profiler.open_range.empty()) ++device.launches_in_ranges;
    range.dram_read += moved;
    range.dram_written += moved;
    device.dirty_bytes += Faults().number("dirty", 0);
  }
  if (entry == "attn_ceiling_slices") {
    const std::int64_t slice = static_cast<std::int64_t>(argument<long long>(arguments, 1));
    const std::int64_t bytes = 4 * slice * argument<int>(arguments, 4);
    range.dram_read += (8 * slice > million ? bytes * 3 / 4 : 0) - moved;
  }
  if (entry == "attn_read_noise") range.dram_read += static_cast<std::int64_t>(argument<long long>(arguments, 1));
  if (entry == "attn_read_noise" || entry == "attn_fill_l2") {
    range.dram_written += device.dirty_bytes;
    device.dirty_bytes = 0;
  }
}

/// Argument index of a ceiling kernel's report (followed by its iterations); -1 if it has none.
int report_argument(std::string_view entry) {
  if (entry == "attn_ceiling_copy" || entry == "attn_ceiling_slices") return 3;
  if (entry == "attn_ceiling_read" || entry == "attn_ceiling_write") return 2;
  if (entry == "attn_ceiling_chase") return 4;
  for (const char* none :
       {"attn_ceiling_shared", "attn_ceiling_fma", "attn_ceiling_exp2", "attn_ceiling_mma", "attn_ceiling_wgmma"}) {
    if (entry == none) return 0;
  }
  return -1;
}

/// Models 1000 ns per iteration at 1755 MHz. Slices take 1 ns per kB; beyond half of L2 four times as long, as three
/// quarters of them come from DRAM.
std::int64_t run_ceiling(const std::string& entry, void** arguments, unsigned rows) {
  const int at = report_argument(entry);
  if (at < 0) return 0;
  const auto place = static_cast<std::size_t>(at);
  auto* report = buffer<std::uint64_t>(arguments, place);
  const std::int64_t iterations = std::int64_t{argument<int>(arguments, place + 1)} * rows;
  const bool slow = Faults().matches("slow-ceiling", entry);
  std::int64_t each = slow ? 1755 : 1000;
  if (entry == "attn_ceiling_slices") {
    const std::int64_t bytes = 4 * static_cast<std::int64_t>(argument<long long>(arguments, 1));
    each = bytes * (2 * bytes > million ? 4 : 1) / 1000;
  }
  const std::int64_t nanoseconds = each * iterations;
  report[0] = static_cast<std::uint64_t>((slow ? 1.0 : 1.755) * static_cast<double>(nanoseconds));
  report[1] = static_cast<std::uint64_t>(nanoseconds);
  return nanoseconds;
}

CUresult state() {
  return device.sticky;
}

nvrtcResult nvrtc_fault(const char* call) {
  return static_cast<nvrtcResult>(Faults().number(std::string("nvrtc-") + call, NVRTC_SUCCESS));
}

int nvml_fault(const char* call) {
  return static_cast<int>(Faults().number(std::string("nvml-") + call, 0));
}

bool is_file_name(const Faults& faults, std::string_view fault) {
  const auto file = faults.value(fault);
  return file && std::filesystem::exists(*file);
}

}  // namespace

extern "C" {

std::int64_t attnscope_fake_launches() {
  return device.launches;
}
std::int64_t attnscope_fake_early_launches() {
  return device.early_launches;
}
std::int64_t attnscope_fake_uploaded_bytes() {
  return device.uploaded_bytes;
}
std::int64_t attnscope_fake_persisting_resets() {
  return device.persisting_resets;
}
std::int64_t attnscope_fake_counter_configs() {
  return device.counter_configs;
}
std::int64_t attnscope_fake_counter_sessions() {
  return device.counter_sessions;
}
const char* attnscope_fake_pushed_ranges() {
  return device.pushed_ranges.c_str();
}
void attnscope_fake_on_launch(void (*hook)(const char* entry)) {
  on_launch = hook;
}
std::int64_t attnscope_fake_compilations() {
  return compilations;
}

// ---- Driver -------------------------------------------------------------------------------------------------------

CUresult cuInit(unsigned) {
  device = {};
  profiler = {};
  const Faults faults;
  if (is_file_name(faults, "gone")) return CUDA_ERROR_NO_DEVICE;
  return static_cast<CUresult>(faults.number("init", CUDA_SUCCESS));
}
CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(Faults().number("driver", 13000));
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case CUDA_ERROR_NO_DEVICE:
      *text = "CUDA_ERROR_NO_DEVICE";
      break;
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      *text = "CUDA_ERROR_DEVICE_UNAVAILABLE";
      break;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      *text = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case CUDA_ERROR_INVALID_IMAGE:
      *text = "CUDA_ERROR_INVALID_IMAGE";
      break;
    default:
      *text = "CUDA_ERROR_OTHER";
      break;
  }
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "as the test asked";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = static_cast<int>(Faults().number("gpus", 1));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* result, int ordinal) {
  *result = ordinal;
  return ordinal >= 0 && ordinal < Faults().number("gpus", 1) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  const bool other = device >= Faults().number("other-kind", max_devices);
  const std::string said = other ? "Other GPU" : Faults().value("name").value_or("Fake GPU");
  std::strncpy(name, said.c_str(), static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{1} << 30;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice which) {
  for (std::size_t i = 0; i < sizeof uuid->bytes; ++i) uuid->bytes[i] = static_cast<char>(i);
  const int number = which + (is_file_name(Faults(), "renumbered") ? 1 : 0);
  uuid->bytes[15] = static_cast<char>(uuid->bytes[15] + number);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  const auto compute = static_cast<int>(Faults().number("compute", 90));
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = compute / 10;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = compute % 10;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 4;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      *value = 2048;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      *value = 32;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      *value = 65536;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 227 * 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      *value = 228 * 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      *value = million;
      break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      *value = Faults().has("no-guard-pages") ? 0 : 1;
      break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      *value = 1024;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&device);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return state();
}
CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (context != nullptr) *context = reinterpret_cast<CUcontext>(&device);
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  if (const CUresult result = attnscope::fake::check_captures(false); result != CUDA_SUCCESS) return result;
  device.clock_ns += std::exchange(device.behind_ns, 0);
  return state();
}
CUresult cuCtxResetPersistingL2Cache() {
  ++device.persisting_resets;
  return state();
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = std::size_t{1} << 30;
  const std::int64_t left = Faults().number("free", std::int64_t{1} << 30) - device.used_bytes;
  *free = static_cast<std::size_t>(std::max<std::int64_t>(0, left));
  return state();
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  if (const CUresult result = attnscope::fake::check_captures(true); result != CUDA_SUCCESS) return result;
  const Faults faults;
  ++device.allocations;
  if (device.allocations == faults.number("oom-at", 0)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (faults.has("oom-from") && device.allocations >= faults.number("oom-from", 0)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (state() != CUDA_SUCCESS) return state();
  void* memory = std::malloc(bytes);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(memory);
  device.sizes[*address] = static_cast<std::int64_t>(bytes);
  device.used_bytes += static_cast<std::int64_t>(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  if (const CUresult result = attnscope::fake::check_captures(true); result != CUDA_SUCCESS) return result;
  device.used_bytes -= device.sizes[address];
  device.sizes.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return state();
}
CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = granule;
  return state();
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long) {
  if (bytes % granule != 0) return CUDA_ERROR_INVALID_VALUE;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(granule, bytes));
  device.reserved[*address] = static_cast<std::int64_t>(bytes);
  return state();
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t) {
  device.reserved.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return state();
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp*,
                     unsigned long long) {
  if (bytes % granule != 0) return CUDA_ERROR_INVALID_VALUE;
  *handle = static_cast<CUmemGenericAllocationHandle>(++device.allocations);
  device.created[*handle] = static_cast<std::int64_t>(bytes);
  device.used_bytes += static_cast<std::int64_t>(bytes);
  return state();
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  device.used_bytes -= device.created[handle];
  device.created.erase(handle);
  return state();
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle handle,
                  unsigned long long) {
  if (device.created[handle] < static_cast<std::int64_t>(bytes)) return CUDA_ERROR_INVALID_VALUE;
  device.mapped[address] = static_cast<std::int64_t>(bytes);
  return state();
}
CUresult cuMemUnmap(CUdeviceptr address, std::size_t) {
  device.mapped.erase(address);
  return state();
}
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return device.mapped.contains(address) ? state() : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void* source, std::size_t bytes, CUstream stream) {
  if (captured(stream, {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                        .run = [=] { return cuMemcpyHtoDAsync(target, source, bytes, nullptr); }})) {
    return CUDA_SUCCESS;
  }
  if (state() != CUDA_SUCCESS) return state();
  std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  device.uploaded_bytes += static_cast<std::int64_t>(bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* target, CUdeviceptr source, std::size_t bytes) {
  if (state() != CUDA_SUCCESS) return state();
  std::memcpy(target, reinterpret_cast<void*>(source), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  if (captured(stream, {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                        .run = [=] { return cuMemcpyDtoDAsync(target, source, bytes, nullptr); }})) {
    return CUDA_SUCCESS;
  }
  if (state() != CUDA_SUCCESS) return state();
  std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<void*>(source), bytes);
  device.clock_ns += static_cast<std::int64_t>(bytes / 4);  // 8 GB/s, counting reads and writes
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream) {
  if (state() != CUDA_SUCCESS) return state();
  for (std::size_t row = 0; row < copy->Height; ++row) {
    std::memcpy(reinterpret_cast<void*>(copy->dstDevice + row * copy->dstPitch),
                reinterpret_cast<void*>(copy->srcDevice + row * copy->srcPitch), copy->WidthInBytes);
  }
  return CUDA_SUCCESS;
}
CUresult begin_peer_copy() {
  ++device.peer_copies;
  device.clock_ns += 5'000;
  if (Faults().number("lose-copy", -1) == device.peer_copies) device.sticky = CUDA_ERROR_DEVICE_UNAVAILABLE;
  return state();
}
CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, std::size_t bytes,
                           CUstream stream) {
  const CUresult begun = begin_peer_copy();
  return begun == CUDA_SUCCESS ? cuMemcpyDtoDAsync(target, source, bytes, stream) : begun;
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream) {
  if (const CUresult begun = begin_peer_copy(); begun != CUDA_SUCCESS) return begun;
  for (std::size_t row = 0; row < copy->Height; ++row) {
    std::memcpy(reinterpret_cast<void*>(copy->dstDevice + row * copy->dstPitch),
                reinterpret_cast<const void*>(copy->srcDevice + row * copy->srcPitch), copy->WidthInBytes);
  }
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, std::size_t bytes, CUstream stream) {
  if (captured(stream, {.type = CU_GRAPH_NODE_TYPE_MEMSET,
                        .run = [=] { return cuMemsetD8Async(target, value, bytes, nullptr); }})) {
    return CUDA_SUCCESS;
  }
  if (state() != CUDA_SUCCESS) return state();
  std::memset(reinterpret_cast<void*>(target), value, bytes);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = attnscope::fake::new_stream();
  return state();
}
CUresult cuStreamDestroy(CUstream) {
  return state();
}
CUresult cuStreamSynchronize(CUstream stream) {
  const CUresult result = attnscope::fake::check_stream(stream);
  return result == CUDA_SUCCESS ? state() : result;
}
CUresult cuStreamQuery(CUstream stream) {
  if (const CUresult result = attnscope::fake::check_stream(stream); result != CUDA_SUCCESS) return result;
  return device.hanging ? CUDA_ERROR_NOT_READY : state();
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  attnscope::fake::join_capture(stream, event);
  return state();
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = Faults().has("no-peers") ? 0 : 1;
  return state();
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return state();
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = new CUevent_st;
  return state();
}
CUresult cuEventDestroy(CUevent event) {
  delete event;
  return state();
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  event->nanoseconds = device.clock_ns;
  event->capture = stream == nullptr ? nullptr : stream->capture;
  if (event->capture != nullptr) event->last = stream->last;
  return state();
}
CUresult cuEventQuery(CUevent) {
  return device.hanging ? CUDA_ERROR_NOT_READY : state();
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  *milliseconds = static_cast<float>(end->nanoseconds - begin->nanoseconds) / 1e6F;
  return state();
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const std::string text = static_cast<const char*>(image);
  if (text.rfind("fake cubin", 0) != 0 || device.refused_modules < Faults().number("refuse-module", 0)) {
    ++device.refused_modules;
    return CUDA_ERROR_INVALID_IMAGE;
  }
  *module = reinterpret_cast<CUmodule>(new FakeModule{.options = text, .entries = {}});
  return state();
}
CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<FakeModule*>(module);
  return state();
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  functions.push_back(
      std::make_unique<FakeFunction>(FakeFunction{.module = reinterpret_cast<FakeModule*>(module), .entry = name}));
  *function = reinterpret_cast<CUfunction>(functions.back().get());
  return state();
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = reinterpret_cast<FakeFunction*>(function)->entry.c_str();
  return state();
}
CUresult cuFuncGetParamInfo(CUfunction, size_t index, size_t* offset, size_t* bytes) {
  const std::int64_t parameters = Faults().number("parameters", -1);
  if (parameters < 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (static_cast<std::int64_t>(index) >= parameters) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * index;
  *bytes = 8;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction) {
  switch (which) {
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 128;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = 256;
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(Faults().number("local", 0));
      break;
    default:
      *value = 0;
      break;
  }
  return state();
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    reinterpret_cast<FakeFunction*>(function)->allowed_shared_bytes = static_cast<unsigned>(value);
  return state();
}
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t*,
                                const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  *map = {};
  static_assert(sizeof(attnscope::test::HostTensorMap) <= sizeof(CUtensorMap));
  attnscope::test::HostTensorMap kept{.address = address};
  std::copy_n(extents, std::min<cuuint32_t>(rank, 3), kept.extents);
  std::copy_n(strides, std::min<cuuint32_t>(rank, 3) - 1, kept.strides);
  std::memcpy(map, &kept, sizeof kept);
  return state();
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
  *blocks = 2;
  return state();
}
CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned rows, unsigned layers, unsigned threads_x,
                        unsigned threads_y, unsigned threads_z, unsigned shared_bytes, CUstream stream,
                        void** arguments, void**) {
  if (stream != nullptr && stream->capture != nullptr) {
    const auto copies =
        std::make_shared<KernelArguments>(arguments, argument_sizes(*reinterpret_cast<FakeFunction*>(function)));
    const auto run = [=] {
      return cuLaunchKernel(function, blocks, rows, layers, threads_x, threads_y, threads_z, shared_bytes, nullptr,
                            copies->get(), nullptr);
    };
    captured(stream, {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                      .run = run,
                      .kernel = {.func = function,
                                 .gridDimX = blocks,
                                 .gridDimY = rows,
                                 .gridDimZ = layers,
                                 .blockDimX = threads_x,
                                 .blockDimY = threads_y,
                                 .blockDimZ = threads_z,
                                 .sharedMemBytes = shared_bytes,
                                 .kernelParams = nullptr,
                                 .extra = nullptr,
                                 .kern = nullptr,
                                 .ctx = nullptr},
                      .arguments = copies});
    return CUDA_SUCCESS;
  }
  if (state() != CUDA_SUCCESS) return state();
  const auto& kernel = *reinterpret_cast<FakeFunction*>(function);
  if (shared_bytes > kernel.allowed_shared_bytes) return CUDA_ERROR_INVALID_VALUE;
  const Faults faults;
  if (on_launch != nullptr) on_launch(kernel.entry.c_str());
  const bool service = is_service(kernel.entry);
  count_launch(kernel.entry, arguments, service, std::int64_t{blocks} * rows * layers);
  const auto meets_in_range = [&](const char* fault) {
    return !service && !profiler.open_range.empty() && device.launches_in_ranges == faults.number(fault, 0);
  };
  if (meets_in_range("refuse-in-range")) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (meets_in_range("crash-in-range")) device.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  if (meets_in_range("hang-in-range")) device.hanging = true;
  const bool fails = std::ranges::any_of(std::array{"lost", "crash", "hang"},
                                         [&](const char* fault) { return faults.matches(fault, kernel.entry); });
  if (const auto mark = faults.value("mark"); mark && fails) std::ofstream(*mark).flush();
  if (faults.matches("lost", kernel.entry)) return device.sticky = CUDA_ERROR_DEVICE_UNAVAILABLE;
  if (faults.matches("crash", kernel.entry)) device.sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  if (faults.matches("hang", kernel.entry)) device.hanging = true;
  if (faults.matches("interrupt", kernel.entry)) (void)::kill(terminal_process(), SIGINT);
  if (kernel.entry == "attn_count_nonfinite") count_nonfinite(arguments);
  if (kernel.entry == "attn_digest") digest(arguments);
  if (kernel.entry == "attn_fill_words") fill_words(arguments);
  if (is_service(kernel.entry)) {
    const bool fill = kernel.entry == "attn_fill_words";
    device.clock_ns += kernel.entry == "attn_delay" ? argument<long long>(arguments, 0) : fill ? 10'000 : million;
    return CUDA_SUCCESS;
  }
  ++device.launches;
  if (kernel.compute) kernel.compute();
  // Varies the duration, so that quartiles differ from the median.
  const bool slow =
      !kernel.compute && faults.matches("leaves-out", kernel.entry) && *buffer<std::uint16_t>(arguments, 3) == poisoned;
  device.clock_ns += (slow ? 100 : 1) * (10'000 + 10 * (device.launches % 3));
  device.clock_ns += run_ceiling(kernel.entry, arguments, rows);
  const bool again = device.computed[kernel.entry]++ > 0;
  const bool computes = device.computed[kernel.entry] < faults.number("gives-up", million);
  if (faults.has("compute-output") && computes && !(again && faults.matches("once", kernel.entry))) {
    if (kernel.entry == "attn_fa2_forward") compute_fa2(*kernel.module, arguments);
    const auto dtype = define(*kernel.module, "ATTN_BF16", 0) != 0 ? attnscope::DType::bf16 : attnscope::DType::fp16;
    if (kernel.entry == "attn_fa3_forward") {
      attnscope::test::compute_fa3(arguments, dtype, define(*kernel.module, "ATTN_MASK", 0) != 0);
    }
    if (kernel.entry == "attn_ringattn_combine") {
      attnscope::test::compute_ring_combine(arguments, dtype, define(*kernel.module, "ATTN_D", 64), blocks,
                                            attnscope::ringattn::combine_rows);
    }
    if (kernel.entry == "attn_splitkv_partial") splitkv.partial(arguments, blocks);
    if (kernel.entry == "attn_splitkv_combine") splitkv.combine(*kernel.module, arguments);
  }
  apply_faults(kernel, arguments);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
        attribute.value.programmaticStreamSerializationAllowed != 0) {
      ++device.early_launches;
    }
  }
  return cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                        config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, arguments,
                        extra);
}

}  // extern "C"

CUresult attnscope::fake::launch(CUstream stream, const std::string& entry, std::function<void()> compute,
                                 unsigned blocks) {
  functions.push_back(std::make_unique<FakeFunction>(FakeFunction{.entry = entry, .compute = std::move(compute)}));
  return cuLaunchKernel(reinterpret_cast<CUfunction>(functions.back().get()), blocks, 1, 1, 128, 1, 1, 0, stream,
                        nullptr, nullptr);
}

extern "C" {

// ---- NVRTC --------------------------------------------------------------------------------------------------------

struct _nvrtcProgram {
  std::string name;
  std::string cubin;
  std::string log;
};

const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_SUCCESS ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}
nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (const nvrtcResult result = nvrtc_fault("version"); result != NVRTC_SUCCESS) return result;
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (const nvrtcResult result = nvrtc_fault("count"); result != NVRTC_SUCCESS) {
    *count = -1;
    return result;
  }
  *count = 3;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  if (const nvrtcResult result = nvrtc_fault("archs"); result != NVRTC_SUCCESS) return result;
  archs[0] = 75;
  archs[1] = 80;
  archs[2] = 90;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char*, const char* name, int, const char* const*,
                               const char* const*) {
  *program = new _nvrtcProgram{name, {}, {}};
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram, const char*) {
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram, const char* expression, const char** name) {
  *name = expression;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  ++compilations;
  const Faults faults;
  const auto refused = [&](std::string_view text) { return faults.matches("compile-error", text); };
  if (refused(program->name) || std::any_of(options, options + count, refused)) {
    program->log = program->name + "(1): error: as the test asked\n\n1 error detected in the compilation.\n";
    return NVRTC_ERROR_COMPILATION;
  }
  program->cubin = "fake cubin of " + program->name;
  for (int i = 0; i < count; ++i) program->cubin.append(" ").append(options[i]);
  program->cubin.push_back('\0');
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  *size = program->cubin.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  std::ranges::copy(program->cubin, cubin);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  *size = program->log.size() + 1;
  return nvrtc_fault("log");
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  if (const nvrtcResult result = nvrtc_fault("log"); result != NVRTC_SUCCESS) return result;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NVRTC_SUCCESS;
}

// ---- CUPTI --------------------------------------------------------------------------------------------------------

}  // extern "C"

namespace {

/// Returns the configured fault of a numbered session call.
CUptiResult cupti_fault_at(const char* call) {
  const std::int64_t number = ++device.counter_calls[call];
  return number == Faults().number(std::string("cupti-") + call + "-at", 0) ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult cupti_fault(const char* call) {
  return static_cast<CUptiResult>(Faults().number(std::string("cupti-") + call, CUPTI_SUCCESS));
}

template <class Params>
bool well_formed(const Params* params, std::size_t size) {
  return params->structSize == size && params->pPriv == nullptr;
}
#define WELL_FORMED(type) \
  if (!well_formed(params, type##_STRUCT_SIZE)) return CUPTI_ERROR_INVALID_PARAMETER

constexpr const char* base_metrics[] = {"dram__bytes_read",
                                        "dram__bytes_write",
                                        "l1tex__m_xbar2l1tex_read_bytes",
                                        "l1tex__m_l1tex2xbar_write_bytes",
                                        "sm__warps_active",
                                        "sm__pipe_tensor_cycles_active",
                                        "sm__cycles_elapsed",
                                        "lts__t_bytes",
                                        "sm__inst_executed_pipe_xu",
                                        "sm__pipe_fma_cycles_active",
                                        "sm__inst_executed_pipe_alu",
                                        "sm__issue_active",
                                        "l1tex__data_pipe_lsu_wavefronts_mem_shared",
                                        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
                                        "lts__t_sectors",
                                        "lts__lts2xbar_cycles_active",
                                        "dram__throughput",
                                        "smsp__average_warps_issue_stalled_barrier_per_issue_active",
                                        "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active",
                                        "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active",
                                        "smsp__average_warps_issue_stalled_drain_per_issue_active",
                                        "smsp__average_warps_issue_stalled_gmma_per_issue_active",
                                        "smsp__average_warps_issue_stalled_imc_miss_per_issue_active",
                                        "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active",
                                        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active",
                                        "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active",
                                        "smsp__average_warps_issue_stalled_membar_per_issue_active",
                                        "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active",
                                        "smsp__average_warps_issue_stalled_misc_per_issue_active",
                                        "smsp__average_warps_issue_stalled_no_instruction_per_issue_active",
                                        "smsp__average_warps_issue_stalled_not_selected_per_issue_active",
                                        "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active",
                                        "smsp__average_warps_issue_stalled_sleeping_per_issue_active",
                                        "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active",
                                        "smsp__average_warps_issue_stalled_wait_per_issue_active",
                                        "sm__cycles_active",
                                        "gpu__time_active"};
constexpr const char* rollups[] = {
    ".avg", ".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed", ".max", ".ratio",
    ".sum", ".sum.pct_of_peak_sustained_elapsed"};

std::size_t place_of(std::string_view base) {
  return static_cast<std::size_t>(std::ranges::find(base_metrics, base) - std::begin(base_metrics));
}

/// Value of a utilization or stall metric: its index in the list, in percent or in tenths. A range lasts one second,
/// and SMs have warps in half of its cycles.
std::optional<double> use_of(std::string_view metric) {
  if (metric == "sm__cycles_elapsed.max") return 2e6;
  if (metric == "sm__cycles_active.max") return 1e6;
  if (metric == "gpu__time_active.sum") return 1e9;
  const double place = static_cast<double>(place_of(metric.substr(0, metric.find('.'))));
  if (metric.ends_with(".pct_of_peak_sustained_elapsed")) return place;
  if (metric.ends_with(".ratio")) return place / 10;
  return std::nullopt;
}

bool known(std::string_view metric) {
  if (Faults().matches("lacks", metric)) return false;
  const std::string_view base = metric.substr(0, metric.find('.'));
  return std::ranges::find(base_metrics, base) != std::end(base_metrics) &&
         std::ranges::find(rollups, metric.substr(base.size())) != std::end(rollups);
}

}  // namespace

struct CUpti_Profiler_Host_Object {
  std::string metrics;
};
struct CUpti_RangeProfiler_Object {
  int unused = 0;
};

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = static_cast<std::uint32_t>(Faults().number("cupti-version", CUPTI_API_VERSION));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_AS_ASKED";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  WELL_FORMED(CUpti_Device_GetChipName_Params);
  params->pChipName = "FAKE100";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  WELL_FORMED(CUpti_Profiler_Initialize_Params);
  return cupti_fault("init");
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  WELL_FORMED(CUpti_Profiler_DeviceSupported_Params);
  const bool vgpu = Faults().has("vgpu");
  for (auto* level : {&params->isSupported, &params->architecture, &params->sli, &params->vGpu,
                      &params->confidentialCompute, &params->cmp, &params->wsl}) {
    *level = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  }
  if (vgpu) {
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    params->vGpu = CUPTI_PROFILER_CONFIGURATION_DISABLED;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  WELL_FORMED(CUpti_Profiler_GetCounterAvailability_Params);
  params->counterAvailabilityImageSize = 16;
  return cupti_fault("availability");
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_Initialize_Params);
  params->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_Deinitialize_Params);
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetSupportedChips_Params);
  params->numChips = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetBaseMetrics_Params);
  static const char* names[std::size(base_metrics)];
  std::ranges::copy(base_metrics, names);
  params->ppMetricNames = names;
  params->numMetrics = params->metricType == CUPTI_METRIC_TYPE_COUNTER ? std::size(base_metrics) : 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetSubMetrics_Params);
  static const char* names[std::size(rollups)];
  std::ranges::copy(rollups, names);
  params->ppSubMetrics = names;
  params->numOfSubmetrics = std::size(rollups);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetMetricProperties_Params);
  const bool percent = std::string_view(params->pMetricName).find(".pct") != std::string_view::npos;
  params->pDimUnit = percent ? "percent" : "byte";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_ConfigAddMetrics_Params);
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (!known(params->ppMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
    params->pHostObject->metrics.append(params->ppMetricNames[i]).push_back(' ');
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetConfigImageSize_Params);
  params->configImageSize = params->pHostObject->metrics.size();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetConfigImage_Params);
  std::ranges::copy(params->pHostObject->metrics, params->pConfigImage);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_GetNumOfPasses_Params);
  const auto* text = reinterpret_cast<const char*>(params->pConfigImage);
  params->numOfPasses = static_cast<std::size_t>(passes_of({text, params->configImageSize}));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  WELL_FORMED(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  const FakeRange& range = profiler.ranges.at(params->rangeIndex);
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const std::string_view name = params->ppMetricNames[i];
    const std::int64_t counted = name.starts_with("dram__bytes_read")    ? range.dram_read
                                 : name.starts_with("dram__bytes_write") ? range.dram_written
                                                                         : range.moved;
    const bool percent = name.find(".pct") != std::string_view::npos;
    const double value =
        use_of(name).value_or(percent ? 50 : static_cast<double>(counted) / static_cast<double>(range.passes.size()));
    const bool collected =
        profiler.config.find(name) != std::string::npos && range.passes.contains(pass_of(name, profiler.passes));
    const bool lost = !collected || Faults().matches("no-value", name);
    params->pMetricValues[i] = lost ? std::numeric_limits<double>::quiet_NaN() : value;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_Enable_Params);
  params->pRangeProfilerObject = new CUpti_RangeProfiler_Object;
  const CUptiResult result = cupti_fault("enable");
  if (result != CUPTI_SUCCESS) delete params->pRangeProfilerObject;
  return result;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_Disable_Params);
  stored_configs.clear();
  range_capacity = 0;
  delete params->pRangeProfilerObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_GetCounterDataSize_Params);
  if (params->maxNumRangeTreeNodes < params->maxNumOfRanges) return CUPTI_ERROR_INVALID_PARAMETER;
  params->counterDataSize = 8 * params->maxNumOfRanges;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  // CUPTI 13.0 behavior: while it is enabled, the first configuration's capacity is kept.
  if (range_capacity != 0 && params->counterDataSize != range_capacity) return CUPTI_ERROR_UNKNOWN;
  profiler.ranges.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_SetConfig_Params);
  const bool user = params->range == CUPTI_UserRange && params->replayMode == CUPTI_UserReplay;
  if (!user || profiler.in_session) return CUPTI_ERROR_INVALID_OPERATION;
  // After an aborted session, it continues with the next pass.
  const int begun = stored_configs.empty() || profiler.passes_done >= profiler.passes ? 0 : profiler.passes_done;
  profiler = {};
  profiler.passes_done = begun;
  const std::string wanted{reinterpret_cast<const char*>(params->pConfig), params->configSize};
  stored_configs.push_back({params->pConfig, wanted});
  if (range_capacity == 0) range_capacity = params->counterDataImageSize;
  // CUPTI 13.0 behavior: while it is enabled, the first configuration is kept.
  profiler.config = stored_configs.front().second;
  profiler.passes = passes_of(profiler.config);
  profiler.max_ranges = params->maxRangesPerPass;
  ++device.counter_configs;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_Start_Params);
  if (profiler.in_session || profiler.passes == 0) return CUPTI_ERROR_INVALID_OPERATION;
  // CUPTI 13.0 keeps reading the first configuration and crashes if its memory was freed.
  for (const auto& [bytes, text] : stored_configs) {
    if (!std::equal(text.begin(), text.end(), bytes)) return CUPTI_ERROR_UNKNOWN;
  }
  if (profiler.passes_done == profiler.passes) {
    if (Faults().has("single-use")) return CUPTI_ERROR_INVALID_OPERATION;
    profiler.passes_done = 0;
    profiler.again = true;
  }
  CUptiResult result = cupti_fault("start");
  if (result == CUPTI_SUCCESS) result = cupti_fault_at("start");
  profiler.in_session = result == CUPTI_SUCCESS;
  if (profiler.in_session) {
    ++device.counter_sessions;
    device.pushed_ranges.clear();
  }
  return result;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_Stop_Params);
  if (!profiler.in_session || !profiler.open_range.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  profiler.in_session = false;
  if (const CUptiResult result = cupti_fault_at("stop"); result != CUPTI_SUCCESS) return result;
  ++profiler.passes_done;
  const bool early = profiler.again && Faults().has("short-again");
  params->isAllPassSubmitted = profiler.passes_done == profiler.passes || early ? 1 : 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_PushRange_Params);
  if (!profiler.in_session || !profiler.open_range.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  if (Faults().matches("refuse-range", params->pRangeName)) return CUPTI_ERROR_UNKNOWN;
  if (const CUptiResult result = cupti_fault_at("push"); result != CUPTI_SUCCESS) return result;
  device.pushed_ranges.append(params->pRangeName).push_back('\n');
  device.dirty_bytes += Faults().number("range-dirty", 0);
  profiler.open_range = params->pRangeName;
  const auto same = [&](const FakeRange& range) { return range.name == profiler.open_range; };
  if (std::ranges::none_of(profiler.ranges, same)) profiler.ranges.push_back({.name = profiler.open_range});
  std::ranges::find_if(profiler.ranges, same)->passes.insert(profiler.passes_done);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_PopRange_Params);
  if (profiler.open_range.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  profiler.open_range.clear();
  return cupti_fault_at("pop");
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_DecodeData_Params);
  if (profiler.in_session) return CUPTI_ERROR_INVALID_OPERATION;
  const std::size_t pushed = profiler.ranges.size();
  params->numOfRangeDropped = pushed - std::min(pushed, profiler.max_ranges);
  std::erase_if(profiler.ranges, [](const FakeRange& range) { return Faults().matches("lose-range", range.name); });
  const CUptiResult result = cupti_fault("decode");
  return result == CUPTI_SUCCESS ? cupti_fault_at("decode") : result;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_GetCounterDataInfo_Params);
  params->numTotalRanges = profiler.ranges.size();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataGetRangeInfo(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* params) {
  WELL_FORMED(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
  params->rangeName = profiler.ranges.at(params->rangeIndex).name.c_str();
  return CUPTI_SUCCESS;
}

// ---- NVML ---------------------------------------------------------------------------------------------------------

int nvmlInit_v2();
int nvmlShutdown();
const char* nvmlErrorString(int);
int nvmlSystemGetNVMLVersion(char*, unsigned);
int nvmlSystemGetDriverVersion(char*, unsigned);
int nvmlDeviceGetHandleByUUID(const char*, void**);
int nvmlDeviceGetClockInfo(void*, int, unsigned*);
int nvmlDeviceGetTemperature(void*, int, unsigned*);
int nvmlDeviceGetPowerUsage(void*, unsigned*);
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long*);
struct FakeUse {
  unsigned gpu;
  unsigned memory;
};
int nvmlDeviceGetUtilizationRates(void*, FakeUse*);

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int) {
  return "as the test asked";
}
int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  std::strncpy(text, "13.580.1", length);
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "580.1", length);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  *handle = &device;
  return std::string_view(uuid) == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f" ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* megahertz) {
  if (const int result = nvml_fault("clock"); result != 0) return result;
  *megahertz = which == 1 ? 1755 : 2619;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  if (const int result = nvml_fault("temperature"); result != 0) return result;
  *celsius = 41;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  if (const int result = nvml_fault("power"); result != 0) return result;
  *milliwatts = 250'500;
  return 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  if (const int result = nvml_fault("reasons"); result != 0) return result;
  *reasons = static_cast<unsigned long long>(Faults().number("throttle", 0));
  return 0;
}

int nvmlDeviceGetUtilizationRates(void*, FakeUse* use) {
  if (const int result = nvml_fault("use"); result != 0) return result;
  *use = {static_cast<unsigned>(Faults().number("use", 0)), 0};
  return 0;
}

}  // extern "C"

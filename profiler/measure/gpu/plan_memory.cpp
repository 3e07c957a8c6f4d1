// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/plan_memory.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "kernels/oracle/float16.h"
#include "profiler/measure/gpu/point_abort.h"
#include "profiler/units/number_format.h"

namespace attnscope::gpu {
namespace {

/// Guard area after each buffer, and before it if there is space; larger than any single access of a kernel.
constexpr std::int64_t guard_bytes = 4096;
/// Placement shifts addresses by multiples of 4 KiB within 2 MiB, and by 1 to 64 pages of 2 MiB.
constexpr std::int64_t small_page = guard_bytes;
constexpr std::int64_t large_page = std::int64_t{2} << 20U;
constexpr std::uint64_t max_gap_pages = 64;

[[noreturn]] void refuse(std::int64_t needed, std::int64_t noise, std::int64_t free) {
  const std::string counting =
      noise > 0 ? fmt::format(", including {} to count write-back bytes", text(Capacity(noise))) : "";
  throw PointAbort(Disposition::out_of_memory, "point.needs_memory",
                   "Needs {} bytes of device memory ({}{}), {} bytes are free ({}){}.", needed, text(Capacity(needed)),
                   counting, free, text(Capacity(free)),
                   needed <= free ? ": memory is fragmented, or another process took it" : "");
}

using InputTensor = std::pair<BufferFill, Tensor>;
constexpr std::array input_tensors{
    InputTensor{BufferFill::input_q, Tensor::q}, InputTensor{BufferFill::input_k, Tensor::k},
    InputTensor{BufferFill::input_v, Tensor::v}, InputTensor{BufferFill::input_dout, Tensor::dout}};

/// First slot number for sets of inputs.
constexpr std::size_t first_input_set = std::size_t{1} << 32;

bool is_input(const BufferSpec& buffer) {
  return !is_written(buffer.fill) && buffer.fill != BufferFill::contents;
}

}  // namespace

/// Key of the buffer that is read to evict dirty lines from L2; belongs to no plan.
const PlanMemory::BufferKey PlanMemory::noise_key{std::numeric_limits<std::size_t>::max(), "(noise)"};

bool PlanMemory::fits(const BufferRequest& request) const {
  const auto found = buffers_.find(request.key);
  return found != buffers_.end() && found->second.capacity >= request.bytes + guard_bytes &&
         (!request.front_guard || found->second.offset >= guard_bytes);
}

bool PlanMemory::allocate_missing(const std::vector<BufferRequest>& requests) {
  std::int64_t missing = 0;
  const std::int64_t max_offset = placement_ == 0 ? 0 : large_page;
  const auto min_offset = [](const BufferRequest& buffer) { return buffer.front_guard ? guard_bytes : 0; };
  for (const BufferRequest& buffer : requests) {
    missing += fits(buffer) ? 0 : buffer.bytes + guard_bytes + std::max(max_offset, min_offset(buffer));
  }
  if (missing > 0 && missing > free_device_bytes(cuda_)) return false;
  for (const BufferRequest& buffer : requests) {
    if (fits(buffer)) continue;
    const std::int64_t bytes = buffer.bytes + guard_bytes;
    if (buffer.key == noise_key) noise_stored_ = false;
    const std::int64_t drawn =
        max_offset == 0 ? 0 : static_cast<std::int64_t>(random_() % (large_page / small_page)) * small_page;
    const std::int64_t offset = std::max(drawn, min_offset(buffer));
    try {
      buffers_.insert_or_assign(buffer.key, Buffer{allocate(cuda_, offset + bytes), bytes, offset});
    } catch (const DriverError& error) {
      if (error.code() != CUDA_ERROR_OUT_OF_MEMORY) throw;
      return false;
    }
  }
  return true;
}

PlanMemory::Inputs PlanMemory::inputs_of(const AttentionProblem& problem, InputKind kind, std::uint64_t seed,
                                         const AttentionPlan& plan) {
  Inputs inputs{single_gpu_problem(problem), kind, seed};
  for (const BufferSpec& buffer : plan.buffers) {
    if (is_input(buffer) && buffer.place != Place{}) inputs.places.emplace(buffer.name, buffer.place);
  }
  inputs.problem.mask = Mask::none;
  inputs.problem.dropout = 0;
  inputs.problem.deterministic = false;
  return inputs;
}

PlanMemory::BufferKey PlanMemory::key_of(std::size_t slot, const BufferSpec& buffer) const {
  return {is_input(buffer) ? input_set_.at(slot) : slot, buffer.name};
}

std::size_t PlanMemory::find_input_set(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs,
                                       bool front_guard) const {
  const auto has_all = [&](std::size_t set) {
    return std::ranges::all_of(plan.buffers, [&](const BufferSpec& buffer) {
      return !is_input(buffer) || buffer.place.is_view() || fits({{set, buffer.name}, buffer.bytes, true, front_guard});
    });
  };
  for (const auto& [set, held] : inputs_) {
    if (held == inputs && has_all(set)) return set;
  }
  const auto needed = [&](std::size_t set) {
    return std::ranges::any_of(filled_,
                               [&](std::size_t filled) { return filled != slot && input_set_.at(filled) == set; });
  };
  if (const auto own = input_set_.find(slot); own != input_set_.end() && !needed(own->second)) return own->second;
  std::size_t set = first_input_set;
  while (needed(set)) ++set;
  return set;
}

void PlanMemory::place(std::uint64_t placement) {
  if (placement == placement_) return;
  placement_ = placement;
  random_.seed(placement);
  std::erase_if(buffers_, [](const auto& held) { return held.first != noise_key; });
  inputs_.clear();
  filled_.clear();
  gap_ = {};
  const std::int64_t gap = large_page * static_cast<std::int64_t>(1 + random_() % max_gap_pages);
  if (gap < free_device_bytes(cuda_) / 2) gap_ = allocate(cuda_, gap);
}

void PlanMemory::invalidate_inputs(std::size_t slot) {
  const std::size_t set = input_set_.at(slot);
  inputs_.erase(set);
  std::erase_if(filled_, [&](std::size_t filled) { return input_set_.at(filled) == set; });
}

void PlanMemory::reserve(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs,
                         BufferOptions buffer_options) {
  filled_.erase(slot);
  input_set_[slot] = find_input_set(slot, plan, inputs, buffer_options.front_guard);
  std::vector<BufferRequest> requests;
  locations_[slot].clear();
  for (const BufferSpec& buffer : plan.buffers) {
    locations_[slot].insert_or_assign(
        buffer.name, BufferLocation{key_of(slot, enclosing_buffer(plan.buffers, buffer)), buffer.place.offset});
    if (!buffer.place.is_view())
      requests.push_back({key_of(slot, buffer), buffer.bytes, is_input(buffer), buffer_options.front_guard});
  }
  const std::int64_t noise_bytes = buffer_options.noise ? runner_.noise_bytes() : 0;
  if (buffer_options.noise) requests.push_back({noise_key, noise_bytes, false, false});
  // Free buffers that are too small first, to make room for their replacements.
  for (const BufferRequest& buffer : requests) {
    if (fits(buffer)) continue;
    if (buffer.input) inputs_.erase(input_set_.at(slot));
    buffers_.erase(buffer.key);
  }
  if (allocate_missing(requests)) return;
  // Free everything that this plan does not need: other slots, and own buffers that are much too large.
  std::erase_if(buffers_, [&](const auto& held) {
    return std::ranges::none_of(requests, [&](const BufferRequest& buffer) {
      return buffer.key == held.first && held.second.capacity <= 2 * (buffer.bytes + guard_bytes);
    });
  });
  inputs_.clear();
  filled_.clear();
  gap_ = {};
  placement_ = 0;
  if (!allocate_missing(requests)) {
    refuse(plan.buffer_bytes() + noise_bytes, noise_bytes, free_device_bytes(cuda_) + allocated_bytes());
  }
}

void PlanMemory::upload(const InputGenerator& generator, Tensor tensor, const Inputs& inputs, const BufferSpec& buffer,
                        CUdeviceptr target) {
  const AttentionProblem& problem = inputs.problem;
  const bool of_queries = tensor == Tensor::q || tensor == Tensor::dout;
  const std::int64_t n = of_queries ? problem.n_q : problem.n_k;
  const std::int64_t heads = of_queries ? problem.heads_q : problem.heads_kv;
  const std::int64_t instances = problem.batch * heads;
  const std::int64_t elements = n * problem.d;
  const std::int64_t size = output_bytes(problem.dtype);
  if (problem.page > 0 && !of_queries) {
    upload_pages(generator, tensor, problem, target);
    return;
  }
  const bool whole = !buffer.place.strides;  // matrices are contiguous
  const DeviceMemory piece = whole ? DeviceMemory() : allocate(cuda_, elements * size);
  const auto place = [&](std::int64_t i) {
    return whole ? target + static_cast<CUdeviceptr>(i * elements * size) : piece.get();
  };
  const auto spread = [&](std::int64_t i) {
    if (whole) return;
    const Strides& strides = *buffer.place.strides;
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = piece.get();
    copy.dstDevice = target + static_cast<CUdeviceptr>(strides.at(i / heads, i % heads, 0) * size);
    copy.WidthInBytes = copy.srcPitch = static_cast<std::size_t>(problem.d * size);
    copy.dstPitch = std::max(copy.WidthInBytes, static_cast<std::size_t>(strides.row * size));  // arbitrary for one row
    copy.Height = static_cast<std::size_t>(strides.rows(i / heads, n));
    if (copy.Height == 0) return;
    cuda_.check(cuda_.cuMemcpy2DAsync(&copy, stream_), "cuMemcpy2DAsync");
  };
  if (!generator.uses_pool(tensor)) {
    std::vector<float> matrix(static_cast<std::size_t>(elements));
    for (std::int64_t i = 0; i < instances; ++i) {
      generator.fill(tensor, i, matrix);
      const std::vector<std::byte> bytes = encode(problem.dtype, matrix);
      cuda_.copy_to_device(place(i), bytes.data(), bytes.size(), stream_);
      spread(i);
    }
    return;
  }
  // Upload the pool once, then copy its parts on the device.
  const std::vector<std::byte> pool = encode(problem.dtype, generator.pool(tensor));
  const std::int64_t pool_elements = std::ssize(pool) / size;
  if (!pool_) pool_ = allocate(cuda_, InputGenerator::pool_size * std::int64_t{sizeof(float)});
  cuda_.copy_to_device(pool_.get(), pool.data(), pool.size(), stream_);
  for (std::int64_t i = 0; i < instances; ++i) {
    std::int64_t from = generator.pool_offset(tensor, i);
    for (std::int64_t done = 0; done < elements;) {
      const std::int64_t count = std::min(elements - done, pool_elements - from);
      cuda_.copy_on_device(place(i) + static_cast<CUdeviceptr>(done * size),
                           pool_.get() + static_cast<CUdeviceptr>(from * size), static_cast<std::size_t>(count * size),
                           stream_);
      done += count;
      from = 0;
    }
    spread(i);
  }
}

void PlanMemory::upload_pages(const InputGenerator& generator, Tensor tensor, const AttentionProblem& problem,
                              CUdeviceptr target) {
  const std::vector<std::int32_t> table = block_table(problem);
  const std::int64_t pages = std::ssize(table) / problem.batch;
  const std::int64_t page_elements = problem.page * problem.d;
  std::vector<float> matrix(static_cast<std::size_t>(problem.n_k * problem.d));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();  // fills the unused end of the last page
  std::vector<float> cache(static_cast<std::size_t>(std::ssize(table) * problem.heads_kv * page_elements), nan);
  for (std::int64_t instance = 0; instance < problem.kv_instances(); ++instance) {
    generator.fill(tensor, instance, matrix);
    const std::int64_t entry = instance / problem.heads_kv;
    for (std::int64_t logical = 0; logical < pages; ++logical) {
      const std::int64_t physical = table[static_cast<std::size_t>(entry * pages + logical)];
      const std::int64_t from = logical * page_elements;
      const std::int64_t count = std::min(page_elements, std::ssize(matrix) - from);
      const std::int64_t to = (physical * problem.heads_kv + instance % problem.heads_kv) * page_elements;
      std::copy_n(matrix.begin() + from, count, cache.begin() + to);
    }
  }
  const std::vector<std::byte> bytes = encode(problem.dtype, cache);
  cuda_.copy_to_device(target, bytes.data(), bytes.size(), stream_);
}

void PlanMemory::poison_guards(std::size_t slot, const BufferSpec& buffer) {
  const CUdeviceptr start = address(slot, buffer.name);
  const bool covered = is_input(buffer) && !buffer.place.strides && buffer.fill != BufferFill::inputs;
  const std::int64_t from = covered ? buffer.bytes : 0;
  cuda_.fill(start + static_cast<CUdeviceptr>(from), nan_byte,
             static_cast<std::size_t>(buffer.bytes - from + guard_bytes), stream_);
  if (buffer_of(slot, buffer.name).offset < guard_bytes) return;
  cuda_.fill(start - guard_bytes, nan_byte, guard_bytes, stream_);
}

void PlanMemory::fill(std::size_t slot, const AttentionPlan& plan, const Inputs& inputs) {
  const std::size_t set = input_set_.at(slot);
  const auto held = inputs_.find(set);
  const bool reuse = held != inputs_.end() && held->second == inputs;
  const AttentionProblem& problem = inputs.problem;
  std::optional<InputGenerator> generator;
  if (!reuse) {
    inputs_.erase(set);
    generator.emplace(problem, inputs.kind, inputs.seed);
  }
  for (const BufferSpec& buffer : plan.buffers) {
    const CUdeviceptr start = address(slot, buffer.name);
    const bool keep = is_input(buffer) && reuse;
    if (keep) continue;
    if (!buffer.place.is_view()) poison_guards(slot, buffer);
    if (const auto input = std::ranges::find(input_tensors, buffer.fill, &InputTensor::first);
        input != input_tensors.end()) {
      upload(*generator, input->second, inputs, buffer, start);
    } else if (buffer.fill == BufferFill::contents) {
      cuda_.copy_to_device(start, buffer.contents->bytes().data(), buffer.contents->bytes().size(), stream_);
    } else if (buffer.fill == BufferFill::zeros) {
      cuda_.fill(start, 0, static_cast<std::size_t>(buffer.bytes), stream_);
    }
  }
  inputs_.insert_or_assign(set, inputs);
  filled_.insert(slot);
  if (buffers_.contains(noise_key) && !noise_stored_) {
    runner_.enqueue_store_noise(noise(), runner_.noise_bytes());
    noise_stored_ = true;
  }
}

std::vector<std::byte> PlanMemory::sample_outputs(std::size_t slot, const AttentionPlan& plan) const {
  constexpr std::int64_t most = 256;
  std::vector<std::byte> seen;
  for (const BufferSpec& buffer : plan.buffers) {
    if (!attnscope::is_written(buffer.fill) || buffer.place.is_view()) continue;
    const std::int64_t bytes = std::min(buffer.bytes, most);
    for (const std::int64_t from : {std::int64_t{0}, (buffer.bytes - bytes) / 2, buffer.bytes - bytes}) {
      const std::size_t before = seen.size();
      seen.resize(before + static_cast<std::size_t>(bytes));
      cuda_.copy_to_host(&seen[before], address(slot, buffer.name) + static_cast<CUdeviceptr>(from),
                         static_cast<std::size_t>(bytes));
    }
  }
  return seen;
}

Message PlanMemory::stray_write(std::size_t slot, const AttentionPlan& plan) const {
  const auto written = [&](CUdeviceptr at) { return !cuda_.is_filled(at, nan_byte, guard_bytes); };
  for (const BufferSpec& buffer : plan.buffers) {
    if (buffer.place.is_view()) continue;
    const CUdeviceptr start = address(slot, buffer.name);
    if (written(start + static_cast<CUdeviceptr>(buffer.bytes)))
      return make_reason("oracle.overrun", "A kernel wrote beyond the end of {}.", buffer.name);
    if (buffer_of(slot, buffer.name).offset >= guard_bytes && written(start - guard_bytes)) {
      return make_reason("oracle.underrun", "A kernel wrote before the start of {}.", buffer.name);
    }
  }
  return {};
}

bool PlanMemory::has_stored_noise() const {
  return noise_stored_ && buffers_.contains(noise_key);
}

const PlanMemory::Buffer& PlanMemory::buffer_of(std::size_t slot, const std::string& buffer) const {
  return buffers_.at(locations_.at(slot).at(buffer).key);
}

CUdeviceptr PlanMemory::address(std::size_t slot, const std::string& buffer) const {
  const Buffer& found = buffer_of(slot, buffer);
  return found.memory.get() + static_cast<CUdeviceptr>(found.offset + locations_.at(slot).at(buffer).offset);
}

CUdeviceptr PlanMemory::noise() const {
  const Buffer& noise = buffers_.at(noise_key);
  return noise.memory.get() + static_cast<CUdeviceptr>(noise.offset);
}

std::int64_t PlanMemory::allocated_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [key, buffer] : buffers_) bytes += buffer.capacity + buffer.offset;
  return bytes;
}

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <utility>

#include "kernels/algorithm_parts.h"
#include "kernels/model/integer.h"
#include "kernels/model/io_model.h"
#include "kernels/oracle/float16.h"

namespace attnscope::gpu {
namespace {

/// Multiply-add pairs per reference; 0.1 s on a desktop CPU.
constexpr std::int64_t work_budget = std::int64_t{1} << 26;
constexpr std::int64_t sampled_instances = 8;
constexpr std::int64_t sampled_key_instances = 4;
constexpr std::int64_t min_keys = 8;  ///< Per K/V head: first key, last key and last key that is not padding.
constexpr std::size_t max_cached_references = 4;
constexpr std::array<std::string_view, 4> output_names{"o", "dq", "dk", "dv"};

/// Evenly spaced; includes the first and the last.
std::vector<std::int64_t> pick_instances(std::int64_t instances, std::int64_t most) {
  const std::int64_t count = std::min(instances, most);
  std::set<std::int64_t> picked;
  for (std::int64_t i = 0; i < count; ++i) picked.insert(count == 1 ? 0 : i * (instances - 1) / (count - 1));
  return {picked.begin(), picked.end()};
}

std::vector<RowId> pick_rows(const AttentionProblem& problem, std::int64_t sample_budget, std::uint64_t seed) {
  const auto instances = pick_instances(problem.instances(), sampled_instances);
  const auto rows_each =
      static_cast<std::size_t>(std::max<std::int64_t>(2, sample_budget / static_cast<std::int64_t>(instances.size())));
  AttentionProblem head = problem;
  head.batch = head.heads_q = head.heads_kv = 1;
  std::vector<RowId> rows;
  for (const std::int64_t instance : instances) {
    for (const RowId& row : sample_rows(head, rows_each, seed + static_cast<std::uint64_t>(instance))) {
      rows.push_back({instance, row.row});
    }
  }
  return rows;
}

std::vector<RowId> pick_keys(const AttentionProblem& problem, std::uint64_t seed) {
  const std::int64_t group = problem.heads_q / problem.heads_kv;
  const auto instances = pick_instances(problem.kv_instances(), sampled_key_instances);
  const std::int64_t sample_budget = work_budget / (2 * group * problem.n_q * problem.d);
  const std::int64_t each =
      std::min(problem.n_k, std::max(min_keys, sample_budget / static_cast<std::int64_t>(instances.size())));
  std::vector<RowId> keys;
  for (const std::int64_t instance : instances) {
    const std::int64_t length = key_length(problem, instance / problem.heads_kv);
    std::set<std::int64_t> chosen{0, std::max<std::int64_t>(0, length - 1), problem.n_k - 1};
    std::mt19937_64 random(seed + static_cast<std::uint64_t>(instance));
    // Also sample padding, but mostly valid keys.
    const auto range = static_cast<std::uint64_t>(std::max<std::int64_t>(1, length));
    for (std::int64_t tries = 0; std::ssize(chosen) < each && tries < 4 * each; ++tries) {
      chosen.insert(
          static_cast<std::int64_t>(random() % (tries % 4 == 3 ? static_cast<std::uint64_t>(problem.n_k) : range)));
    }
    for (const std::int64_t key : chosen) keys.push_back({instance, key});
  }
  return keys;
}

/// Rows of a matrix that are not all 0 for normal inputs: those of O that see a key; 15 of 16 of the gradients, which
/// may underflow or cancel, for masks under which nearly all rows see several keys.
std::int64_t nonzero_rows(const AttentionProblem& p, bool of_queries, bool gradient) {
  constexpr std::int64_t min_rows = 64;
  const Mask& mask = p.mask;
  const bool plain = !mask.padded() && !mask.has_block_mask() && mask.left == Mask::unlimited;
  if (p.dropout > 0 || (gradient && (!plain || std::min(p.n_q, p.n_k) < min_rows))) return 0;
  const SeenCounts seen = count_seen(p);
  const std::int64_t rows = of_queries ? p.heads_q * seen.queries : p.heads_kv * seen.keys;
  return gradient ? rows - rows / 16 : rows;
}

constexpr std::size_t counter_bytes = 2 * sizeof(std::uint64_t);
constexpr std::byte unwritten{nan_byte};  // written by PlanMemory::fill()

/// Launch of kernels/device/row_statistics.cuh for one head.
KernelLaunch statistics_launch(const AttentionProblem& p, std::int64_t instance) {
  constexpr std::int64_t block_rows = 16;
  constexpr std::int64_t tile_keys = 32;
  const Mask& mask = p.mask;
  KernelLaunch launch;
  launch.name = "row statistics";
  launch.source = {.file = "device/row_statistics.cuh", .entry = "attn_row_statistics", .defines = {}};
  launch.grid = grid_of(ceil_div(p.n_q, block_rows));
  launch.block = block_of(128);
  launch.dynamic_shared_bytes = 4 * (tile_keys * (p.d | 1) + block_rows * p.d + 2 * block_rows * tile_keys);
  for (const char* name : {"q", "k", "v", "dout", "statistics"}) launch.arguments.emplace_back(BufferArgument{name});
  launch.arguments.emplace_back(BufferArgument{mask.has_block_mask() ? "block_mask" : ""});
  const auto integer = [&](std::int64_t value) { launch.arguments.emplace_back(static_cast<std::int32_t>(value)); };
  integer(p.dtype == DType::bf16 ? 1 : 0);
  integer(p.n_q);
  integer(p.d);
  launch.arguments.emplace_back(score_scale(p));
  integer(key_length(p, instance / p.heads_q));
  integer(mask.left);
  integer(mask.right);
  integer(mask.block_size);
  integer(mask.has_block_mask() ? ceil_div(p.n_k, mask.block_size) : 0);
  integer(dropout_keep_count(p));
  integer(dropout_seed);
  integer(instance);
  return launch;
}

}  // namespace

Reference make_reference(const ReferenceKind& reference, const AttentionProblem& problem, InputKind kind,
                         std::uint64_t seed, const StatisticsSource& statistics,
                         const std::optional<Quantization>& quantized) {
  const InputGenerator generator(problem, kind, seed);
  const auto matrix = [&](Tensor tensor, std::int64_t instance) {
    const bool of_queries = tensor == Tensor::q || tensor == Tensor::dout;
    std::vector<float> values(static_cast<std::size_t>((of_queries ? problem.n_q : problem.n_k) * problem.d));
    generator.fill(tensor, instance, values);
    if (quantized) quantize(values, tensor, problem.d, *quantized);
    return values;
  };
  AttentionProblem judged = problem;
  if (quantized && !quantized->weights) judged.dtype = output_dtype(problem.dtype);  // error bounds of the 16-bit type
  const bool gradients = problem.pass != Pass::fwd;
  const std::int64_t rows = problem.instances() * problem.n_q;
  std::int64_t sample_budget = std::max<std::int64_t>(16, work_budget / (problem.n_k * problem.d));
  if (gradients) sample_budget = std::max<std::int64_t>(16, sample_budget / 4);
  if (rows <= sample_budget) {
    return reference.of(judged, matrix, {.rows = all_rows(problem), .keys = all_keys(problem)});
  }
  return reference.of(judged, matrix,
                      {.rows = pick_rows(problem, sample_budget, seed),
                       .keys = gradients ? pick_keys(problem, seed) : std::vector<RowId>{},
                       .statistics = statistics});
}

const Reference& Oracle::reference_for(const ReferenceKind& reference, const Run& run,
                                       const std::optional<Quantization>& quantized) {
  const AttentionProblem& problem = run.problem;
  Key key{&reference, single_gpu_problem(problem), run.kind, run.seed, quantized};
  // These fields do not change the result.
  key.problem.page = 0;
  key.problem.deterministic = false;
  if (key.problem.pass == Pass::fwd_bwd) key.problem.pass = Pass::bwd;
  if (const auto found = std::ranges::find(known_, key, &CachedReference::key); found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    return found->reference;
  }
  StatisticsSource statistics;
  const bool elsewhere =
      std::ranges::any_of(run.plan.buffers, [](const BufferSpec& each) { return each.place.strides.has_value(); });
  const bool pages_or_blocks =
      problem.page > 0 || elsewhere ||
      (problem.mask.has_block_mask() && find_buffer(run.plan.buffers, "block_mask") == nullptr);
  constexpr std::int64_t largest_d = 256;
  // The kernel reads 16-bit inputs and sums in fp32, which is not accurate enough for fp32 gradients.
  if (!pages_or_blocks && problem.dtype != DType::fp32 && problem.d <= largest_d) {
    statistics = [&](std::int64_t instance) { return row_statistics(run, instance); };
  }
  known_.push_front({key, make_reference(reference, key.problem, run.kind, run.seed, statistics, quantized)});
  if (known_.size() > max_cached_references) known_.pop_back();
  return known_.front().reference;
}

RowStatistics Oracle::row_statistics(const Run& run, std::int64_t instance) {
  const AttentionProblem& problem = run.problem;
  const auto rows = static_cast<std::size_t>(problem.n_q);
  const DeviceMemory target = allocate(cuda_, 4 * problem.n_q * fp32_bytes);
  const std::int64_t kv = instance / (problem.heads_q / problem.heads_kv);
  const auto address_of = [&](const std::string& name) {
    if (name == "statistics") return target.get();
    const bool of_queries = name == "q" || name == "dout";
    const std::int64_t before = name == "block_mask" ? 0 : of_queries ? instance * problem.n_q : kv * problem.n_k;
    return run.address(name) + static_cast<CUdeviceptr>(before * problem.d * bytes_per_element(problem.dtype));
  };
  const KernelLaunch launch = statistics_launch(problem, instance);
  PreparedLaunch prepared(cuda_, launch, runner_.load(launch), address_of);
  prepared.enqueue(cuda_, runner_.stream());
  runner_.wait(run.limit);
  std::vector<float> values(4 * rows);
  cuda_.copy_to_host(values.data(), target.get(), values.size() * sizeof(float));
  const auto part = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i * rows); };
  return {.lse = {part(0), part(1)},
          .delta = {part(1), part(2)},
          .naive_lse = {part(2), part(3)},
          .naive_delta = {part(3), part(4)}};
}

std::vector<Oracle::Digest> Oracle::digest(Part part, const Run& run) {
  if (!counter_) counter_ = allocate(cuda_, counter_bytes);
  std::vector<Digest> digests;
  for (const BufferSpec& buffer : run.plan.buffers) {
    if (buffer.place.is_view()) continue;
    const bool output = std::ranges::any_of(run.plan.buffers, [&](const BufferSpec& each) {
      return (each.name == buffer.name || each.place.within == buffer.name) &&
             std::ranges::find(output_names, each.name) != output_names.end();
    });
    if (part == Part::outputs ? !output : is_written(buffer.fill)) continue;
    KernelLaunch launch;
    launch.name = "digest";
    launch.source = {.file = "device/digest.cuh", .entry = "attn_digest", .defines = {}};
    launch.grid = grid_of(512);
    launch.block = block_of(256);
    launch.arguments = {BufferArgument{"data"}, buffer.bytes, BufferArgument{"result"}};
    PreparedLaunch prepared(cuda_, launch, runner_.load(launch), [&](const std::string& name) {
      return name == "data" ? run.address(buffer.name) : counter_.get();
    });
    cuda_.fill(counter_.get(), 0, sizeof(std::uint64_t), runner_.stream());
    prepared.enqueue(cuda_, runner_.stream());
    runner_.wait(run.limit);
    Digest& digest = digests.emplace_back(Digest{buffer.name, 0});
    cuda_.copy_to_host(&digest.value, counter_.get(), sizeof digest.value);
  }
  return digests;
}

Oracle::RowCounts Oracle::count_rows(CUdeviceptr data, std::int64_t count, DType dtype, std::int64_t row_elements,
                                     std::chrono::milliseconds limit) {
  if (!counter_) counter_ = allocate(cuda_, counter_bytes);
  cuda_.fill(counter_.get(), 0, counter_bytes, runner_.stream());
  runner_.enqueue_count_nonfinite(data, count, dtype, row_elements, counter_.get());
  runner_.wait(limit);
  std::array<std::int64_t, 2> found{};
  cuda_.copy_to_host(found.data(), counter_.get(), counter_bytes);
  return {.nonfinite = found[0], .nonzero = count / row_elements - found[1]};
}

std::vector<float> Oracle::read(DType dtype, CUdeviceptr buffer, const std::vector<RowId>& rows,
                                const TensorLayout& extents) const {
  const auto element_bytes = static_cast<std::size_t>(output_bytes(dtype));
  const std::size_t row_bytes = static_cast<std::size_t>(extents.row_elements) * element_bytes;
  std::vector<std::byte> bytes(rows.size() * row_bytes);
  const auto place = [&](std::size_t i) {
    const std::int64_t entry = rows[i].instance / extents.heads;
    return extents.strides.at(entry, rows[i].instance % extents.heads, rows[i].row);
  };
  // Keys beyond the length of a batch entry are not stored and have no gradient.
  const auto there = [&](std::size_t i) {
    return rows[i].row < extents.strides.rows(rows[i].instance / extents.heads, extents.rows);
  };
  // Copy adjacent rows at once.
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    if (there(begin)) {
      while (end < rows.size() && there(end) && place(end) == place(end - 1) + extents.row_elements) ++end;
      cuda_.copy_to_host(&bytes[begin * row_bytes], buffer + static_cast<CUdeviceptr>(place(begin)) * element_bytes,
                         (end - begin) * row_bytes);
    }
    begin = end;
  }
  return decode(dtype, bytes);
}

Oracle::RowCounts Oracle::count_and_clear_rows(std::span<std::byte> memory, const TensorLayout& extents,
                                               std::int64_t batch, DType dtype) {
  const std::int64_t size = output_bytes(dtype);
  RowCounts counts;
  for (std::int64_t entry = 0; entry < batch; ++entry) {
    const std::int64_t rows = extents.strides.rows(entry, extents.rows);
    for (std::int64_t i = 0; i < extents.heads * rows; ++i) {
      const auto row = memory.subspan(static_cast<std::size_t>(extents.strides.at(entry, i / rows, i % rows) * size),
                                      static_cast<std::size_t>(extents.row_elements * size));
      const std::vector<float> values = decode(dtype, row);
      counts.nonfinite += std::ranges::count_if(values, [](float value) { return !std::isfinite(value); });
      counts.nonzero += std::ranges::any_of(values, [](float value) { return value != 0; }) ? 1 : 0;
      std::ranges::fill(row, unwritten);
    }
  }
  return counts;
}

Message Oracle::read_outputs(const Reference& reference, const Run& run) {
  const AttentionProblem& problem = run.problem;
  const std::vector<BufferSpec>& buffers = run.plan.buffers;
  struct Matrix {
    const char* buffer;
    const char* name;
    const std::vector<RowId>& rows;
    std::int64_t heads;
    std::int64_t matrix_rows;
    std::vector<float> KernelOutput::*seen;
  };
  const std::array matrices{Matrix{"o", "output", reference.rows, problem.heads_q, problem.n_q, &KernelOutput::o},
                            Matrix{"dq", "dQ", reference.rows, problem.heads_q, problem.n_q, &KernelOutput::dq},
                            Matrix{"dk", "dK", reference.keys, problem.heads_kv, problem.n_k, &KernelOutput::dk},
                            Matrix{"dv", "dV", reference.keys, problem.heads_kv, problem.n_k, &KernelOutput::dv}};
  seen_ = {};
  Message broken;
  // Number of checked elements per buffer, rows that must not be 0 less those that are not, and a host copy of buffers
  // with gaps between rows.
  std::map<const BufferSpec*, std::int64_t> judged;
  std::map<const BufferSpec*, std::int64_t> missing;
  std::map<const BufferSpec*, std::vector<std::byte>> strided_copies;
  const std::int64_t size = output_bytes(problem.dtype);
  const auto elements_of = [&](const Matrix& matrix, const BufferSpec& buffer) {
    const auto& strides = buffer.place.strides;
    const bool ragged = strides && !strides->starts.empty();
    const std::int64_t rows = ragged ? strides->starts.back() : problem.batch * matrix.matrix_rows;
    return rows * matrix.heads * problem.d;
  };
  for (const Matrix& matrix : matrices) {
    const BufferSpec* const spec = find_buffer(buffers, matrix.buffer);
    if (spec == nullptr) continue;
    const BufferSpec* const home = &enclosing_buffer(buffers, *spec);
    judged[home] += elements_of(matrix, *spec);
    if (run.kind == InputKind::normal)
      missing[home] += nonzero_rows(problem, &matrix.rows == &reference.rows, matrix.seen != &KernelOutput::o);
  }
  for (const Matrix& matrix : matrices) {
    const BufferSpec* const spec = find_buffer(buffers, matrix.buffer);
    if (spec == nullptr) continue;
    const CUdeviceptr address = run.address(matrix.buffer);
    const TensorLayout extents{buffer_strides(*spec, matrix.heads, matrix.matrix_rows, problem.d), matrix.heads,
                               matrix.matrix_rows, problem.d};
    const BufferSpec& home = enclosing_buffer(buffers, *spec);
    std::int64_t elements = elements_of(matrix, *spec);
    RowCounts counts;
    if (!spec->place.strides) {
      counts = count_rows(address, elements, problem.dtype, problem.d, run.limit);
    } else if (judged.at(&home) * size == home.bytes) {
      elements = std::exchange(judged.at(&home), 0);  // count once for all matrices in this buffer
      if (elements > 0) counts = count_rows(run.address(home.name), elements, problem.dtype, problem.d, run.limit);
    } else if (judged.at(&home) > 0) {
      auto [held, is_new] = strided_copies.try_emplace(&home);
      if (is_new) {
        held->second.resize(static_cast<std::size_t>(home.bytes));
        cuda_.copy_to_host(held->second.data(), run.address(home.name), static_cast<std::size_t>(home.bytes));
      }
      const auto first = static_cast<std::size_t>(spec->place.offset);
      counts = count_and_clear_rows(std::span(held->second).subspan(first), extents, problem.batch, problem.dtype);
    }
    missing[&home] -= counts.nonzero;
    if (counts.nonfinite > 0 && broken.empty()) {
      broken = make_reason("oracle.not_finite", "{} of {} {} elements are NaN, infinite or unwritten.",
                           counts.nonfinite, elements, matrix.name);
    }
    seen_.*matrix.seen = read(problem.dtype, address, matrix.rows, extents);
  }
  for (const auto& [home, rows] : missing) {
    if (rows > 0 && broken.empty())
      broken = make_reason("oracle.zero_rows", "{} rows of {} that see keys are 0 or unwritten.", rows, home->name);
  }
  for (const auto& [home, memory] : strided_copies) {
    if (broken.empty() && !std::ranges::all_of(memory, [](std::byte each) { return each == unwritten; }))
      broken = make_reason("oracle.between_rows", "A kernel wrote between the rows of {}.", home->name);
  }
  read_lse(reference.rows, run);
  return broken;
}

void Oracle::read_lse(const std::vector<RowId>& rows, const Run& run) {
  const AttentionProblem& problem = run.problem;
  const BufferSpec* const lse_spec = find_buffer(run.plan.buffers, "lse");
  if (lse_spec == nullptr) return;
  seen_.lse = read(DType::fp32, run.address("lse"), rows,
                   {buffer_strides(*lse_spec, problem.heads_q, problem.n_q, 1), problem.heads_q, problem.n_q, 1});
  if (run.plan.lse_base_2) {
    for (float& lse : seen_.lse) lse *= std::numbers::ln2_v<float>;
  }
}

CheckResult Oracle::judge(std::string_view reference_name, const Run& run) {
  const auto reference_of = [&](const std::optional<Quantization>& quantized) -> const Reference& {
    return reference_for(*find_reference(reference_name), run, quantized);
  };
  const Reference& reference = reference_of(run.plan.quantized);
  Message broken = read_outputs(reference, run);
  CheckResult result = check(reference, seen_);
  // Report the RMS error against the unquantized reference: the quantization error is part of what the user chose.
  if (run.plan.quantized) result.rms_error = rms_error(reference_of({}), seen_.o);
  const auto missing = [&](const char* name) { return find_buffer(run.plan.buffers, name) == nullptr; };
  if (!broken.empty()) {
    result.pass = false;
    result.max_abs_error = std::numeric_limits<double>::infinity();
    result.reason = std::move(broken);
  } else if (run.problem.pass != Pass::fwd && (missing("dq") || missing("dk") || missing("dv"))) {
    result.pass = false;
    result.reason = make_reason("oracle.no_gradients", "The plan lacks a buffer dq, dk or dv.");
  } else if (Message stray = run.memory.stray_write(run.slot, run.plan); !stray.empty()) {
    result.pass = false;
    result.reason = std::move(stray);
  }
  return result;
}

}  // namespace attnscope::gpu

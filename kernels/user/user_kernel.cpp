// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/user_kernel.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/files/regular_file.h"
#include "kernels/model/integer.h"
#include "kernels/registry.h"
#include "kernels/user/launch_arguments.h"
#include "messages/own_kernel.h"

namespace attnscope::user {
namespace {

constexpr std::int64_t max_scratch_bytes = std::int64_t{1} << 40;

std::vector<Knob> knobs_of(const KernelManifest& manifest) {
  std::vector<Knob> knobs;
  for (const KnobSpec& each : manifest.knobs) {
    knobs.push_back({.name = each.name,
                     .label = Message::verbatim(each.name),
                     .meaning = Message::verbatim(each.meaning),
                     .largest = std::ranges::max(each.values),
                     .values = each.values});
  }
  return knobs;
}

/// Supported sides, ascending; empty if the kernel has no tile.
std::vector<int> tile_sides(std::vector<int> values) {
  std::erase(values, 0);
  std::ranges::sort(values);
  return values;
}

std::string file_name(const UserSource& source) {
  return std::filesystem::path(source.name).filename().string();
}

Facts facts_of(const KernelManifest& manifest) {
  Facts facts{.name = manifest.name,
              .title = manifest.title,
              .short_title = manifest.title,
              .source = file_name(*manifest.launches.front().source),
              .tile_meaning = msg::own_kernel::tile_meaning{.kernel = manifest.title},
              .reference = manifest.reference,
              .groups = {Group::prefill, Group::tile_maps},
              .dtypes = manifest.dtypes,
              .head_dims = manifest.head_dims,
              .br = tile_sides(manifest.br),
              .bc = tile_sides(manifest.bc),
              .knobs = knobs_of(manifest),
              .user_defined = true,
              .host_code = manifest.has_host_code(),
              .model_only = manifest.launches.front().source->file.empty(),
              .has_tile = manifest.br.front() != 0,
              .reports_traffic = manifest.reports_traffic()};
  for (const Algorithm* each : built_in_algorithms().algorithms()) {
    if (each->facts().reference != manifest.reference) continue;
    facts.nominal_flops = each->facts().nominal_flops;
    facts.flops_per_exponential = each->facts().flops_per_exponential;
    break;
  }
  // Only without expressions does the point's tile side divide the traffic.
  if (!manifest.like || manifest.like->br || manifest.like->bc) return facts;
  const Facts& like = built_in_algorithms().find(manifest.like->algorithm)->facts();
  facts.forward_side = like.forward_side;
  facts.backward_side = like.backward_side;
  return facts;
}

Refusal user_shape_refusal(Message reason) {
  return {Refusal::Cause::shape, std::move(reason)};
}

/// Setup launch that fills a buffer with zeros or with minus infinity as fp32.
KernelLaunch fill_launch(const BufferSpec& buffer, bool minus_infinity, bool repeated) {
  constexpr std::int32_t minus_infinity_bits = std::bit_cast<std::int32_t>(-std::numeric_limits<float>::infinity());
  constexpr unsigned blocks = 512;
  KernelLaunch launch;
  launch.name = "fill " + buffer.name;
  launch.setup = true;
  launch.repeated = repeated;
  launch.grid = {blocks, 1, 1};
  launch.block = {256, 1, 1};
  launch.source = {.file = "device/measurement.cuh", .entry = std::string(fill_words_entry), .defines = {}};
  launch.arguments = {BufferArgument{buffer.name}, buffer.bytes, minus_infinity ? minus_infinity_bits : 0};
  return launch;
}

/// Throws Message unless every unmeasured launch converts one tensor: Q, K, V, O or one of their gradients, or an
/// enclosing buffer; after the measured launches, an output. Scratch counts as what unmeasured launches may fill it
/// with.
void check_conversions(std::span<const LaunchSpec* const> launches, const KernelManifest& manifest) {
  static constexpr std::array<std::string_view, 8> matrices{"q", "k", "v", "dout", "o", "dq", "dk", "dv"};
  std::map<std::string_view, std::set<std::string_view>> scratch{{"lse", {}}};
  for (const ScratchSpec& each : manifest.scratch) scratch[each.name];
  bool follows = false;
  for (const LaunchSpec* launch : launches) {
    follows = follows || launch->measured;
    if (launch->measured) continue;
    std::set<std::string_view> taken;
    for_each_buffer(*launch, [&](std::string_view buffer) {
      if (const auto found = scratch.find(buffer); found != scratch.end()) taken.merge(std::set(found->second));
      const auto place = std::ranges::find_if(manifest.places, [&](const PlacementSpec& each) {
        return !each.within.empty() && (each.tensor == buffer || each.within == buffer);
      });
      const bool part = place != manifest.places.end();
      const auto matrix = std::ranges::find(matrices, part ? std::string_view(place->tensor) : buffer);
      if (matrix == matrices.end()) return;
      taken.insert(part ? std::string_view(place->within) : buffer);
      const bool output = matrix - matrices.begin() > 4 || (*matrix == "o" && launch->pass == Pass::fwd);
      if (follows && !output) {
        throw make_message(
            "launch '{}' has \"measured\": false and takes {} after the measured launches; only an output may be "
            "converted there",
            launch->name, buffer);
      }
    });
    if (taken.size() > 1) {
      throw make_message(
          "launch '{}' has \"measured\": false and takes {}, directly or through scratch; an unmeasured launch "
          "converts one tensor",
          launch->name, fmt::join(taken, ", "));
    }
    for_each_buffer(*launch, [&](std::string_view buffer) {
      if (const auto found = scratch.find(buffer); found != scratch.end()) found->second.merge(std::set(taken));
    });
  }
}

/// `key` names the extents in messages.
std::array<std::uint32_t, 3> evaluate_extents(const char* key, const std::array<std::optional<Expression>, 3>& stated,
                                              const Variables& variables, const std::array<std::int64_t, 3>& most) {
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!stated.at(i)) continue;
    try {
      extents.at(i) = static_cast<std::uint32_t>(stated.at(i)->evaluate_within(variables, 1, most.at(i)));
    } catch (const Message& error) {
      throw make_message("{} {}: {}", key, "xyz"[i], error);
    }
  }
  return extents;
}

}  // namespace

UserKernel::UserKernel(KernelManifest manifest)
    : Algorithm(facts_of(manifest)),
      manifest_(std::move(manifest)),
      law_algorithm_(manifest_.like ? built_in_algorithms().find(manifest_.like->algorithm) : nullptr) {}

std::vector<const LaunchSpec*> UserKernel::active_launches(const AttentionProblem& p, const Variables& known) const {
  std::vector<const LaunchSpec*> launches;
  const auto is_active = [&](const LaunchSpec& launch) {
    return !launch.when || launch.when->evaluate_within(known, std::numeric_limits<std::int64_t>::min(),
                                                        std::numeric_limits<std::int64_t>::max()) != 0;
  };
  for (const Pass pass : {Pass::fwd, Pass::bwd}) {
    if (pass == Pass::bwd && p.pass == Pass::fwd) break;
    const std::size_t before = launches.size();
    for (const LaunchSpec& each : manifest_.launches) {
      if (each.pass != pass || !is_active(each)) continue;
      if (std::ranges::find(launches, each.name, &LaunchSpec::name) != launches.end()) {
        throw make_message("two launches '{}' of {} apply to this problem and configuration", each.name, facts().name);
      }
      launches.push_back(&each);
    }
    const auto counts = [&](const LaunchSpec* each) { return each->pass == pass && each->measured; };
    if (launches.size() == before || std::ranges::none_of(launches, counts))
      throw make_message("no measured launch of {} applies to this problem and configuration", facts().name);
  }
  const auto measured = [&](const LaunchSpec* each) {
    return each->measured && (p.pass != Pass::bwd || each->pass == Pass::bwd);
  };
  const auto first = std::ranges::find_if(launches, measured);
  const auto last = std::find_if(launches.rbegin(), launches.rend(), measured).base();
  for (auto each = first; each != last; ++each) {
    if (!measured(*each))
      throw make_message("launch '{}' has \"measured\": false but runs between measured launches of {}", (*each)->name,
                         facts().name);
  }
  std::vector<const LaunchSpec*> repeated = launches;
  if (p.pass == Pass::bwd) std::erase_if(repeated, [](const LaunchSpec* each) { return each->pass == Pass::fwd; });
  check_conversions(repeated, manifest_);
  return launches;
}

Variables UserKernel::variables(const AttentionProblem& p, const Config& config, const DeviceLimits& device) const {
  Variables all{{"batch", p.batch},
                {"heads", p.heads_q},
                {"heads_q", p.heads_q},
                {"heads_kv", p.heads_kv},
                {"n_q", p.n_q},
                {"n_k", p.n_k},
                {"d", p.d},
                {"br", config.tile.br},
                {"bc", config.tile.bc},
                {"element_bytes", bytes_per_element(p.dtype)},
                {"bf16", p.dtype == DType::bf16 ? 1 : 0},
                {"fp32", p.dtype == DType::fp32 ? 1 : 0},
                {"causal", p.mask.right == 0 ? 1 : 0},
                {"window_left", p.mask.left},
                {"window_right", p.mask.right},
                {"backward", p.pass != Pass::fwd ? 1 : 0},
                {"sms", device.sm_count},
                {"capability", device.compute_major * 10 + device.compute_minor}};
  for (const KnobSpec& knob : manifest_.knobs) {
    const std::int64_t given = config.knobs.number(knob.name);
    all[knob.name] = given == 0 ? knob.values.front() : given;
  }
  using Int = std::numeric_limits<std::int64_t>;
  for (const auto& [name, value] : manifest_.names) all[name] = value.evaluate_within(all, Int::min(), Int::max());
  return all;
}

std::optional<Refusal> UserKernel::problem_refusal(const AttentionProblem& p, const Config& config) const {
  const std::string& name = facts().name;
  const auto refuse_value = [&](const char* what, auto given, const auto& supported) -> std::optional<Refusal> {
    if (std::ranges::find(supported, given) != supported.end()) return std::nullopt;
    return user_shape_refusal(
        make_message("{} does not support {} {}; supported: {}", name, what, given, fmt::join(supported, ", ")));
  };
  const auto words = [](const auto& values) {
    std::vector<std::string_view> all;
    all.reserve(values.size());
    for (const auto each : values) all.push_back(to_string(each));
    return all;
  };
  if (Message reason = invalid_reason(p); !reason.empty()) return user_shape_refusal(std::move(reason));
  if (auto refused = refuse_value("d", p.d, facts().head_dims)) return refused;
  if (auto refused = refuse_value("dtype", to_string(p.dtype), words(manifest_.dtypes))) return refused;
  if (p.pass == Pass::fwd_bwd && manifest_.passes.size() < 2) {
    return user_shape_refusal(make_reason("refusal.feature", "{} does not support pass {}.", name, to_string(p.pass)));
  }
  if (p.pass == Pass::fwd) {
    if (auto refused = refuse_value("pass", to_string(p.pass), words(manifest_.passes))) return refused;
  }
  if (!facts().has_tile && config.tile != TileShape{.br = 0, .bc = 0})
    return user_shape_refusal(make_message("{} has no tile: remove br and bc", name));
  if (auto refused = refuse_value("Br", config.tile.br, manifest_.br)) return refused;
  if (auto refused = refuse_value("Bc", config.tile.bc, manifest_.bc)) return refused;
  if (auto refused = check_knobs(facts(), config.knobs)) return refused;
  for (const KnobSpec& knob : manifest_.knobs) {
    const std::int64_t given = config.knobs.number(knob.name);
    if (given == 0) continue;
    if (auto refused = refuse_value(knob.name.c_str(), given, knob.values)) return refused;
  }
  if (auto refused = check_features(name, p, config.tile, manifest_.features, false)) return refused;
  if (!p.mask.has_window() && !p.mask.padded() && !p.mask.has_block_mask() && !manifest_.unmasked) {
    return user_shape_refusal(make_reason("refusal.feature", "{} does not support the full mask.", name));
  }
  if (p.mask.right == 0 && p.mask.left == Mask::unlimited && !manifest_.causal) {
    return user_shape_refusal(make_reason("refusal.feature", "{} does not support the causal mask.", name));
  }
  if (p.heads_q != p.heads_kv && !manifest_.gqa) {
    return user_shape_refusal(make_reason("refusal.feature", "{} does not support GQA.", name));
  }
  return std::nullopt;
}

std::optional<Refusal> UserKernel::refusal(const AttentionProblem& p, const Config& config,
                                           const DeviceLimits& device) const {
  if (auto refused = problem_refusal(p, config)) return refused;
  try {
    const Variables known = variables(p, config, device);
    for (const RequirementSpec& each : manifest_.requirements) {
      const auto holds = each.condition.evaluate_integer(known);
      if (!holds) return user_shape_refusal(holds.error());
      if (*holds == 0) return user_shape_refusal(each.otherwise);
    }
    const std::vector<BufferSpec> buffers = make_buffers(p, known);
    const std::vector<const LaunchSpec*> launches = active_launches(p, known);
    (void)fill_launches(p, launches, buffers);
    for (const LaunchSpec* launch : launches) {
      const KernelModel model = model_of(*launch, p, known, device);
      if (auto refused = check_resources({{.kernel = model.name,
                                           .threads = model.threads_per_block(),
                                           .registers = 0,
                                           .shared_bytes = model.dynamic_shared_bytes}},
                                         device)) {
        return refused;
      }
      for (const ArgumentSpec& argument : launch->arguments) {
        if (argument.type == ArgumentSpec::Type::tensor_map) check_address(argument, buffers);
        (void)argument_of(argument, known, buffers);
      }
      for (const DefineSpec& define : launch->defines) {
        if (const auto value = define.value.evaluate_integer(known); !value) throw value.error();
      }
    }
    if (law_algorithm_ != nullptr) (void)law_traffic(p, known, device);
  } catch (const Message& reason) {
    return user_shape_refusal(reason);
  }
  return std::nullopt;
}

std::vector<std::filesystem::path> UserKernel::source_files() const {
  std::vector<std::filesystem::path> files;
  for (const LaunchSpec& launch : manifest_.launches) files.push_back(launch.source->file);
  return files;
}

std::unique_ptr<const UserKernel> UserKernel::copy_without_law() const {
  KernelManifest without_bytes = manifest_;
  without_bytes.like.reset();
  for (LaunchSpec& launch : without_bytes.launches) launch.bytes.clear();
  return std::make_unique<UserKernel>(std::move(without_bytes));
}

Config UserKernel::default_config(const AttentionProblem& p, const DeviceLimits& device) const {
  for (const int br : manifest_.br) {
    for (const int bc : manifest_.bc) {
      const TileShape tile{.br = br, .bc = bc};
      if (!refusal(p, tile, device)) return tile;
    }
  }
  return TileShape{.br = manifest_.br.front(), .bc = manifest_.bc.front()};
}

std::int64_t UserKernel::working_set_bytes(const AttentionProblem& p, const Config& config,
                                           const DeviceLimits& device) const {
  if (law_algorithm_ == nullptr) return 0;
  try {
    return law_algorithm_->working_set_bytes(p, law_tile(variables(p, config, device)), device);
  } catch (const Message&) {  // refusal() reports it
    return 0;
  }
}

TileShape UserKernel::law_tile(const Variables& known) const {
  const auto side = [&](const std::optional<Expression>& stated, const char* own) {
    return static_cast<int>(stated ? stated->evaluate_within(known, 1, std::numeric_limits<int>::max())
                                   : known.at(own));
  };
  return {.br = side(manifest_.like->br, "br"), .bc = side(manifest_.like->bc, "bc")};
}

bool UserKernel::has_lse(const AttentionProblem& p, const Variables& known) const {
  return std::ranges::any_of(active_launches(p, known), [&](const LaunchSpec* each) {
    return each->source->has_host_code() ? manifest_.lse : has_argument(*each, "lse");
  });
}

std::vector<OperandTraffic> UserKernel::law_traffic(const AttentionProblem& p, const Variables& known,
                                                    const DeviceLimits& device) const {
  const TileShape tile = law_tile(known);
  if (tile.br == 0 || tile.bc == 0) return {};  // chosen by an autotuner, not known yet
  const AttentionModel model = law_algorithm_->law_model(p, tile, device);
  if (model.refusal) {
    throw make_message(
        "{}: the law of {} does not apply to tile {} x {}: {} (change br and bc in \"law\", or set \"bytes\")",
        facts().name, law_algorithm_->name(), tile.br, tile.bc, model.refusal->reason);
  }
  const bool lse = manifest_.like->lse || has_lse(p, known);
  std::vector<OperandTraffic> sums;
  for (const KernelModel& kernel : model.kernels) {
    if (kernel.setup) continue;
    for (const OperandTraffic& operand : kernel.operands) {
      if (operand.tensor == Tensor::lse && !lse) continue;
      const auto same = std::ranges::find(sums, operand.tensor, &OperandTraffic::tensor);
      if (same == sums.end()) {
        sums.push_back(operand);
      } else {
        same->traffic += operand.traffic;
      }
    }
  }
  return sums;
}

KernelModel UserKernel::model_of(const LaunchSpec& launch, const AttentionProblem& p, const Variables& known,
                                 const DeviceLimits& device) const {
  constexpr std::int64_t max_grid_x = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t max_grid_yz = 65535;
  constexpr std::int64_t max_cluster_side = 16;
  constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
  KernelModel model;
  model.name = launch.name;
  const bool before_pass = p.pass == Pass::bwd && launch.pass == Pass::fwd;
  model.setup = before_pass || !launch.measured;
  model.repeated = !before_pass && !launch.measured;
  model.starts_early = launch.starts_early;
  model.cooperative = launch.cooperative;
  model.block = evaluate_extents("block", launch.block, known, {1024, 1024, 64});
  model.cluster =
      evaluate_extents("cluster", launch.cluster, known, {max_cluster_side, max_cluster_side, max_cluster_side});
  if (launch.shared_bytes) {
    model.dynamic_shared_bytes =
        launch.shared_bytes->evaluate_within(known, 0, std::numeric_limits<std::int32_t>::max());
  }
  constexpr std::int64_t max_registers = 255;
  if (launch.registers) {
    model.registers_per_thread = static_cast<int>(launch.registers->evaluate_within(known, 1, max_registers));
  }
  Variables grid_variables = known;
  grid_variables["blocks_per_sm"] = theoretical_occupancy(device, model.footprint()).blocks_per_sm;
  model.grid = evaluate_extents("grid", launch.grid, grid_variables, {max_grid_x, max_grid_yz, max_grid_yz});
  for (std::size_t i = 0; i < model.grid.size(); ++i) {
    if (model.grid.at(i) % model.cluster.at(i) == 0) continue;
    throw make_message("{}: {} blocks are not divisible by the cluster size {}", launch.name, model.grid.at(i),
                       model.cluster.at(i));
  }
  for (const BytesSpec& each : launch.bytes) {
    const auto bytes = [&](const std::optional<Expression>& stated) {
      return stated ? stated->evaluate_within(known, 0, most_bytes) : 0;
    };
    model.operands.push_back({each.tensor, {.l2_to_sm_bytes = bytes(each.load), .sm_to_l2_bytes = bytes(each.store)}});
  }
  model.traffic = sum_of(model.operands);
  return model;
}

std::vector<KernelModel> UserKernel::kernels(const AttentionProblem& p, const Config& config,
                                             const DeviceLimits& device) const {
  const Variables known = variables(p, config, device);
  std::vector<KernelModel> all;
  for (const LaunchSpec* launch : active_launches(p, known)) all.push_back(model_of(*launch, p, known, device));
  const auto measured = std::ranges::find(all, false, &KernelModel::setup);
  if (law_algorithm_ != nullptr) {
    measured->operands = law_traffic(p, known, device);
    measured->traffic = sum_of(measured->operands);
  }
  return all;
}

std::vector<BufferSpec> UserKernel::make_buffers(const AttentionProblem& p, const Variables& known) const {
  std::vector<BufferSpec> buffers = input_buffers(p);
  const bool lse = has_lse(p, known);
  buffers.push_back(row_buffer("o", p, p.d, output_bytes(p.dtype)));
  if (lse) buffers.push_back(row_buffer("lse", p, 1, fp32_bytes));
  if (p.pass != Pass::fwd) std::ranges::move(gradient_buffers(p), std::back_inserter(buffers));
  place_tensors(buffers, manifest_.places, p, known);
  for (const ScratchSpec& each : manifest_.scratch) {
    const std::int64_t bytes = each.bytes.evaluate_within(known, 1, max_scratch_bytes);
    buffers.push_back({each.name, bytes, each.zero ? BufferFill::zeros : BufferFill::poison});
  }
  return buffers;
}

std::vector<KernelLaunch> UserKernel::fill_launches(const AttentionProblem& p,
                                                    std::span<const LaunchSpec* const> launches,
                                                    std::span<const BufferSpec> buffers) const {
  std::vector<KernelLaunch> fills;
  for (const FillSpec& fill : manifest_.fills) {
    const auto first =
        std::ranges::find_if(launches, [&](const LaunchSpec* each) { return has_argument(*each, fill.buffer); });
    const BufferSpec* const buffer = find_buffer(buffers, fill.buffer);
    if (first == launches.end() || buffer == nullptr) continue;
    if (buffer->place.is_view())
      throw make_message("fill of '{}': it is a part of '{}' (fill that)", fill.buffer, buffer->place.within);
    const bool of_setup = p.pass == Pass::bwd && (*first)->pass == Pass::fwd;
    fills.push_back(fill_launch(*buffer, fill.minus_infinity, !of_setup));
  }
  return fills;
}

AttentionPlan UserKernel::plan(const AttentionProblem& p, const Config& config, const DeviceLimits& device) const {
  const Variables known = variables(p, config, device);
  AttentionPlan plan;
  plan.buffers = make_buffers(p, known);
  plan.lse_base_2 = manifest_.lse_base_2;
  for (const LaunchSpec& launch : manifest_.launches) {
    if (std::ranges::find(plan.sources, launch.source) == plan.sources.end()) plan.sources.push_back(launch.source);
  }
  std::vector<KernelModel> all = kernels(p, config, device);
  const std::vector<const LaunchSpec*> stated = active_launches(p, known);
  plan.launches = fill_launches(p, stated, plan.buffers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LaunchSpec& launch = *stated[i];
    // Variants from different files share one displayed name.
    KernelSource source{.file = facts().name + "/" + (launch.when ? launch.name : file_name(*launch.source)),
                        .entry = launch.entry,
                        .defines = {},
                        .user_source = launch.source};
    for (const DefineSpec& define : launch.defines) {
      source.defines.push_back(fmt::format("{}={}", define.macro, define.value.evaluate_integer(known).value()));
    }
    std::vector<Argument> arguments;
    for (const ArgumentSpec& each : launch.arguments) arguments.push_back(argument_of(each, known, plan.buffers));
    plan.launches.emplace_back(std::move(all[i]), std::move(source), std::move(arguments), nullptr);
    if (!launch.source->has_host_code()) continue;
    HostCall call{
        .problem = p, .pass = launch.pass, .lse_base_2 = manifest_.lse_base_2, .tile = config.tile, .knobs = {}};
    for (const KnobSpec& knob : manifest_.knobs) call.knobs.emplace_back(knob.name, known.at(knob.name));
    plan.launches.back().call = std::make_shared<const HostCall>(std::move(call));
  }
  return plan;
}

Result<std::unique_ptr<const UserKernel>, Message> load_kernel(const std::filesystem::path& file,
                                                               const std::string& suffix) {
  const auto failed = [&](const Message& what) { return Failure{make_message("{}: {}", file.string(), what)}; };
  const auto text = read_regular_file(file, max_manifest_bytes);
  if (!text) return failed(text.error());
  if (const std::size_t first = text->find_first_not_of(" \t\r\n"); first == std::string::npos || (*text)[first] != '{')
    return failed("not a manifest: expected a JSON object (`attnscope kernels new` creates one)");
  return make_kernel(*text, file, suffix);
}

Result<std::unique_ptr<const UserKernel>, Message> make_kernel(std::string_view text, const std::filesystem::path& file,
                                                               const std::string& suffix) {
  const auto failed = [&](const Message& what) { return Failure{make_message("{}: {}", file.string(), what)}; };
  auto manifest = parse_manifest(text, file.parent_path());
  if (!manifest) return failed(manifest.error());
  manifest->name += suffix;
  for (const LaunchSpec& launch : manifest->launches) {
    const Message error = regular_file_error(launch.source->file);
    if (error.empty()) continue;
    const bool library = launch.source->kind == UserSource::Kind::library;
    return failed(make_message("source {}: {} ({}correct 'source')", launch.source->file.string(), error,
                               library ? "build the library, or " : ""));
  }
  return std::unique_ptr<const UserKernel>(std::make_unique<UserKernel>(std::move(manifest).value()));
}

}  // namespace attnscope::user

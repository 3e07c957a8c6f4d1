// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/manifest.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/oracle/reference.h"
#include "kernels/registry.h"
#include "kernels/user/launch_arguments.h"
#include "kernels/user/manifest_argument.h"
#include "kernels/user/manifest_value.h"

namespace attnscope::user {
namespace {

constexpr std::size_t max_name_length = 40;
/// Entry point declared in assets/own-kernel/attnscope_kernel.h.
constexpr const char* library_entry = "attnscope_kernel_v1";

bool is_word(std::string_view text, std::string_view beside) {
  return !text.empty() && text.size() <= max_name_length && text.front() >= 'a' && text.front() <= 'z' &&
         std::ranges::all_of(text, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || beside.find(c) != std::string_view::npos;
         });
}

class Parser {
 public:
  Parser(const JsonWithLines& json, std::optional<std::filesystem::path> folder)
      : root_(json, json.json, ""), folder_(std::move(folder)), names_(predefined_names()) {}

  KernelManifest parse(std::string_view text) {
    root_.object({"attnscope_kernel", "name", "title", "source", "compiler", "include", "options", "computes", "layout",
                  "supports", "tile", "knobs", "let", "requires", "scratch", "fill", "launches", "law"});
    const Value version = root_.at("attnscope_kernel");
    if (!version.equals(1)) version.fail_type("1, the supported manifest version");
    identity(text);
    computes();
    supports();
    tile();
    if (const auto knobs = root_.find("knobs"))
      knobs->for_each_member([&](const auto& name, const Value& v) { knob(name, v); });
    if (const auto all = root_.find("let")) {
      all->for_each_member([&](const auto& name, const Value& v) {
        check_name(name, v);
        result_.names.emplace_back(name, v.expression(names_));
        names_.push_back(name);
      });
    }
    if (const auto all = root_.find("requires")) {
      for (const Value& each : all->list()) {
        each.object({"that", "else"});
        result_.requirements.push_back({each.at("that").expression(names_), Message::verbatim(each.at("else").text())});
      }
    }
    if (const auto all = root_.find("scratch"))
      all->for_each_member([&](const auto& name, const Value& v) { scratch(name, v); });
    if (const auto stated = root_.find("layout")) layout(*stated);
    for (const Value& each : root_.at("launches").list()) launch(each);
    if (const auto all = root_.find("fill"))
      all->for_each_member([&](const auto& name, const Value& v) { fill(name, v); });
    law();
    check_passes();
    return std::move(result_);
  }

 private:
  void identity(std::string_view text) {
    const Value name = root_.at("name");
    result_.name = name.text();
    if (!is_word(result_.name, "-_."))
      name.fail_type("1 to 40 characters of a-z, 0-9, '-', '_' and '.', starting with a letter");
    if (built_in_algorithms().find(result_.name) != nullptr) {
      name.fail(make_message("the name belongs to the built-in algorithm '{}' (use another name)", result_.name));
    }
    const auto title = root_.find("title");
    result_.title = title ? title->text() : result_.name;
    if (folder_) shared_.manifest = text;
    if (const auto folders = root_.find("include")) {
      for (const Value& each : folders->list()) {
        const std::string& below = each.text();
        if (folder_) shared_.include_folders.push_back((*folder_ / below).lexically_normal());
      }
    }
    if (const auto options = root_.find("options")) options_ = parse_source_options(*options);
    if (const auto compiler = root_.find("compiler")) shared_.compiler = parse_compiler(*compiler);
    if (const auto source = root_.find("source")) source_ = source_of(*source);
  }

  [[nodiscard]] std::shared_ptr<const UserSource> source_of(const Value& value,
                                                            const std::optional<Value>& compiler = {}) const {
    UserSource own = shared_;
    if (compiler) own.compiler = parse_compiler(*compiler);
    own.name = value.text();
    if (folder_) own.file = (*folder_ / own.name).lexically_normal();
    const std::string suffix = std::filesystem::path(own.name).extension().string();
    if (suffix == ".ptx") {
      own.kind = UserSource::Kind::ptx;
    } else if (suffix == ".cubin") {
      own.kind = UserSource::Kind::cubin;
    } else if (suffix == ".so") {
      own.kind = UserSource::Kind::library;
    } else if (suffix == ".py" || suffix == ".pkl") {
      own.kind = UserSource::Kind::python;
    } else if (suffix != ".cu" && suffix != ".cuh") {
      value.fail_type("a .cu, .cuh, .ptx, .cubin, .so or .py file");
    }
    set_source_options(own, options_);
    return std::make_shared<const UserSource>(std::move(own));
  }

  void computes() {
    if (const auto computes = root_.find("computes")) {
      computes->object({"reference", "lse"});
      if (const auto reference = computes->find("reference")) {
        result_.reference = reference->text();
        if (find_reference(result_.reference) == nullptr) {
          std::vector<std::string_view> known;
          for (const ReferenceKind& each : references()) known.push_back(each.name);
          reference->fail_type(make_message("one of {}", fmt::join(known, ", ")));
        }
      }
      const auto lse = computes->find("lse");
      result_.lse = lse.has_value();
      result_.lse_base_2 = lse && lse->keyword({"e", "2"}) == "2";
    }
  }

  void supports() {
    const Value all = root_.at("supports").object({"dtype", "pass", "d", "mask", "gqa"});
    for (const Value& each : all.at("dtype").list()) {
      result_.dtypes.push_back(parse_dtype(each.keyword({"fp16", "bf16", "fp32"})).value());
    }
    for (const Value& each : all.at("d").list()) result_.head_dims.push_back(static_cast<int>(each.number(1, 1024)));
    std::ranges::sort(result_.head_dims);
    result_.passes = {Pass::fwd};
    if (const auto passes = all.find("pass")) {
      result_.passes.clear();
      for (const Value& each : passes->list())
        result_.passes.push_back(parse_pass(each.keyword({"fwd", "bwd"})).value());
    }
    if (const auto masks = all.find("mask")) {
      result_.unmasked = false;
      for (const Value& each : masks->list()) {
        const std::string word = each.keyword({"full", "causal", "window", "lengths", "blocks"});
        result_.unmasked = result_.unmasked || word == "full";
        result_.causal = result_.causal || word == "causal";
        result_.features.window = result_.features.window || word == "window";
        result_.features.lengths = result_.features.lengths || word == "lengths";
        result_.features.blocks = result_.features.blocks || word == "blocks";
      }
    }
    const auto gqa = all.find("gqa");
    result_.gqa = gqa && gqa->flag();
    result_.features.backward = std::ranges::find(result_.passes, Pass::bwd) != result_.passes.end();
  }

  void tile() {
    const auto stated = root_.find("tile");
    if (!stated) {
      result_.br = result_.bc = {0};
      return;
    }
    if (!stated->is_object()) {
      (void)stated->keyword({"tuned"});
      result_.tuned_tile = true;
      result_.br = result_.bc = {0};
      return;
    }
    const Value tile = stated->object({"br", "bc"});
    for (const auto& [key, sides] : {std::pair{"br", &result_.br}, std::pair{"bc", &result_.bc}}) {
      for (const Value& each : tile.at(key).list()) sides->push_back(static_cast<int>(each.number(1, 1 << 16)));
    }
    constexpr std::size_t max_tile_count = 512;  // default_config() may test each tile
    if (result_.br.size() * result_.bc.size() > max_tile_count)
      tile.fail(make_message("more than {} tiles (use fewer values of br or bc)", max_tile_count));
  }

  /// Rejects names of fields and axes; for knobs also names of exported columns.
  void check_name(const std::string& name, const Value& value, bool knob = false) const {
    static constexpr std::array fields{"algorithm",     "dtype",  "pass",   "mask",         "dropout", "page",
                                       "deterministic", "tile",   "cache",  "gpus",         "n",       "m",
                                       "gpu_order",     "kernel", "raster", "blocks_per_sm"};
    const bool taken = std::ranges::find(fields, name) != fields.end() || (knob && is_column(name));
    if (!is_word(name, "_") || taken || std::ranges::find(names_, name) != names_.end()) {
      value.fail(make_message(
          "invalid or reserved name '{}'; choose another (1 to 40 of a-z, 0-9 and '_', starting with a letter)", name));
    }
  }

  static bool is_column(std::string_view name) {
    static constexpr std::array words{"device",
                                      "disposition",
                                      "error_bound",
                                      "max_abs_error",
                                      "metric",
                                      "occupancy_limiter",
                                      "plan_index",
                                      "point",
                                      "provenance",
                                      "q1",
                                      "q3",
                                      "reason",
                                      "reason_code",
                                      "registers",
                                      "rms_error",
                                      "round",
                                      "run",
                                      "run_uid",
                                      "samples",
                                      "tflops",
                                      "throttled",
                                      "unit",
                                      "value",
                                      "shared_bank_conflicts",
                                      "shared_wavefronts"};
    const auto begins = [&](std::string_view with) { return name.starts_with(with); };
    const auto ends = [&](std::string_view with) { return name.ends_with(with); };
    return std::ranges::find(words, name) != words.end() ||
           std::ranges::any_of(std::array{"model_", "stall_", "time_"}, begins) ||
           std::ranges::any_of(std::array{"_bytes", "_ns", "_hz", "_pct", "_cycles"}, ends);
  }

  void knob(const std::string& name, const Value& value) {
    check_name(name, value, true);
    value.object({"values", "means"});
    KnobSpec knob{.name = name, .meaning = value.at("means").text(), .values = {}};
    for (const Value& each : value.at("values").list()) knob.values.push_back(each.number(1, 1 << 20));
    result_.knobs.push_back(std::move(knob));
    names_.push_back(name);
  }

  [[nodiscard]] const std::string& buffer_name(const Value& value, const std::string& name) const {
    static constexpr std::array own{"q",  "k",  "v",           "o",          "lse",      "dout",     "dq",
                                    "dk", "dv", "key_lengths", "block_mask", "q_starts", "k_starts", "null"};
    const bool taken = std::ranges::find(own, name) != own.end() ||
                       std::ranges::find(result_.scratch, name, &ScratchSpec::name) != result_.scratch.end();
    if (!is_word(name, "_") || taken)
      value.fail(make_message(
          "invalid or reserved buffer name '{}'; choose another (1 to 40 of a-z, 0-9 and '_', starting with a letter)",
          name));
    return name;
  }

  void scratch(const std::string& name, const Value& value) {
    (void)buffer_name(value, name);
    value.object({"bytes", "zero"});
    const auto zero = value.find("zero");
    result_.scratch.push_back({name, value.at("bytes").expression(names_), zero && zero->flag()});
  }

  void fill(const std::string& name, const Value& value) {
    const std::vector<std::string> buffers = known_buffers();
    const bool scratch = std::ranges::find(result_.scratch, name, &ScratchSpec::name) != result_.scratch.end();
    static constexpr std::array outputs{"o", "lse", "dq", "dk", "dv", "dqkv"};
    const bool output = std::ranges::find(outputs, name) != outputs.end();
    if (std::ranges::find(buffers, name) == buffers.end() || (!scratch && !output)) {
      value.fail(make_message("'{}' is not an output or scratch buffer of this kernel", name));
    }
    if (result_.has_host_code()) value.fail("'fill' is not allowed: host code fills its buffers itself");
    const auto takes = [&](Pass pass) {
      return std::ranges::any_of(result_.launches,
                                 [&](const auto& each) { return each.pass == pass && has_argument(each, name); });
    };
    if (!takes(Pass::fwd) && !takes(Pass::bwd)) value.fail(make_message("no launch takes '{}'", name));
    if (scratch && takes(Pass::fwd) && takes(Pass::bwd))
      value.fail(make_message("'{}' is filled and used by both passes; use one buffer per pass", name));
    const bool zero = value.equals(0);
    if (!zero && value.keyword({"0", "-inf"}) == "-inf" && !scratch && name != "lse")
      value.fail(make_message("'{}' can only be filled with 0; \"-inf\" is for scratch and lse, as fp32", name));
    result_.fills.push_back({.buffer = name, .minus_infinity = !zero && value.text() == "-inf"});
  }

  void layout(const Value& value) {
    if (!value.is_object()) {
      const std::string word = value.keyword(layout_names());
      for (PlacementSpec& each : layout_placements(word)) {
        if (!each.within.empty()) (void)buffer_name(value, each.within);
        result_.places.push_back(std::move(each));
      }
      if (auto condition = layout_condition(word)) {
        result_.requirements.push_back(
            {std::move(*condition),
             make_message("Layout {} requires n_q = n_k and as many query heads as K/V heads.", word)});
      }
      return;
    }
    value.for_each_member([&](const std::string& tensor, const Value& each) { place(tensor, each); });
  }

  void place(const std::string& tensor, const Value& value) {
    std::vector<std::string_view> tensors{"q", "k", "v", "o"};
    if (result_.features.backward) tensors.insert(tensors.end(), {"dout", "dq", "dk", "dv"});
    if (std::ranges::find(tensors, tensor) == tensors.end()) {
      value.fail(make_message("unknown tensor '{}'; available: {}", tensor, fmt::join(tensors, ", ")));
    }
    value.object({"in", "at", "strides"});
    PlacementSpec place{.tensor = tensor, .within = {}, .at = {}, .strides = {}, .packed = false};
    const auto within = value.find("in");
    const auto at = value.find("at");
    if (within) place.within = buffer_name(*within, within->text());
    if (at && !within) at->fail("'in' is missing");
    if (at) place.at = at->expression(names_);
    const Value strides = value.at("strides");
    const std::vector<Value> list = strides.list();
    if (list.size() != place.strides.size())
      strides.fail_type("a list of three expressions: the strides of batch entries, heads and rows");
    for (std::size_t i = 0; i < list.size(); ++i) place.strides.at(i) = list[i].expression(names_);
    const auto is_input = [](const std::string& each) { return each.size() == 1 ? each != "o" : each == "dout"; };
    for (const PlacementSpec& each : result_.places) {
      if (!within || each.within != place.within || is_input(each.tensor) == is_input(tensor)) continue;
      within->fail(make_message("buffer '{}' cannot contain both inputs and outputs", place.within));
    }
    result_.places.push_back(std::move(place));
  }

  std::array<std::optional<Expression>, 3> extents(const Value& value, const std::vector<std::string>& known) const {
    std::array<std::optional<Expression>, 3> all;
    const std::vector<Value> list = value.is_list() ? value.list() : std::vector<Value>();
    if (list.empty() || list.size() > all.size()) value.fail_type("a list of 1 to 3 expressions");
    for (std::size_t i = 0; i < list.size(); ++i) all.at(i) = list[i].expression(known);
    return all;
  }

  void launch(const Value& value) {
    value.object({"name", "source", "compiler", "entry", "when", "pass", "defines", "grid", "block", "cluster",
                  "shared_bytes", "registers", "measured", "cooperative", "starts_early", "arguments", "bytes"});
    LaunchSpec launch;
    const auto source = value.find("source");
    const auto compiler = value.find("compiler");
    launch.source = source || compiler ? source_of(source ? *source : root_.at("source"), compiler) : source_;
    if (launch.source == nullptr) value.fail("'source' is missing");
    const bool host_code = launch.source->has_host_code();
    if (const auto pass = value.find("pass")) launch.pass = parse_pass(pass->keyword({"fwd", "bwd"})).value();
    if (host_code) check_host_code(value, launch);
    launch.entry = launch.source->kind == UserSource::Kind::library ? library_entry : value.at("entry").text();
    if (const auto when = value.find("when")) launch.when = when->expression(names_);
    const auto name = value.find("name");
    launch.name = name ? name->text() : host_code ? std::string(to_string(launch.pass)) : launch.entry;
    const bool taken = std::ranges::any_of(result_.launches, [&](const LaunchSpec& each) {
      return each.name == launch.name && !(each.when && launch.when);
    });
    if (launch.name == "all" || taken) {
      (name ? *name : value)
          .fail(make_message("launch name '{}' is used already or reserved (set another \"name\")", launch.name));
    }
    if (!host_code) parameters(value, launch);
    if (const auto bytes = value.find("bytes")) {
      bytes->for_each_member(
          [&](const std::string& tensor, const Value& each) { parse_tensor_bytes(tensor, each, launch); });
    }
    result_.launches.push_back(std::move(launch));
  }

  /// Host code launches its kernels itself, once per pass.
  void check_host_code(const Value& value, const LaunchSpec& launch) const {
    for (const char* key : {"entry", "defines", "grid", "block", "cluster", "shared_bytes", "registers", "measured",
                            "cooperative", "starts_early", "arguments"}) {
      const bool allowed = std::string_view(key) == "entry" && launch.source->kind == UserSource::Kind::python;
      if (const auto found = value.find(key); found && !allowed)
        found->fail(make_message("'{}' is not allowed: host code launches its kernels itself", key));
    }
    for (const LaunchSpec& each : result_.launches) {
      if (!each.source->has_host_code() || each.pass != launch.pass) continue;
      value.fail(
          make_message("pass {} already has a launch by host code; only one is allowed", to_string(launch.pass)));
    }
  }

  void parameters(const Value& value, LaunchSpec& launch) const {
    if (const auto defines = value.find("defines")) {
      defines->for_each_member([&](const std::string& macro, const Value& each) {
        if (!is_macro_name(macro)) each.fail(make_message("'{}' is not the name of a macro", macro));
        launch.defines.push_back({macro, each.expression(names_)});
      });
    }
    std::vector<std::string> grid_variables = names_;
    grid_variables.emplace_back("blocks_per_sm");
    launch.grid = extents(value.at("grid"), grid_variables);
    launch.block = extents(value.at("block"), names_);
    if (const auto cluster = value.find("cluster")) launch.cluster = extents(*cluster, names_);
    if (const auto bytes = value.find("shared_bytes")) launch.shared_bytes = bytes->expression(names_);
    if (const auto registers = value.find("registers")) launch.registers = registers->expression(names_);
    const auto flag = [&](const char* key, bool fallback = false) {
      const auto found = value.find(key);
      return found ? found->flag() : fallback;
    };
    launch.measured = flag("measured", true);
    launch.cooperative = flag("cooperative");
    launch.starts_early = flag("starts_early");
    const ArgumentNames names{.variables = names_, .buffers = known_buffers()};
    for (const Value& each : value.at("arguments").list()) launch.arguments.push_back(parse_argument(each, names));
  }

  [[nodiscard]] std::vector<std::string> known_buffers() const {
    std::vector<std::string> known{"q", "k", "v", "o", "lse"};
    const auto add = [&](bool there, std::initializer_list<const char*> names) {
      if (there) known.insert(known.end(), names.begin(), names.end());
    };
    add(result_.features.backward, {"dout", "dq", "dk", "dv"});
    add(result_.features.lengths, {"key_lengths"});
    add(result_.features.blocks, {"block_mask"});
    for (const ScratchSpec& each : result_.scratch) known.push_back(each.name);
    for (const PlacementSpec& each : result_.places) {
      const bool of_pass = result_.features.backward || each.tensor.size() == 1;
      if (of_pass && !each.within.empty() && std::ranges::find(known, each.within) == known.end()) {
        known.push_back(each.within);
      }
    }
    add(std::ranges::any_of(result_.places, &PlacementSpec::packed), {"q_starts", "k_starts"});
    return known;
  }

  void parse_tensor_bytes(const std::string& name, const Value& value, LaunchSpec& launch) const {
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < tensor_count(); ++i) {
      known.push_back(to_string(static_cast<Tensor>(i)));
      if (known.back() != name) continue;
      value.object({"load", "store"});
      BytesSpec bytes{.tensor = static_cast<Tensor>(i), .load = {}, .store = {}};
      if (const auto load = value.find("load")) bytes.load = load->expression(names_);
      if (const auto store = value.find("store")) bytes.store = store->expression(names_);
      launch.bytes.push_back(std::move(bytes));
      return;
    }
    value.fail(make_message("unknown matrix '{}'; available: {}", name, fmt::join(known, ", ")));
  }

  void law() {
    const auto law = root_.find("law");
    if (!law) return;
    law->object({"like", "br", "bc", "lse"});
    const Value like = law->at("like");
    LawSpec stated{.algorithm = like.text(), .br = {}, .bc = {}};
    if (built_in_algorithms().find(stated.algorithm) == nullptr) {
      std::vector<std::string_view> known;
      for (const Algorithm* each : built_in_algorithms().algorithms()) known.push_back(each->name());
      like.fail_type(make_message("one of {}", fmt::join(known, ", ")));
    }
    if (const auto br = law->find("br")) stated.br = br->expression(names_);
    if (const auto bc = law->find("bc")) stated.bc = bc->expression(names_);
    if (const auto lse = law->find("lse")) stated.lse = lse->flag();
    if (std::ranges::any_of(result_.launches, [](const LaunchSpec& each) { return !each.bytes.empty(); })) {
      like.fail("\"law\" cannot be combined with \"bytes\" of launches");
    }
    if (result_.br.front() == 0 && !result_.tuned_tile && (!stated.br || !stated.bc))
      like.fail(make_message("{} has no tile: set br and bc in \"law\"", result_.name));
    result_.like = std::move(stated);
  }

  void check_passes() const {
    for (const Pass pass : result_.passes) {
      const auto counts = [&](const LaunchSpec& each) { return each.pass == pass && each.measured; };
      if (std::ranges::any_of(result_.launches, counts)) continue;
      root_.at("launches").fail(make_message("pass {} is supported but has no measured launch", to_string(pass)));
    }
  }

  Value root_;
  std::optional<std::filesystem::path> folder_;
  std::vector<std::string> names_;
  UserSource shared_;
  std::vector<std::string> options_;
  std::shared_ptr<const UserSource> source_;
  KernelManifest result_;
};

}  // namespace

bool KernelManifest::has_host_code() const {
  return std::ranges::any_of(launches, [](const auto& each) { return each.source->has_host_code(); });
}

bool KernelManifest::reports_traffic() const {
  if (like) return !tuned_tile || (like->br && like->bc);
  return std::ranges::all_of(launches, [](const LaunchSpec& each) { return !each.measured || !each.bytes.empty(); });
}

const std::vector<std::string>& predefined_names() {
  static const std::vector<std::string> names{
      "batch",         "heads", "heads_q", "heads_kv", "n_q",         "n_k",          "d",        "br",  "bc",
      "element_bytes", "bf16",  "fp32",    "causal",   "window_left", "window_right", "backward", "sms", "capability"};
  return names;
}

Result<KernelManifest, Message> parse_manifest(std::string_view text,
                                               const std::optional<std::filesystem::path>& folder) {
  const auto json = parse_json_with_lines(text);
  if (!json) return Failure{json.error()};
  try {
    return Parser(*json, folder).parse(text);
  } catch (const ManifestError& wrong) {
    return Failure{wrong.what};
  }
}

}  // namespace attnscope::user

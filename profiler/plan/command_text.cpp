// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/command_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "profiler/plan/fields.h"

namespace attnscope {

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain = "=._:/,+-";
  const bool safe = std::ranges::all_of(word, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || plain.find(c) != std::string_view::npos;
  });
  if (safe) return word;
  std::string inside;
  for (const char c : word) {
    if (c == '\'') inside += "'\\'";
    inside += c;
  }
  return fmt::format("'{}'", inside);
}

namespace {

/// " algorithm=fa2 N=4096 ...", each preceded by `before`.
std::string joined_axis_arguments(const PointSpec& spec, std::string_view before = " ") {
  std::string words;
  for (const std::string& axis : axis_arguments(spec)) words.append(before).append(shell_quoted(axis));
  return words;
}

/// " --kernel FILE" for a user-defined kernel; a literal FILE if its path is unknown.
std::string kernel_option(const PointSpec& spec) {
  const Algorithm* const algorithm = known_algorithms().find(spec.algorithm);
  if (algorithm == nullptr || !algorithm->facts().user_defined) return {};
  const auto& known = user::loaded_kernel_files();
  const auto found = std::ranges::find(known, spec.algorithm, &user::KernelFiles::name);
  return " --kernel " + (found == known.end() ? std::string("FILE") : shell_quoted(found->manifest.string()));
}

/// Values of axes by name, the tile as one axis.
using AxisValues = std::map<std::string, std::string>;
AxisValues axis_values(const PointSpec& point) {
  AxisValues values;
  for (const std::string& axis : axis_arguments(point)) {
    const std::size_t equals = axis.find('=');
    values[axis.substr(0, equals)] = axis.substr(equals + 1);
  }
  if (values.erase("br") + values.erase("bc") > 0) values["tile"] = describe(point.tile);
  return values;
}

}  // namespace

std::vector<std::string> axis_arguments(const PointSpec& spec) {
  std::vector<std::string> texts;
  for (const Field& field : point_fields()) {
    if (field.role == FieldRole::tile && (spec.tile.br < 1 || spec.tile.bc < 1)) continue;
    if (!field.fallback.empty() && is_fallback(field, spec)) continue;
    if (field.role == FieldRole::device_state && spec.cache == CacheState::unknown) continue;  // collect cannot set it
    const FieldPair* wide = field_pair_of(field.name);
    const bool both = wide != nullptr && wide->are_equal_in(spec);
    if (both && field.name == wide->second) continue;
    texts.push_back(fmt::format("{}={}", both ? wide->name : field.name, field_text(field, spec)));
  }
  for (const auto& [name, value] : spec.knobs) texts.push_back(fmt::format("{}={}", name, to_string(value)));
  return texts;
}

std::string collect_command(const PointSpec& spec) {
  return "attnscope collect" + kernel_option(spec) + joined_axis_arguments(spec, " -a ") + " -o point.attnscope";
}

std::string rounds_command(const PointSpec& spec, std::size_t rounds, std::string_view file) {
  return fmt::format("attnscope collect{} --rounds {}{} -o {}", kernel_option(spec), rounds,
                     joined_axis_arguments(spec, " -a "), file);
}

std::string preset_command(const std::vector<std::string>& presets, std::size_t rounds) {
  const std::string one = presets.size() == 1 ? presets.front() : "$preset";
  std::string command = fmt::format("attnscope collect --preset {} --rounds {} -o rounds.attnscope", one, rounds);
  if (presets.size() == 1) return command;
  return fmt::format("for preset in {}; do {}; done", fmt::join(presets, " "), command);
}

std::string sweep_command(std::span<const PointSpec> points, std::size_t rounds) {
  constexpr std::size_t max_excess = 4;
  std::set<std::string> kernels;
  std::set<AxisValues> distinct;
  std::map<std::string, std::vector<std::string>> axes;  // values in order of first occurrence
  for (const PointSpec& point : points) {
    kernels.insert(kernel_option(point));
    for (const auto& [name, value] : axis_values(point)) axes[name];
  }
  for (const PointSpec& point : points) {
    AxisValues of_point = axis_values(point);
    for (auto& [name, values] : axes) {
      const Field* field = find_field(name);
      // A name that another point lacks, such as n_q where that point has N, has no usual value.
      if (!of_point.contains(name) && (field == nullptr || field->fallback.empty())) return {};
      const std::string& value = of_point.try_emplace(name, field == nullptr ? "" : field->fallback).first->second;
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
    distinct.insert(std::move(of_point));
  }
  std::string words;
  std::size_t product = 1;
  for (const auto& [name, values] : axes) {
    product *= values.size();
    if (product > max_excess * distinct.size()) return {};
    const std::string all = fmt::format("{}", fmt::join(values, ","));
    words += " -a " + shell_quoted(fmt::format("{}={}", name, values.size() == 1 ? all : fmt::format("[{}]", all)));
  }
  return fmt::format("attnscope collect{}{} --rounds {} -o rounds.attnscope", fmt::join(kernels, ""), words, rounds);
}

std::string interleaved_command(const PointSpec& base, const PointSpec& other, const InterleavedOptions& options) {
  if (base.cache != other.cache) return {};
  const std::string kernels =
      kernel_option(base) + (other.algorithm == base.algorithm ? std::string() : kernel_option(other));
  std::string command = fmt::format("attnscope ab{} --baseline{} --candidate{}", kernels, joined_axis_arguments(base),
                                    joined_axis_arguments(other));
  const InterleavedOptions usual;
  if (options.samples != usual.samples) command += fmt::format(" --samples {}", options.samples);
  if (options.margin != usual.margin) command += fmt::format(" --margin {:.6g}", 100 * options.margin);
  return command + fmt::format(" --rounds {}", options.rounds);
}

std::string launch_command(const PointSpec& spec) {
  return "attnscope launch" + kernel_option(spec) + joined_axis_arguments(spec);
}

}  // namespace attnscope

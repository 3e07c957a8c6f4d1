// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/command_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
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

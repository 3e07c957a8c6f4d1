// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/source_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/ranges.h>

namespace attnscope::user {
namespace {

constexpr std::array code_options{"--use_fast_math",
                                  "--maxrregcount=",
                                  "--ftz=",
                                  "--prec-div=",
                                  "--prec-sqrt=",
                                  "--fmad=",
                                  "--std=",
                                  "--extra-device-vectorization",
                                  "-D",
                                  "--expt-relaxed-constexpr",
                                  "--expt-extended-lambda"};
/// Kernels are optimized fully, and line numbers are not used.
constexpr std::array unused_options{"-O2", "-O3", "--lineinfo", "--generate-line-info"};

/// nvcc also accepts its long options with a single dash.
std::string canonical(const std::string& option) {
  const bool word = option.size() > 2 && option[0] == '-' && option[1] >= 'a' && option[1] <= 'z';
  return word ? "-" + option : option;
}

bool is_unused(const std::string& option) {
  return std::ranges::find(unused_options, option) != unused_options.end();
}

}  // namespace

bool is_macro_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::vector<std::string> parse_source_options(const Value& list) {
  std::vector<std::string> options;
  for (const Value& each : list.list()) {
    options.push_back(canonical(each.text()));
    const auto matches = [&](std::string_view known) {
      const std::string& option = options.back();
      if (known == "-D") return option.starts_with(known) && is_macro_name(option.substr(2, option.find('=') - 2));
      return known.ends_with('=') ? option.starts_with(known) : option == known;
    };
    if (is_unused(options.back()) || std::ranges::any_of(code_options, matches)) continue;
    each.fail_type(make_message("one of {}, {}", fmt::join(code_options, ", "), fmt::join(unused_options, ", ")));
  }
  return options;
}

UserSource::Compiler parse_compiler(const Value& value) {
  return value.keyword({"nvrtc", "nvcc"}) == "nvcc" ? UserSource::Compiler::nvcc : UserSource::Compiler::nvrtc;
}

void set_source_options(UserSource& source, const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    // NVRTC compiles constexpr functions and lambdas for the device by default.
    const bool implied = source.compiler == UserSource::Compiler::nvrtc && option.starts_with("--expt-");
    (is_unused(option) || implied ? source.ignored_options : source.options).push_back(option);
  }
}

}  // namespace attnscope::user

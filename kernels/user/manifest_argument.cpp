// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/manifest_argument.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

namespace attnscope::user {
namespace {

using Type = ArgumentSpec::Type;
constexpr std::array number_types{std::pair{"int ", Type::int32},     std::pair{"long ", Type::int64},
                                  std::pair{"float ", Type::float32}, std::pair{"double ", Type::float64},
                                  std::pair{"half ", Type::float16},  std::pair{"bool ", Type::boolean}};

const std::string& known_buffer(const Value& value, const ArgumentNames& names) {
  if (std::ranges::find(names.buffers, value.text()) == names.buffers.end()) {
    value.fail(
        make_message("unknown buffer '{}'; available: {}, null; for a number write \"int EXPRESSION\" (or long, float, "
                     "double, half, bool)",
                     value.text(), fmt::join(names.buffers, ", ")));
  }
  return value.text();
}

ArgumentSpec parse_tensor_map(const Value& value, const ArgumentNames& names) {
  value.object({"map", "extents", "strides", "box", "swizzle"});
  ArgumentSpec map;
  map.type = Type::tensor_map;
  map.buffer = known_buffer(value.at("map"), names);
  static constexpr std::array others{"lse", "key_lengths", "block_mask", "q_starts", "k_starts"};
  if (std::ranges::find(others, map.buffer) != others.end()) {
    value.at("map").fail(
        make_message("a tensor map requires elements of the problem's type, which '{}' does not have", map.buffer));
  }
  const auto add = [&](const char* key, std::vector<Expression>& all) {
    for (const Value& each : value.at(key).list()) all.push_back(each.expression(names.variables));
  };
  add("extents", map.extents);
  add("box", map.box);
  if (map.extents.size() > 1) add("strides", map.strides);
  constexpr std::size_t most = 5;
  if (map.extents.size() > most || map.box.size() != map.extents.size() ||
      map.strides.size() != map.extents.size() - 1) {
    value.fail("a tensor map needs one to five extents, as many box sides, and one stride fewer");
  }
  if (const auto swizzle = value.find("swizzle")) {
    const std::int64_t bytes = swizzle->number(0, 128);
    if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128) {
      swizzle->fail_type("one of 0, 32, 64, 128");
    }
    map.swizzle_bytes = static_cast<int>(bytes);
  }
  return map;
}

/// A buffer, "null" or a number.
ArgumentSpec parse_plain(const Value& value, const ArgumentNames& names) {
  ArgumentSpec argument;
  const std::string_view text = value.text();
  for (const auto& [word, type] : number_types) {
    if (!text.starts_with(word)) continue;
    argument.type = type;
    argument.value = value.expression(text.substr(std::string_view(word).size()), names.variables);
    return argument;
  }
  if (text != "null") argument.buffer = known_buffer(value, names);
  return argument;
}

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

ArgumentSpec parse_argument(const Value& value, const ArgumentNames& names) {
  if (!value.is_object()) return parse_plain(value, names);
  if (!value.find("struct")) return parse_tensor_map(value, names);
  value.object({"struct"});
  ArgumentSpec structure;
  structure.type = Type::structure;
  for (const Value& each : value.at("struct").list()) structure.members.push_back(parse_plain(each, names));
  return structure;
}

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

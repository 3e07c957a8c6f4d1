// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/user_source.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "profiler/measure/gpu/user/argument_bytes.h"
#include "profiler/measure/gpu/user/elf_file.h"
#include "profiler/measure/gpu/user/source_text.h"

namespace attnscope::gpu {
namespace {

/// Parses a .nv.info section: records of format, attribute and a 16-bit value, which is a byte count for sized records.
std::optional<std::vector<std::size_t>> parse_cubin_parameters(std::string_view info) {
  constexpr unsigned char sized = 4;       // EIFMT_SVAL
  constexpr unsigned char parameter = 23;  // EIATTR_KPARAM_INFO: index, ordinal and offset (16 bits), bytes << 18
  std::map<std::uint16_t, std::size_t> bytes;
  while (info.size() >= 4) {
    const auto form = static_cast<unsigned char>(info[0]);
    const auto attribute = static_cast<unsigned char>(info[1]);
    const std::size_t follow = form == sized ? *read_at<std::uint16_t>(info, 2) : 0;
    const std::string_view value = image_part(info, 4, follow);
    if (form == sized && attribute == parameter) {
      const auto ordinal = read_at<std::uint16_t>(value, 4);
      const auto packed = read_at<std::uint32_t>(value, 8);
      if (!ordinal || !packed) return std::nullopt;
      bytes[*ordinal] = *packed >> 18U;
    }
    info.remove_prefix(std::min(info.size(), 4 + follow));
  }
  if (bytes.empty()) return std::nullopt;  // no parameters, or another encoding
  std::vector<std::size_t> all;
  all.reserve(bytes.size());
  for (const auto& [ordinal, size] : bytes) all.push_back(size);
  return all;
}

constexpr std::string_view ptx_blanks = " \t\r\n\f\v";

/// ".param .u64 .ptr .global q" or ".param .align 64 .b8 map[128]"
std::optional<std::size_t> parameter_size(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
    const bool hexadecimal = digits.starts_with("0x");
    if (hexadecimal) digits.remove_prefix(2);
    std::size_t value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    return end.ec == std::errc() && value > 0 ? std::optional(value) : std::nullopt;
  };
  std::size_t type = std::string_view::npos;
  for (const char* each : {".u", ".s", ".b", ".f"}) {
    for (std::size_t i = text.find(each); i != std::string_view::npos; i = text.find(each, i + 1)) {
      if (i + 2 < text.size() && text[i + 2] >= '1' && text[i + 2] <= '9') type = std::min(type, i);
    }
  }
  if (!text.starts_with(".param") || type == std::string_view::npos) return std::nullopt;
  const auto bits = number(text.substr(type + 2));
  const std::size_t open = text.find('[');
  const auto count = open == std::string_view::npos ? std::optional<std::size_t>(1) : number(text.substr(open + 1));
  return bits && count ? std::optional(*bits / 8 * *count) : std::nullopt;
}

std::optional<std::vector<std::size_t>> parse_ptx_parameters(std::string_view image, std::string_view entry) {
  const std::string plain = strip_comments(std::string(image));  // parameter lists may contain comments
  std::string_view text = plain;
  const auto skip_blanks = [&] { text.remove_prefix(std::min(text.find_first_not_of(ptx_blanks), text.size())); };
  constexpr std::string_view directive = ".entry";
  for (std::size_t at = text.find(directive); at != std::string_view::npos; at = text.find(directive)) {
    text.remove_prefix(at + directive.size());
    skip_blanks();
    if (!text.starts_with(entry)) continue;
    text.remove_prefix(entry.size());
    skip_blanks();
    if (!text.starts_with('(')) continue;
    std::string_view list = text.substr(1, text.find(')') - 1);
    std::vector<std::size_t> all;
    while (list.find_first_not_of(ptx_blanks) != std::string_view::npos) {
      list.remove_prefix(list.find_first_not_of(ptx_blanks));
      const auto bytes = parameter_size(list.substr(0, list.find(',')));
      if (!bytes) return std::nullopt;
      all.push_back(*bytes);
      list.remove_prefix(std::min(list.find(','), list.size() - 1) + 1);
    }
    return all;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::size_t>> parameter_sizes(std::string_view image, std::string_view entry) {
  if (!image.starts_with(ELFMAG)) return parse_ptx_parameters(image, entry);
  return parse_cubin_parameters(elf_section(image, ".nv.info." + std::string(entry)));
}

Message argument_mismatch(const KernelLaunch& launch, std::string_view image, std::string_view symbol) {
  const auto taken = parameter_sizes(image, symbol);
  if (!taken) return {};
  if (taken->size() != launch.arguments.size()) {
    return make_reason("compile.argument_count", "{} takes {} arguments, but the manifest lists {}.",
                       launch.source.entry, taken->size(), launch.arguments.size());
  }
  for (std::size_t i = 0; i < taken->size(); ++i) {
    const std::size_t stated = argument_bytes(launch.arguments[i]);
    const bool narrow = std::holds_alternative<std::int32_t>(launch.arguments[i]) && (*taken)[i] <= sizeof(short);
    if (stated == (*taken)[i] || narrow) continue;  // the driver takes the low bytes for bool and short
    return make_reason("compile.argument_bytes",
                       "Argument {} of {} has {} bytes, but the manifest gives {} (pointer, long, double: 8; int, "
                       "float: 4; half: 2; bool: 1; tensor map: 128; struct: padded members).",
                       i + 1, launch.source.entry, (*taken)[i], stated);
  }
  return {};
}

}  // namespace attnscope::gpu

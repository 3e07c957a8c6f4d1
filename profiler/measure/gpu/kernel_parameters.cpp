// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/kernel_parameters.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "messages/compile.h"

namespace attnscope::gpu {
namespace {

/// Nothing where the image ends before.
template <class T>
std::optional<T> at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

std::string_view part(std::string_view image, std::uint64_t offset, std::uint64_t bytes) {
  return offset > image.size() ? std::string_view() : image.substr(offset, bytes);
}

std::string_view section_of(std::string_view image, const std::string& name) {
  const auto header = at<Elf64_Ehdr>(image, 0);
  if (!header || !image.starts_with(ELFMAG)) return {};
  const auto section = [&](std::uint64_t i) { return at<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr)); };
  const auto names = section(header->e_shstrndx);
  if (!names) return {};
  const std::string_view text = part(image, names->sh_offset, names->sh_size);
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto each = section(i);
    if (!each) return {};
    const std::string_view its = part(text, each->sh_name, text.size());
    if (its.substr(0, its.find('\0')) == name) return part(image, each->sh_offset, each->sh_size);
  }
  return {};
}

/// Records of a section .nv.info: a form, an attribute, and 16 bits that are its value or how many bytes follow.
std::optional<std::vector<std::size_t>> of_cubin(std::string_view info) {
  constexpr unsigned char sized = 4;       // EIFMT_SVAL
  constexpr unsigned char parameter = 23;  // EIATTR_KPARAM_INFO: index, ordinal and offset (16 bits), bytes << 18
  std::map<std::uint16_t, std::size_t> bytes;
  while (info.size() >= 4) {
    const auto form = static_cast<unsigned char>(info[0]);
    const auto attribute = static_cast<unsigned char>(info[1]);
    const std::size_t follow = form == sized ? *at<std::uint16_t>(info, 2) : 0;
    const std::string_view value = part(info, 4, follow);
    if (form == sized && attribute == parameter) {
      const auto ordinal = at<std::uint16_t>(value, 4);
      const auto packed = at<std::uint32_t>(value, 8);
      if (!ordinal || !packed) return std::nullopt;
      bytes[*ordinal] = *packed >> 18U;
    }
    info.remove_prefix(std::min(info.size(), 4 + follow));
  }
  if (bytes.empty()) return std::nullopt;  // of none, or of a compiler that says it otherwise
  std::vector<std::size_t> all;
  for (const auto& [ordinal, size] : bytes) all.push_back(size);
  return all;
}

/// ".param .u64 .ptr .global q" or ".param .align 64 .b8 map[128]".
std::optional<std::size_t> bytes_of_parameter(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
    std::size_t value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return end.ec == std::errc() ? std::optional(value) : std::nullopt;
  };
  std::size_t type = std::string_view::npos;
  for (const char* each : {".u", ".s", ".b", ".f"}) {
    for (std::size_t i = text.find(each); i != std::string_view::npos; i = text.find(each, i + 1)) {
      if (i + 2 < text.size() && text[i + 2] >= '1' && text[i + 2] <= '9') type = std::min(type, i);
    }
  }
  if (type == std::string_view::npos) return std::nullopt;
  const auto bits = number(text.substr(type + 2));
  const std::size_t open = text.find('[');
  const auto count = open == std::string_view::npos ? std::optional<std::size_t>(1) : number(text.substr(open + 1));
  return bits && count ? std::optional(*bits / 8 * *count) : std::nullopt;
}

std::optional<std::vector<std::size_t>> of_ptx(std::string_view text, const std::string& entry) {
  const std::size_t begin = text.find(".entry " + entry + "(");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find(')', begin) - begin);
  std::vector<std::size_t> all;
  for (std::size_t i = text.find(".param "); i != std::string_view::npos;) {
    const std::size_t next = text.find(".param ", i + 1);
    const auto bytes = bytes_of_parameter(text.substr(i, next - i));
    if (!bytes) return std::nullopt;
    all.push_back(*bytes);
    i = next;
  }
  return all;
}

std::size_t bytes_of(const Argument& argument) {
  constexpr std::size_t pointer = 8;
  constexpr std::size_t tensor_map = 128;
  return std::visit(
      [](const auto& value) -> std::size_t {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T>) return sizeof value;
        return std::is_same_v<T, TensorMapArgument> ? tensor_map : pointer;
      },
      argument);
}

}  // namespace

std::optional<std::vector<std::size_t>> parameter_bytes(std::string_view image, std::string_view entry) {
  if (!image.starts_with(ELFMAG)) return of_ptx(image, std::string(entry));
  return of_cubin(section_of(image, ".nv.info." + std::string(entry)));
}

Message wrong_arguments(const KernelLaunch& launch, std::string_view image) {
  const auto taken = parameter_bytes(image, launch.source.entry);
  if (!taken) return {};
  if (taken->size() != launch.arguments.size()) {
    return say::compile::argument_count{
        .entry = launch.source.entry, .taken = taken->size(), .stated = launch.arguments.size()};
  }
  for (std::size_t i = 0; i < taken->size(); ++i) {
    const std::size_t stated = bytes_of(launch.arguments[i]);
    if (stated == (*taken)[i]) continue;
    return say::compile::argument_bytes{
        .number = i + 1, .entry = launch.source.entry, .taken = (*taken)[i], .stated = stated};
  }
  return {};
}

}  // namespace attnscope::gpu

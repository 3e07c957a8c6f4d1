// SPDX-License-Identifier: Apache-2.0
// Reads 64-bit ELF files: cubins and shared libraries. Files are untrusted.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

namespace attnscope::gpu {

/// Value at a byte offset; nothing if the image is too short.
template <class T>
std::optional<T> read_at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

/// Part of an image, shortened to what exists.
[[nodiscard]] std::string_view image_part(std::string_view image, std::uint64_t offset, std::uint64_t bytes);

/// Header of the file; nothing if it is not a 64-bit ELF file.
[[nodiscard]] std::optional<Elf64_Ehdr> elf_header(std::string_view image);

/// Contents of a section; empty if there is none.
[[nodiscard]] std::string_view elf_section(std::string_view image, std::string_view name);

/// Calls `visit` for each symbol with a name in the first table of `type`, SHT_SYMTAB or SHT_DYNSYM; ignores names of
/// 4096 bytes or more and all but 1,048,576 symbols.
void for_each_symbol(std::string_view image, std::uint32_t type,
                     const std::function<void(std::string_view name, const Elf64_Sym&)>& visit);

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/elf_file.h"

#include <algorithm>
#include <vector>

namespace attnscope::gpu {
namespace {

/// Limits for damaged or malicious files.
constexpr std::uint64_t max_name_bytes = 4096;
constexpr std::uint64_t max_symbols = std::uint64_t{1} << 20U;

std::vector<Elf64_Shdr> elf_sections(std::string_view image) {
  std::vector<Elf64_Shdr> sections;
  const auto header = elf_header(image);
  if (header && header->e_shentsize != sizeof(Elf64_Shdr)) return sections;
  for (std::uint64_t i = 0; header && i < header->e_shnum; ++i) {
    const auto each = read_at<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!each) break;
    sections.push_back(*each);
  }
  return sections;
}

/// Name in a string table; empty if it is too long or has no end.
std::string_view table_name(std::string_view table, std::uint64_t at) {
  const std::string_view rest = image_part(table, at, max_name_bytes);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

std::string_view image_part(std::string_view image, std::uint64_t offset, std::uint64_t bytes) {
  return offset > image.size() ? std::string_view() : image.substr(offset, bytes);
}

std::optional<Elf64_Ehdr> elf_header(std::string_view image) {
  const auto header = read_at<Elf64_Ehdr>(image, 0);
  return header && image.starts_with(ELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64 ? header : std::nullopt;
}

std::string_view elf_section(std::string_view image, std::string_view name) {
  const std::vector<Elf64_Shdr> sections = elf_sections(image);
  const auto header = elf_header(image);
  if (!header || header->e_shstrndx >= sections.size()) return {};
  const Elf64_Shdr& names = sections[header->e_shstrndx];
  const std::string_view table = image_part(image, names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& each : sections) {
    if (table_name(table, each.sh_name) == name) return image_part(image, each.sh_offset, each.sh_size);
  }
  return {};
}

void for_each_symbol(std::string_view image, std::uint32_t type,
                     const std::function<void(std::string_view, const Elf64_Sym&)>& visit) {
  const std::vector<Elf64_Shdr> sections = elf_sections(image);
  const auto found = std::ranges::find(sections, type, &Elf64_Shdr::sh_type);
  if (found == sections.end() || found->sh_link >= sections.size()) return;
  const Elf64_Shdr& names = sections[found->sh_link];
  const std::string_view table = image_part(image, names.sh_offset, names.sh_size);
  const std::string_view symbols =
      image_part(image, found->sh_offset, std::min(found->sh_size, max_symbols * sizeof(Elf64_Sym)));
  for (std::uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(symbols, at); at += sizeof(Elf64_Sym)) {
    const std::string_view name = table_name(table, symbol->st_name);
    if (!name.empty()) visit(name, *symbol);
  }
}

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/elf_file.h"

#include <vector>

namespace attnscope::gpu {
namespace {

std::vector<Elf64_Shdr> elf_sections(std::string_view image) {
  std::vector<Elf64_Shdr> sections;
  const auto header = elf_header(image);
  for (std::uint64_t i = 0; header && i < header->e_shnum; ++i) {
    const auto each = read_at<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!each) break;
    sections.push_back(*each);
  }
  return sections;
}

/// Name in a string table; empty if it has no end.
std::string_view table_name(std::string_view table, std::uint64_t at) {
  const std::string_view rest = image_part(table, at, table.size());
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
                     const std::function<void(std::string_view, const Elf64_Sym&)>& use) {
  const std::vector<Elf64_Shdr> sections = elf_sections(image);
  for (const Elf64_Shdr& each : sections) {
    if (each.sh_type != type || each.sh_link >= sections.size()) continue;
    const Elf64_Shdr& names = sections[each.sh_link];
    const std::string_view table = image_part(image, names.sh_offset, names.sh_size);
    const std::string_view symbols = image_part(image, each.sh_offset, each.sh_size);
    for (std::uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(symbols, at); at += sizeof(Elf64_Sym)) {
      const std::string_view name = table_name(table, symbol->st_name);
      if (!name.empty()) use(name, *symbol);
    }
  }
}

}  // namespace attnscope::gpu

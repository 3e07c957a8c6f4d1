// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/kernel_entry.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string/erase.hpp>

#include "profiler/measure/gpu/user/source_text.h"

namespace attnscope::gpu {
namespace {

// Files are untrusted.

/// Limits for damaged or malicious files.
constexpr std::uint64_t max_name_bytes = 4096;
constexpr std::uint64_t max_symbols = std::uint64_t{1} << 20U;

/// Value at a byte offset; nothing if the image is too short.
template <class T>
std::optional<T> read_at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

/// Part of an image, shortened to what exists.
std::string_view image_part(std::string_view image, std::uint64_t offset, std::uint64_t bytes) {
  return offset > image.size() ? std::string_view() : image.substr(offset, bytes);
}

/// Header of the file; nothing if it is not a 64-bit ELF file.
std::optional<Elf64_Ehdr> elf_header(std::string_view image) {
  const auto header = read_at<Elf64_Ehdr>(image, 0);
  return header && image.starts_with(ELFMAG) && header->e_ident[EI_CLASS] == ELFCLASS64 ? header : std::nullopt;
}

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

/// Symbols of the kernels in a cubin.
std::vector<std::string> elf_kernels(std::string_view image) {
  constexpr unsigned char kernel_flag = 0x10;  // STO_CUDA_ENTRY
  constexpr std::size_t max_kernels = 65'536;
  std::vector<std::string> kernels;
  const std::vector<Elf64_Shdr> sections = elf_sections(image);
  const auto found = std::ranges::find(sections, std::uint32_t{SHT_SYMTAB}, &Elf64_Shdr::sh_type);
  if (found == sections.end() || found->sh_link >= sections.size()) return kernels;
  const Elf64_Shdr& names = sections[found->sh_link];
  const std::string_view table = image_part(image, names.sh_offset, names.sh_size);
  const std::string_view symbols =
      image_part(image, found->sh_offset, std::min(found->sh_size, max_symbols * sizeof(Elf64_Sym)));
  for (std::uint64_t at = 0; const auto symbol = read_at<Elf64_Sym>(symbols, at); at += sizeof(Elf64_Sym)) {
    const std::string_view name = table_name(table, symbol->st_name);
    const bool is_kernel = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & kernel_flag) != 0;
    if (is_kernel && !name.empty() && kernels.size() < max_kernels) kernels.emplace_back(name);
  }
  return kernels;
}

/// Returns false for symbols that may be much longer when demangled: substitutions (S1_, T_) of substitutions double
/// the length with every few characters.
bool is_short_when_demangled(std::string_view symbol) {
  constexpr std::size_t max_symbol = 1024;
  constexpr std::size_t max_growth = 1024;
  if (symbol.size() > max_symbol) return false;
  std::map<std::string_view, std::size_t> uses;
  for (std::size_t at = symbol.find_first_of("ST"); at != std::string_view::npos;
       at = symbol.find_first_of("ST", at + 1)) {
    const std::size_t end = symbol.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at);
    if (end != std::string_view::npos && symbol[end] == '_') ++uses[symbol.substr(at, end - at)];
  }
  std::size_t growth = 1;  // each use copies its target; a target contains only earlier ones
  for (const auto& [target, count] : uses) growth = std::min(growth * (1 + count), max_growth + 1);
  return growth <= max_growth;
}

/// The symbol itself if it is not mangled.
std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

/// Demangled, without return type and anonymous namespaces.
std::string signature(const std::string& symbol) {
  std::string text = demangled(symbol);
  boost::erase_all(text, "(anonymous namespace)::");
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

/// "kernel<64, true>" of _Z6kernelILi64ELb1EEvPf. The symbol itself if it is not mangled or its name may be very long.
std::string kernel_name(const std::string& symbol) {
  if (!is_short_when_demangled(symbol)) return symbol;
  const std::string name = signature(symbol);
  int depth = 0;
  const auto end = std::ranges::find_if(name, [&](char c) {
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    return depth == 0 && c == '(';
  });
  return {name.begin(), end};
}

/// Without blanks, casts and suffixes of integers: "k<64u, (bool)1>" and "k<64,true>" are equal.
std::string comparable(const std::string& name) {
  std::string plain = replace_words(name, [](std::string_view word) -> std::string {
    if (word == "true") return "1";
    if (word == "false") return "0";
    if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) return std::string(word);
    return std::string(word.substr(0, word.find_first_of("uUlL")));
  });
  std::erase_if(plain, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  for (std::size_t at = plain.find('('); at != std::string::npos; at = plain.find('(')) {
    const std::size_t end = plain.find(')', at);
    if (end == std::string::npos) break;
    plain.erase(at, end - at + 1);
  }
  return plain;
}

std::vector<std::string> ptx_entries(std::string_view image) {
  const std::string plain = strip_comments(std::string(image));
  std::vector<std::string> names;
  constexpr std::string_view directive = ".entry";
  for (std::size_t at = plain.find(directive); at != std::string::npos; at = plain.find(directive, at + 1)) {
    const std::size_t begin = plain.find_first_not_of(" \t\r\n", at + directive.size());
    if (begin == std::string::npos || begin == at + directive.size()) continue;
    names.push_back(plain.substr(begin, plain.find_first_of(" \t\r\n(", begin) - begin));
  }
  return names;
}

}  // namespace

std::string short_kernel_name(const std::string& symbol) {
  const std::string text = signature(symbol);
  return text.substr(0, text.find_first_of("<("));
}

std::string instantiated_entry(const KernelSource& source) {
  const std::size_t open = source.entry.find('<');
  if (open == std::string::npos) return source.entry;
  return source.entry.substr(0, open) +
         replace_words(std::string_view(source.entry).substr(open), [&](std::string_view word) {
           const std::string begin = std::string(word) + "=";
           const auto define =
               std::ranges::find_if(source.defines, [&](const auto& each) { return each.starts_with(begin); });
           return define == source.defines.end() ? std::string(word) : define->substr(begin.size());
         });
}

std::optional<std::vector<std::string>> kernel_symbols(std::string_view image) {
  if (elf_header(image)) return elf_kernels(image);
  if (image.find(".version") == std::string_view::npos) return std::nullopt;
  return ptx_entries(image);
}

std::string instance_symbol(std::string_view image) {
  const auto symbols = kernel_symbols(image).value_or(std::vector<std::string>());
  const auto marker =
      std::ranges::find_if(symbols, [](const std::string& each) { return each.starts_with("_Z15attnscope_entryI"); });
  if (marker == symbols.end()) return {};
  // Symbols differ: the marker's refers to types in its own order.
  const std::string text = demangled(*marker);
  const auto found = std::ranges::find_if(
      symbols, [&](const std::string& each) { return text.ends_with("&(" + demangled(each) + ")>()"); });
  return found == symbols.end() ? std::string() : *found;
}

Result<std::string, Message> find_symbol(const KernelSource& source, std::string_view image) {
  const auto symbols = kernel_symbols(image);
  if (!symbols || std::ranges::find(*symbols, source.entry) != symbols->end()) return source.entry;
  const std::string entry = comparable(instantiated_entry(source));
  const std::string qualified = entry.substr(0, entry.find('<'));
  const std::string base = qualified.substr(qualified.rfind(':') + 1);
  const std::string mangled = fmt::format("{}{}", base.size(), base);
  std::vector<std::string> exact;
  std::ranges::copy_if(*symbols, std::back_inserter(exact), [&](const std::string& each) {
    return each.find(mangled) != std::string::npos && comparable(kernel_name(each)) == entry;
  });
  if (exact.size() == 1) return exact.front();
  constexpr std::size_t max_listed = 8;
  std::vector<std::string> listed;
  for (std::size_t i = 0; i < std::min(symbols->size(), max_listed); ++i) {
    // Overloads have one name, so that only symbols tell them apart.
    listed.push_back(exact.empty() ? kernel_name((*symbols)[i]) : (*symbols)[i]);
  }
  if (symbols->size() > max_listed) listed.emplace_back("...");
  if (listed.empty()) {
    return Failure{make_reason("point.no_entry",
                               "{} has no kernel '{}' and no other kernel (instantiate a template with \"entry\": "
                               "\"NAME<ARGUMENTS>\")",
                               source.file, source.entry)};
  }
  return Failure{make_reason("point.no_entry", "{} has {} '{}' (set \"entry\" to one of its kernels: {})", source.file,
                             exact.empty() ? "no kernel" : "several kernels", source.entry, fmt::join(listed, ", "))};
}

}  // namespace attnscope::gpu

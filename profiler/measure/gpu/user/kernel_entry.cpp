// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/kernel_entry.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiler/measure/gpu/user/elf_file.h"
#include "profiler/measure/gpu/user/source_text.h"

namespace attnscope::gpu {
namespace {

/// "kernel<64, true>" of _Z6kernelILi64ELb1EEvPf: without return type, parameters and anonymous namespaces. The symbol
/// itself if it is not mangled.
std::string kernel_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return symbol;
  std::string name = demangled.get();
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous))
    name.erase(at, anonymous.size());
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
    if (depth == 0 && name[at] == ' ') begin = at + 1;  // the return type of a template
    if (depth == 0 && name[at] == '(') return name.substr(begin, at - begin);
  }
  return name.substr(begin);
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
  if (!elf_header(image)) {
    if (image.find(".version") == std::string_view::npos) return std::nullopt;
    return ptx_entries(image);
  }
  constexpr unsigned char kernel_flag = 0x10;  // STO_CUDA_ENTRY
  std::vector<std::string> names;
  for_each_symbol(image, SHT_SYMTAB, [&](std::string_view name, const Elf64_Sym& symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kernel_flag) != 0) names.emplace_back(name);
  });
  return names;
}

Result<std::string, Message> find_symbol(const KernelSource& source, std::string_view image) {
  const auto symbols = kernel_symbols(image);
  if (!symbols || std::ranges::find(*symbols, source.entry) != symbols->end()) return source.entry;
  const std::string entry = comparable(instantiated_entry(source));
  const auto matches = [&](const auto& is_match) {
    std::vector<std::string> all;
    std::ranges::copy_if(*symbols, std::back_inserter(all), is_match);
    return all;
  };
  const auto exact = matches([&](const std::string& each) { return comparable(kernel_name(each)) == entry; });
  if (exact.size() == 1) return exact.front();
  // Template arguments may be aliases or constants, which the symbol does not name.
  const std::string base = entry.substr(0, entry.find('<') + 1);
  const auto instances = matches(
      [&](const std::string& each) { return base.ends_with('<') && comparable(kernel_name(each)).starts_with(base); });
  if (exact.empty() && instances.size() == 1) return instances.front();
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

Message library_file_error(const std::string& name, std::string_view image) {
#if defined(__aarch64__)
  constexpr std::uint16_t machine = EM_AARCH64;
#else
  constexpr std::uint16_t machine = EM_X86_64;
#endif
  const auto header = elf_header(image);
  if (!header || header->e_type != ET_DYN || header->e_machine != machine) {
    return make_reason("compile.no_library",
                       "{} cannot be loaded: it is not a shared library for this machine (build it with -shared).",
                       name);
  }
  constexpr std::string_view entry = "attnscope_kernel_v1";
  bool exported = false;
  for_each_symbol(image, SHT_DYNSYM, [&](std::string_view each, const Elf64_Sym& symbol) {
    exported = exported || (each == entry && symbol.st_shndx != SHN_UNDEF);
  });
  if (exported) return {};
  return make_reason("compile.no_interface",
                     "{} does not export {} (include attnscope_kernel.h and declare the function extern \"C\").", name,
                     entry);
}

}  // namespace attnscope::gpu

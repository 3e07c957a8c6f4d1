// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/embedded_sources.h"
#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/measure/gpu/driver/nvcc.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "profiler/measure/gpu/user/user_source.h"

namespace attnscope::gpu {
namespace {

/// Returns the integer in front of `phrase`: 40 for "Used 40 registers"; 0 if absent.
std::int64_t number_before(std::string_view text, std::string_view phrase) {
  std::size_t end = text.find(phrase);
  if (end == std::string_view::npos) return 0;
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  std::from_chars(text.data() + begin, text.data() + end, value);
  return value;
}

/// "nvrtcGetCUBIN: NVRTC_ERROR_INVALID_PROGRAM"
std::string failed(const char* call, const char* answer) {
  return fmt::format("{}: {}", call, answer);
}

struct ProgramText {
  const char* main = nullptr;  ///< Null if there is no such source.
  std::vector<std::string> header_names;
  std::vector<const char*> header_texts;
  /// Stand-ins with the name of a file that the user includes. NVRTC would prefer their texts for #include "NAME", too.
  std::vector<EmbeddedSource> replaced;
};

ProgramText program_text(const KernelSource& source, const UserSourceText* user) {
  ProgramText program;
  const auto add = [&](const EmbeddedSource& header) {
    program.header_names.emplace_back(header.path);
    program.header_texts.push_back(header.text.data());
  };
  if (user == nullptr) {
    for (const EmbeddedSource& embedded : embedded_sources()) {
      if (embedded.path == source.file) {
        program.main = embedded.text.data();
      } else if (!embedded.path.ends_with(".csv")) {
        add(embedded);
      }
    }
    return program;
  }
  program.main = user->text.c_str();
  for (const EmbeddedSource& header : host_headers()) {
    if (std::ranges::find(user->files, header.path, &ManifestSource::name) == user->files.end()) {
      add(header);
    } else {
      program.replaced.push_back(header);
    }
  }
  return program;
}

}  // namespace

Result<Nvrtc, Message> Nvrtc::load() {
  const auto library = DynamicLibrary::open({.title = "NVRTC",
                                             .override_variable = "ATTNSCOPE_NVRTC_LIBRARY",
                                             .names = {"libnvrtc.so.13", "libnvrtc.so.12"},
                                             .folders = toolkit_library_folders()});
  if (!library) return Failure{library.error().what};
  Nvrtc nvrtc;
  nvrtc.path_ = library->path();
  std::string missing;
  const auto bind = [&](auto& function, const char* name) {
    if (!library->bind(function, name) && missing.empty()) missing = name;
  };
#define ATTNSCOPE_BIND(name) bind(nvrtc.api_.name, #name);
  ATTNSCOPE_NVRTC_FUNCTIONS(ATTNSCOPE_BIND)
#undef ATTNSCOPE_BIND
  if (!missing.empty()) {
    return Failure{make_message("NVRTC {}: missing function {}.", nvrtc.path_.string(), missing)};
  }
  int major = 0;
  int minor = 0;
  if (nvrtc.api_.nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) {
    return Failure{make_message("NVRTC {}: nvrtcVersion failed.", nvrtc.path_.string())};
  }
  nvrtc.version_ = fmt::format("{}.{}", major, minor);
  return nvrtc;
}

Message Nvrtc::unsupported_reason(std::string_view arch) const {
  int count = 0;
  constexpr int most = 10'000;
  std::vector<int> known;
  const char* call = "nvrtcGetNumSupportedArchs";
  nvrtcResult result = api_.nvrtcGetNumSupportedArchs(&count);
  if (result == NVRTC_SUCCESS && count > 0 && count < most) {
    known.resize(static_cast<std::size_t>(count));
    call = "nvrtcGetSupportedArchs";
    result = api_.nvrtcGetSupportedArchs(known.data());
  }
  if (result != NVRTC_SUCCESS || known.empty()) {
    return make_reason("compile.archs_unknown", "NVRTC {} cannot list its architectures: {}.", version_,
                       failed(call, api_.nvrtcGetErrorString(result)));
  }
  std::erase_if(known, [](int each) { return each < 80; });
  for (const int each : known) {
    const std::string name = fmt::format("sm_{}", each);
    if (arch == name || arch == name + "a" || arch == name + "f") return {};
  }
  return make_reason("compile.other_arch", "'{}' is not supported by NVRTC {} (supported: sm_{}).", arch, version_,
                     fmt::join(known, ", sm_"));
}

std::vector<std::filesystem::path> Nvrtc::include_folders() const {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  const std::filesystem::path library = std::filesystem::weakly_canonical(path_, error).parent_path();
  for (const char* relative : {"../include", "../../../include", "../../cuda_runtime/include"}) {
    const auto folder = (library / relative).lexically_normal();
    if (!std::filesystem::is_regular_file(folder / "cuda_fp16.h", error)) continue;
    folders.push_back(folder);
    if (std::filesystem::is_directory(folder / "cccl", error)) folders.push_back(folder / "cccl");
  }
  return folders;
}

Result<Compiled, Message> Nvrtc::compile(const KernelSource& source, const std::vector<std::string>& options,
                                         const UserSourceText* user) const {
  auto first = compile(source, options, user, true);
  const bool redeclares = !first && user != nullptr &&
                          english_text(first.error()).find("invalid redeclaration of type name") != std::string::npos;
  if (!redeclares) return first;
  auto without = compile(source, options, user, false);  // the source declares uint64_t differently, for example
  return without ? std::move(without) : std::move(first);
}

Result<std::string, Message> Nvrtc::entry_symbol(const KernelSource& source, nvrtcProgram program,
                                                 const std::string& instance, const std::string& cubin) const {
  if (instance.empty()) return source.user_source ? find_symbol(source, cubin) : source.entry;
  const char* symbol = nullptr;
  const nvrtcResult result = api_.nvrtcGetLoweredName(program, instance.c_str(), &symbol);
  if (result == NVRTC_SUCCESS) return std::string(symbol);
  return Failure{Message::verbatim(failed("nvrtcGetLoweredName", api_.nvrtcGetErrorString(result)))};
}

Result<Compiled, Message> Nvrtc::compile(const KernelSource& source, const std::vector<std::string>& options,
                                         const UserSourceText* user, bool implicit) const {
  const ProgramText text = program_text(source, user);
  if (text.main == nullptr)
    return Failure{make_reason("compile.no_source", "{} is not an embedded kernel source.", source.file)};
  const std::string name = source.user_source ? source.user_source->file.string() : source.file;
  const auto name_pointers = c_strings(text.header_names);
  std::vector<std::string> all_options = options;
  // Without the option, NVRTC 13 returns kernels of its own cache without a log, and the kernel would appear to have
  // no registers and no spills.
  if (!version_.starts_with("12.")) all_options.emplace_back("--no-cache");
  std::optional<ScratchFolder> replaced;
  if (user != nullptr) {  // not part of the cache key: paths do not change the code
    if (implicit) all_options.push_back(fmt::format("--pre-include={}", implicit_header));
    for (const auto& folder : include_search_path(*source.user_source, include_folders())) {
      all_options.push_back("-I" + folder.string());
    }
    if (!text.replaced.empty() && !replaced.emplace().path().empty()) {
      all_options.push_back("-I" + replaced->path().string());
      for (const EmbeddedSource& each : text.replaced) std::ofstream(replaced->path() / each.path) << each.text;
    }
  }
  const auto option_pointers = c_strings(all_options);

  Compiled compiled;
  try {
    const auto check = [&](nvrtcResult result, const char* call) {
      if (result != NVRTC_SUCCESS) throw Message::verbatim(failed(call, api_.nvrtcGetErrorString(result)));
    };
    nvrtcProgram program = nullptr;
    check(api_.nvrtcCreateProgram(&program, text.main, name.c_str(), static_cast<int>(name_pointers.size()),
                                  text.header_texts.data(), name_pointers.data()),
          "nvrtcCreateProgram");
    struct Guard {
      const Functions& api;
      nvrtcProgram program;
      ~Guard() { api.nvrtcDestroyProgram(&program); }
    } const guard{api_, program};

    // NVRTC instantiates templates only for name expressions.
    const std::string instance = source.entry.find('<') == std::string::npos ? "" : instantiated_entry(source);
    if (!instance.empty()) check(api_.nvrtcAddNameExpression(program, instance.c_str()), "nvrtcAddNameExpression");
    const nvrtcResult result =
        api_.nvrtcCompileProgram(program, static_cast<int>(option_pointers.size()), option_pointers.data());
    std::size_t size = 0;
    nvrtcResult has_log = api_.nvrtcGetProgramLogSize(program, &size);
    if (has_log == NVRTC_SUCCESS && size > 1) {
      std::string log(size, '\0');
      has_log = api_.nvrtcGetProgramLog(program, log.data());
      if (has_log == NVRTC_SUCCESS) compiled.log.assign(log, 0, size - 1);  // without the terminating zero
    }
    check(result, "nvrtcCompileProgram");
    // The log is the only source of registers, spills and warnings. Without it, the kernel would appear to have no
    // spills.
    check(has_log, "nvrtcGetProgramLog");
    // ptxas warns and emits slow code. Reject such built-in kernels, since their times would mislead; accept them from
    // users.
    if (!source.user_source && compiled.log.find("wgmma.mma_async instructions are serialized") != std::string::npos)
      throw make_reason("compile.serialized", "ptxas serialized the wgmma instructions");
    check(api_.nvrtcGetCUBINSize(program, &size), "nvrtcGetCUBINSize");
    if (size == 0) throw make_reason("compile.no_cubin", "NVRTC returned no cubin");
    compiled.cubin.resize(size);
    check(api_.nvrtcGetCUBIN(program, compiled.cubin.data()), "nvrtcGetCUBIN");
    auto symbol = entry_symbol(source, program, instance, compiled.cubin);
    if (!symbol) return Failure{symbol.error()};
    compiled.symbol = std::move(symbol).value();
    compiled.figures = parse_resource_usage(compiled.log, compiled.symbol);
    return compiled;
  } catch (const Message& why) {
    if (compiled.log.empty()) return Failure{why};
    return Failure{
        make_reason("compile.with_log", "{}\n{}", why, errors_first(compiled.log, UserSource::Compiler::nvrtc))};
  }
}

std::vector<std::string> compile_options(const KernelSource& source, std::string_view arch) {
  std::vector<std::string> options{fmt::format("--gpu-architecture={}", arch), "--std=c++17", "--ptxas-options=-v"};
  if (!needs_nvcc(source)) options.insert(options.begin() + 2, "--device-as-default-execution-space");
  const auto add = [&](const std::string& option) {  // replaces an earlier one; NVRTC rejects options given twice
    const auto name = [](const std::string& each) { return each.substr(0, each.find('=')); };
    std::erase_if(options, [&](const std::string& each) { return name(each) == name(option); });
    options.push_back(option);
  };
  if (source.user_source) std::ranges::for_each(source.user_source->options, add);
  for (const std::string& define : source.defines) add("-D" + define);
  return options;
}

ResourceUsage parse_resource_usage(std::string_view log, std::string_view entry) {
  // "Compiling entry function 'name' for ..." begins the section of each kernel.
  const std::string opening = fmt::format("Compiling entry function '{}'", entry);
  const std::size_t begin = log.find(opening);
  if (begin == std::string_view::npos) return {};
  log.remove_prefix(begin + opening.size());
  log = log.substr(0, log.find("Compiling entry function"));
  return {.registers = static_cast<int>(number_before(log, "registers")),
          .static_shared_bytes = number_before(log, "bytes smem"),
          .local_bytes = number_before(log, "bytes stack frame"),
          .spill_store_bytes = number_before(log, "bytes spill stores"),
          .spill_load_bytes = number_before(log, "bytes spill loads")};
}

std::string arch_for(int compute_major, int compute_minor) {
  // sm_90a has wgmma and setmaxnreg; every family from 10.0 on has an "a" variant, too.
  const char* suffix = compute_major >= 9 ? "a" : "";
  return fmt::format("sm_{}{}{}", compute_major, compute_minor, suffix);
}

}  // namespace attnscope::gpu

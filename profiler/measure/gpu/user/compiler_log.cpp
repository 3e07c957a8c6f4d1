// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/user_source.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace attnscope::gpu {
namespace {

bool contains_any(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

bool is_error(std::string_view line) {
  return contains_any(line, {"): error", "): catastrophic error", ": error:", ": fatal error:"});
}

bool begins_message(std::string_view line) {
  return is_error(line) || contains_any(line, {"): warning", ": warning:", "): remark", ": note:", "ptxas info"});
}

/// Text between two words of a line; empty if either is missing.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t begin = line.find(before);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin + before.size());
  return line.substr(0, std::min(line.find(after), line.size()));
}

bool is_host_header(std::string_view name) {
  // C++ headers have no suffix.
  return name.find_first_of("./") == std::string_view::npos || name.starts_with("sys/");
}

/// Returns how to fix the error in this line; empty if unknown.
std::string_view advice(std::string_view line, bool nvcc) {
  constexpr std::string_view host_code = R"(host code: set "compiler": "nvcc", or move it to another file)";
  std::string_view header = between(line, "cannot open source file \"", "\"");
  if (header.empty()) header = between(line, "fatal error: ", ": No such file");
  if (!header.empty()) {
    for (const char* torch : {"torch/", "ATen/", "c10/", "pybind11/", "Python.h"}) {
      if (header.starts_with(torch))
        return "PyTorch: move the kernel to a file without its headers, or build a library (.so)";
    }
    if (!nvcc && is_host_header(header))
      return R"(a header of the host: set "compiler": "nvcc", or move host code to another file)";
    return R"(add its folder to "include": [...])";
  }
  // NVRTC's file of name expressions and nvcc's wrapper, which contain only the entry.
  if (contains_any(line, {"__nv_name_map", "/instance.cu"}))
    return R"(check the template arguments of "entry" and their values in "defines")";
  if (!nvcc && contains_any(line, {"device-side kernel launch", "identifier \"cuda"})) return host_code;
  return {};
}

}  // namespace

std::string errors_first(std::string_view log, UserSource::Compiler compiler) {
  std::string errors;
  std::string others;
  bool in_error = false;
  std::istringstream lines{std::string(log)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      in_error = false;
      continue;
    }
    if (begins_message(line)) in_error = is_error(line);
    if (is_error(line)) {
      const std::string_view what = advice(line, compiler == UserSource::Compiler::nvcc);
      if (!what.empty()) line += fmt::format(" ({})", what);
    }
    (in_error ? errors : others).append(line).push_back('\n');
  }
  return errors + others;
}

}  // namespace attnscope::gpu

// SPDX-License-Identifier: Apache-2.0
#include "gpu_fault.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <stdexcept>

namespace attnscope::testing {
namespace {

constexpr std::string_view metrics_suffix = "-metrics";
constexpr std::string_view ceilings_suffix = "-ceilings";
constexpr std::string_view persistent_suffix = "-stays";
constexpr std::string_view later = "-at-restart";
constexpr std::string_view code_prefix = "code";

bool of_driver(const std::string& call) {
  return call.starts_with("cu") && !call.starts_with("cupti");
}

/// Error codes of each library that the program treats differently: out of memory, fault, no permission, unknown.
std::vector<int> error_codes(const std::string& call) {
  if (call.starts_with("cupti")) return {999, 35, 26};  // unknown, insufficient privileges, hardware busy
  if (call.starts_with("nvrtc")) return {1, 6};         // out of memory, compilation
  if (call.starts_with("nvml")) return {3, 999};        // not supported, unknown
  return {out_of_memory, 700, 999};                     // out of memory, illegal address, unknown
}

}  // namespace

std::string Fault::name() const {
  return fmt::format(
      "{}-{}-{}{}{}{}{}{}", call, at, code_prefix, code, what == FaultTarget::sweep_with_metrics ? metrics_suffix : "",
      what == FaultTarget::ceilings ? ceilings_suffix : "", stays ? persistent_suffix : "", at_restart ? later : "");
}

Fault parse_fault(const std::string& name) {
  Fault fault;
  std::string_view rest = name;
  const auto take = [&](std::string_view ending) {
    if (!rest.ends_with(ending)) return false;
    rest.remove_suffix(ending.size());
    return true;
  };
  const auto number = [&](auto& target) {
    const std::size_t dash = rest.rfind('-');
    std::string_view digits = rest.substr(dash == std::string_view::npos ? rest.size() : dash + 1);
    if (digits.starts_with(code_prefix)) digits.remove_prefix(code_prefix.size());
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), target);
    if (error != std::errc{} || end != digits.end()) throw std::invalid_argument("unknown case " + name);
    rest.remove_suffix(rest.size() - dash);
  };
  fault.at_restart = take(later);
  fault.stays = take(persistent_suffix);
  if (take(ceilings_suffix)) fault.what = FaultTarget::ceilings;
  if (take(metrics_suffix)) fault.what = FaultTarget::sweep_with_metrics;
  number(fault.code);
  number(fault.at);
  fault.call = rest;
  if (fault.name() != name) throw std::invalid_argument("unknown case " + name);
  return fault;
}

std::vector<Fault> make_faults(FaultTarget what, const Calls& calls, bool at_restart_too) {
  std::vector<Fault> all;
  for (const auto& [call, count] : calls) {
    std::set<long> places{1, 2, 3, count / 2, count - 1, count};
    std::erase_if(places, [last = count](long at) { return at < 1 || at > last; });
    for (const int code : error_codes(call)) {
      for (const long at : places) {
        for (const bool stays : {false, true}) {
          all.push_back({.call = call, .at = at, .code = code, .what = what, .stays = stays});
        }
      }
      if (at_restart_too && of_driver(call)) {
        all.push_back({.call = call, .code = code, .what = what, .stays = true, .at_restart = true});
      }
    }
  }
  return all;
}

bool is_ignorable(const std::string& call) {
  static const std::set<std::string> silent{"cuMemFree",
                                            "cuMemFree_v2",
                                            "cuModuleUnload",
                                            "cuEventDestroy",
                                            "cuEventDestroy_v2",
                                            "cuStreamDestroy",
                                            "cuStreamDestroy_v2",
                                            "cuDevicePrimaryCtxRelease",
                                            "cuDevicePrimaryCtxRelease_v2",
                                            "cuGetErrorName",
                                            "cuGetErrorString",
                                            "nvrtcDestroyProgram",
                                            "cuptiGetResultString",
                                            "cuptiProfilerHostDeinitialize",
                                            "cuptiRangeProfilerDisable",
                                            "nvmlShutdown"};
  return silent.contains(call);
}

bool names_cause(const std::string& words, const Fault& fault) {
  // reported as a disposition with other text
  if (fault.call.starts_with("cuMemAlloc") && fault.code == out_of_memory) return true;
  return words.find(fault.call.substr(0, fault.call.find("_v"))) != std::string::npos;
}

}  // namespace attnscope::testing

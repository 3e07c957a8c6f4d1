// SPDX-License-Identifier: Apache-2.0
#include "gpu_fault.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <stdexcept>

namespace attnscope::testing {
namespace {

constexpr std::string_view with_metrics = "-metrics";
constexpr std::string_view of_ceilings = "-ceilings";
constexpr std::string_view staying = "-stays";
constexpr std::string_view later = "-at-restart";
constexpr std::string_view coded = "code";

bool of_driver(const std::string& call) {
  return call.starts_with("cu") && !call.starts_with("cupti");
}

/// Error codes of each library that the program treats differently: out of memory, fault, no permission, unknown.
std::vector<int> codes_of(const std::string& call) {
  if (call.starts_with("cupti")) return {999, 35, 26};  // unknown, insufficient privileges, hardware busy
  if (call.starts_with("nvrtc")) return {1, 6};         // out of memory, compilation
  if (call.starts_with("nvml")) return {3, 999};        // not supported, unknown
  return {out_of_memory, 700, 999};                     // out of memory, illegal address, unknown
}

}  // namespace

std::string Fault::name() const {
  return fmt::format("{}-{}-{}{}{}{}{}{}", call, at, coded, code,
                     what == Disturbed::sweep_with_metrics ? with_metrics : "",
                     what == Disturbed::ceilings ? of_ceilings : "", stays ? staying : "", at_restart ? later : "");
}

Fault fault_named(const std::string& name) {
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
    if (digits.starts_with(coded)) digits.remove_prefix(coded.size());
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), target);
    if (error != std::errc{} || end != digits.end()) throw std::invalid_argument("unknown case " + name);
    rest.remove_suffix(rest.size() - dash);
  };
  fault.at_restart = take(later);
  fault.stays = take(staying);
  if (take(of_ceilings)) fault.what = Disturbed::ceilings;
  if (take(with_metrics)) fault.what = Disturbed::sweep_with_metrics;
  number(fault.code);
  number(fault.at);
  fault.call = rest;
  if (fault.name() != name) throw std::invalid_argument("unknown case " + name);
  return fault;
}

std::vector<Fault> faults_of(Disturbed what, const Calls& calls, bool at_restart_too) {
  std::vector<Fault> all;
  for (const auto& [call, count] : calls) {
    std::set<long> places{1, 2, 3, count / 2, count - 1, count};
    std::erase_if(places, [last = count](long at) { return at < 1 || at > last; });
    for (const int code : codes_of(call)) {
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

bool is_silent(const std::string& call) {
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

bool says_why(const std::string& words, const Fault& fault) {
  // reported as a disposition with other text
  if (fault.call.starts_with("cuMemAlloc") && fault.code == out_of_memory) return true;
  return words.find(fault.call.substr(0, fault.call.find("_v"))) != std::string::npos;
}

}  // namespace attnscope::testing

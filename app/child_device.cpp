// SPDX-License-Identifier: Apache-2.0
#include "app/child_device.h"

#include <utility>
#include <vector>

#include "app/command.h"
#include "kernels/registry.h"
#include "messages/remote.h"
#include "profiler/measure/remote/remote_device.h"

namespace attnscope {
namespace {

Message why_not(const std::string& program, const remote::OpenFailure& failure) {
  using Kind = remote::OpenFailure::Kind;
  if (failure.kind == Kind::no_device) return failure.reason;
  if (failure.kind == Kind::other_version) {
    return say::remote::program_of_other_version{.program = program, .there = failure.words};
  }
  const std::string words = remote::last_line(failure.end.last_words);
  if (words.empty()) return say::remote::program_says_nothing{.program = program};
  return say::remote::program_gives_no_device{.program = program, .words = words};
}

}  // namespace

std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                          const CancelToken& cancel) {
  std::vector<std::string> words{program, "remote", "--no-counters"};
  if (!device.empty()) words.insert(words.end(), {"--device", device});
  auto link = remote::start_child(words);
  if (!link) {
    throw CommandError(ExitCode::error, say::remote::program_not_started{.program = program, .error = link.error()});
  }
  auto opened = remote::open_remote(std::move(link).value(), program, {}, known_algorithms(), cancel);
  if (!opened && cancel.cancelled())
    throw CommandError(ExitCode::partial, say::remote::program_cancelled{.program = program});
  if (!opened) throw CommandError(ExitCode::error, why_not(program, opened.error()));
  return std::move(opened->device);
}

}  // namespace attnscope

// SPDX-License-Identifier: Apache-2.0
#include "app/child_device.h"

#include <utility>
#include <vector>

#include "app/command.h"
#include "kernels/registry.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/host_environment.h"
#include "profiler/measure/remote/wire.h"

namespace attnscope {
namespace {

Message why_not(const std::string& program, const remote::OpenFailure& failure) {
  using Kind = remote::OpenFailure::Kind;
  if (failure.kind == Kind::no_device) return failure.reason;
  if (failure.kind == Kind::other_version) {
    return make_message("{} (version {}) cannot be measured with: this program has protocol {}", program, failure.words,
                        remote::protocol);
  }
  const std::string words = remote::last_line(failure.end.last_words);
  if (words.empty()) return make_message("{} does not answer as an attnscope would that can be measured with", program);
  return make_message("{} gives no device: {}", program, words);
}

struct Child {
  std::string program;
  std::string name;     ///< in messages
  std::string version;  ///< empty: any
  remote::EndOf end_of = remote::EndOf::link;
  bool counters = false;
};

remote::OpenedRemote opened_in(const Child& child, const std::vector<std::string>& device, const CancelToken& cancel) {
  const std::string& program = child.name;
  std::vector<std::string> words{child.program, "remote"};
  if (!child.counters) words.emplace_back("--no-counters");
  words.insert(words.end(), device.begin(), device.end());
  auto link = remote::start_child(words);
  if (!link) {
    throw CommandError(ExitCode::error, "{} could not be started: {}", program, link.error());
  }
  auto opened =
      remote::open_remote(std::move(link).value(), program, child.version, known_algorithms(), cancel, child.end_of);
  if (!opened && cancel.cancelled()) throw CommandError(ExitCode::partial, "cancelled while {} started", program);
  if (!opened) throw CommandError(ExitCode::error, why_not(program, opened.error()));
  return std::move(opened).value();
}

}  // namespace

std::unique_ptr<Device> open_child_device(const std::string& program, const std::string& device,
                                          const CancelToken& cancel) {
  std::vector<std::string> words;
  if (!device.empty()) words = {"--device", device};
  return opened_in({.program = program, .name = program, .version = {}}, words, cancel).device;
}

remote::OpenedRemote open_library_process(const std::vector<std::string>& words, bool counters,
                                          const CancelToken& cancel) {
  return opened_in({.program = own_program,
                    .name = "the library's process",
                    .version = program_version(),
                    .end_of = remote::EndOf::point,
                    .counters = counters},
                   words, cancel);
}

}  // namespace attnscope

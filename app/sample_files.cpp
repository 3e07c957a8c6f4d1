// SPDX-License-Identifier: Apache-2.0
#include "app/sample_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "app/command.h"
#include "messages/command.h"
#include "messages/output.h"
#include "profiler/plan/text.h"
#include "storage/recorded_samples.h"

namespace attnscope {

std::vector<std::string> files_or_samples(const std::vector<std::string>& given,
                                          const std::vector<std::string>& samples) {
  if (!given.empty()) return given;
  if (samples.empty()) throw CommandError(ExitCode::usage, say::output::no_file_nor_sample{});
  spdlog::info("{}",
               text(say::command::recorded_sample{.files = printable(fmt::format("{}", fmt::join(samples, ", ")))}));
  return samples;
}

std::string file_or_sample(const std::string& given) {
  return given.empty() ? files_or_samples({}, recorded_samples({main_sample})).front() : given;
}

}  // namespace attnscope

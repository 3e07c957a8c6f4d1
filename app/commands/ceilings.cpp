// SPDX-License-Identifier: Apache-2.0
// ceilings: what a GPU is capable of, measured in some seconds, or by its datasheet.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "app/ceiling_table.h"
#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/table.h"
#include "messages/ceiling.h"
#include "messages/terminal.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

struct Options {
  std::string device;
  TableFormat format = TableFormat::text;
  CeilingOptions measure;
};

ExitCode ceilings(const Options& options) {
  CancelToken& cancel = cancel_on_signals();
  const OpenedDevice opened = open_device(options.device, true);
  Device& device = *opened.device;
  const bool people = options.format == TableFormat::text;
  if (people) std::cout << text(say::terminal::device{.device = opened.announcement}) << '\n';
  const auto set = device.ceilings(options.measure, cancel, {});
  if (!set) {
    if (!device.usable()) {
      // The driver's own exit handlers may wait for a kernel that never ends.
      std::cout.flush();
      fmt::print(stderr, "attnscope: {}\n", one_line(text(set.error().reason)));
      std::fflush(nullptr);
      std::_Exit(static_cast<int>(ExitCode::error));
    }
    throw CommandError(set.error().cancelled ? ExitCode::partial : ExitCode::error, set.error().reason);
  }
  print_ceilings(set->ceilings, options.format, std::cout);
  for (const Message& remark : set->remarks) {
    if (people) {
      std::cout << text(remark) << '\n';
    } else {
      spdlog::warn("{}", text(remark));
    }
  }
  return ExitCode::ok;
}

}  // namespace

Action add_ceilings(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  command.add_option("--rounds", options->measure.rounds, "How often each load is sampled")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_format_options(command, options->format);
  return [options] { return ceilings(*options); };
}

}  // namespace attnscope

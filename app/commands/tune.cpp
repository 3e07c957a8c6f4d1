// SPDX-License-Identifier: Apache-2.0
#include "profiler/tune.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "kernels/algorithm.h"

namespace attnscope {
namespace {

struct Options {
  std::string device;
  std::vector<std::string> algorithms;
  std::vector<std::string> passes{"fwd"};
  std::vector<std::string> masks{"full", "causal"};
  std::vector<std::int64_t> head_dims{32, 64, 80, 96, 128, 192, 256};
  std::vector<std::int64_t> lengths{1024, 4096, 16384};
  std::string output;
  std::string samples;
};

TuneRequest request_of(const Options& options) {
  TuneRequest request;
  request.algorithms = options.algorithms;
  for (const Algorithm* algorithm : algorithms()) {
    if (options.algorithms.empty()) request.algorithms.emplace_back(algorithm->name());
  }
  for (const std::string& name : request.algorithms) {
    if (find_algorithm(name) == nullptr) {
      throw CommandError(ExitCode::usage, fmt::format("unknown algorithm '{}'; `attnscope kernels` lists them", name));
    }
  }
  for (const std::string& word : options.passes) {
    const auto pass = parse_pass(word);
    if (!pass) throw CommandError(ExitCode::usage, pass.error());
    request.passes.push_back(*pass);
  }
  for (const std::string& word : options.masks) {
    const auto mask = parse_mask(word);
    if (!mask) throw CommandError(ExitCode::usage, mask.error());
    if (*mask != Mask::none && *mask != Mask::causal) {
      throw CommandError(ExitCode::usage,
                         fmt::format("mask '{}' has no line in the table; tune full (or none) and causal", word));
    }
    request.masks.push_back(*mask);
  }
  for (const auto& [name, values] :
       {std::pair{"--head-dims", &options.head_dims}, std::pair{"--lengths", &options.lengths}}) {
    if (values->empty()) throw CommandError(ExitCode::usage, fmt::format("{} names none", name));
    const std::int64_t least = std::ranges::min(*values);
    if (least < 1) throw CommandError(ExitCode::usage, fmt::format("{} must be at least 1, not {}", name, least));
  }
  request.head_dims = options.head_dims;
  request.lengths = options.lengths;
  return request;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) throw CommandError(ExitCode::error, fmt::format("cannot write {}", path));
}

ExitCode run(const Options& options) {
  const TuneRequest request = request_of(options);
  const OpenedDevice opened = open_device(options.device, false);
  Device& device = *opened.device;
  if (device.info().simulated) {
    throw CommandError(ExitCode::usage, "tiles are tuned by measuring, and the simulated device measures nothing");
  }
  fmt::print(stderr, "Device: {}\n", opened.announcement);
  TuneObserver observer;
  observer.on_choice = [](const TuneResult& result) {
    spdlog::info("{} {} {} d {}: {}, {}", result.choice.algorithm, to_string(result.choice.pass),
                 result.choice.causal ? "causal" : "full", result.choice.d, describe(result.choice.tile),
                 result.choice.reason);
  };
  observer.on_failure = [](const PointRecord& record) {
    spdlog::warn("{}: {}: {}", describe(record.spec), to_string(record.disposition), record.reason);
  };
  const CancelToken& cancel = cancel_on_signals();
  const std::vector<TuneResult> results = tune(device, request, observer, cancel);

  const std::string table = format_tile_table(merge_choices(tile_table(), results));
  if (options.output.empty()) {
    std::cout << table;
  } else {
    write(options.output, table);
  }
  if (!options.samples.empty()) {
    std::string text = "algorithm,pass,mask,d,N,br,bc,median_ns\n";
    for (const TuneResult& result : results) {
      for (const TuneSample& sample : result.samples) {
        text += fmt::format("{},{},{},{},{},{},{},{:.0f}\n", result.choice.algorithm, to_string(result.choice.pass),
                            result.choice.causal ? "causal" : "full", result.choice.d, sample.n, sample.tile.br,
                            sample.tile.bc, sample.median_ns);
      }
    }
    write(options.samples, text);
  }
  if (!device.usable()) throw CommandError(ExitCode::error, "the device was lost; the table has what was finished");
  return cancel.cancelled() ? ExitCode::partial : ExitCode::ok;
}

}  // namespace

Action add_tune(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  const auto list = [&](const char* name, auto& target, const char* help, const char* type) {
    command.add_option(name, target, help)->type_name(type)->delimiter(',');
  };
  list("--algorithms", options->algorithms, "Only these (default: all)", "NAMES");
  list("--pass", options->passes, "fwd, bwd or fwd+bwd (default: fwd)", "PASSES");
  list("--mask", options->masks, "full (or none), causal (default: both)", "MASKS");
  list("--head-dims", options->head_dims, "Head dimensions (default: 32,64,80,96,128,192,256)", "D");
  list("--lengths", options->lengths, "Sequence lengths that the tile must be good at (default: 1024,4096,16384)", "N");
  command.add_option("-o,--output", options->output, "Write the table there (default: print it)")->type_name("FILE");
  command.add_option("--samples", options->samples, "Write every tile's median there, as CSV")->type_name("FILE");
  return [options] { return run(*options); };
}

}  // namespace attnscope

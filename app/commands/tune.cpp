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
#include "app/table.h"
#include "kernels/algorithm.h"

namespace attnscope {
namespace {

struct Options {
  std::string device;
  std::vector<std::string> algorithms;
  std::vector<std::string> passes{"fwd"};
  std::vector<std::string> masks{"full", "causal"};
  std::vector<std::int64_t> head_dims{32, 64, 80, 96, 128, 192, 256};
  std::vector<std::int64_t> lengths;
  std::string output;
  std::string samples;
  bool check = false;
};

const std::vector<std::int64_t> default_lengths{512, 1024, 2048, 4096, 8192, 16384};
const std::vector<std::int64_t> default_decode_lengths{4096, 16384, 65536, 131072};
/// The fastest tile's time to which --check holds that of `auto`.
constexpr double allowed_ratio = 1.03;

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
    if (values->empty()) continue;
    const std::int64_t least = std::ranges::min(*values);
    if (least < 1) throw CommandError(ExitCode::usage, fmt::format("{} must be at least 1, not {}", name, least));
  }
  request.head_dims = options.head_dims;
  request.lengths = options.lengths.empty() ? default_lengths : options.lengths;
  request.decode_lengths = options.lengths.empty() ? default_decode_lengths : options.lengths;
  return request;
}

const char* mask_word(const TileChoice& choice) {
  return choice.causal ? "causal" : "full";
}

/// Each cell: what `auto` takes now, and what the new table would.
Table comparison(const std::vector<TuneResult>& results) {
  Table table;
  table.columns = {{"algorithm"}, {"pass"},        {"mask"},       {"d", true},    {"N", true},
                   {"auto now"},  {"ratio", true}, {"new choice"}, {"ratio", true}};
  for (const TuneResult& result : results) {
    const TileChoice& of = result.choices.front();
    for (const TuneCell& cell : result.cells) {
      table.rows.push_back({of.algorithm, std::string(to_string(of.pass)), mask_word(of), std::to_string(of.d),
                            std::to_string(cell.n), describe(cell.now),
                            cell.now_ns > 0 ? fmt::format("{:.3f}", cell.now_ratio()) : "failed", describe(cell.chosen),
                            fmt::format("{:.3f}", cell.chosen_ratio())});
    }
  }
  return table;
}

std::string samples_csv(const std::vector<TuneResult>& results) {
  std::string text = "algorithm,pass,mask,d,N,br,bc,warps,stages,splits,median_ns\n";
  for (const TuneResult& result : results) {
    const TileChoice& of = result.choices.front();
    for (const TuneSample& sample : result.samples) {
      const TileShape& tile = sample.tile;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{:.0f}\n", of.algorithm, to_string(of.pass), mask_word(of),
                          of.d, sample.n, tile.br, tile.bc, tile.warps, tile.stages, tile.splits, sample.median_ns);
    }
  }
  return text;
}

/// The cells where `auto` is slower than it may be, or fails.
std::ptrdiff_t slow_cells(const std::vector<TuneResult>& results) {
  std::ptrdiff_t count = 0;
  for (const TuneResult& result : results) {
    count += std::ranges::count_if(
        result.cells, [](const TuneCell& cell) { return cell.now_ns == 0 || cell.now_ratio() > allowed_ratio; });
  }
  return count;
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
  observer.on_result = [](const TuneResult& result) {
    for (const TileChoice& choice : result.choices) {
      spdlog::info("{} {} {} d {} N {}: {}, {}", choice.algorithm, to_string(choice.pass), mask_word(choice), choice.d,
                   choice.n, describe(choice.tile), choice.reason);
    }
  };
  observer.on_failure = [](const PointRecord& record) {
    spdlog::warn("{}: {}: {}", describe(record.spec), to_string(record.disposition), record.reason);
  };
  const CancelToken& cancel = cancel_on_signals();
  const std::vector<TuneResult> results = tune(device, request, observer, cancel);

  // What is asked for goes to stdout: the table of tiles, unless a file takes it or --check asks for the other one.
  const bool print_tiles = options.output.empty() && !options.check;
  print(comparison(results), TableFormat::text, print_tiles ? std::cerr : std::cout);
  const std::string table = format_tile_table(merge_choices(tile_table(), results));
  if (print_tiles) std::cout << table;
  if (!options.output.empty()) write(options.output, table);
  if (!options.samples.empty()) write(options.samples, samples_csv(results));
  if (!device.usable()) throw CommandError(ExitCode::error, "the device was lost; the table has what was finished");
  if (cancel.cancelled()) return ExitCode::partial;
  if (const auto slow = slow_cells(results); options.check && slow > 0) {
    throw CommandError(
        ExitCode::regression,
        fmt::format("auto is more than {:.0f}% slower than the fastest tile in {} cells; write the table "
                    "anew with `attnscope tune -o FILE`",
                    100 * (allowed_ratio - 1), slow));
  }
  return ExitCode::ok;
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
  list("--lengths", options->lengths,
       "Sequence lengths to choose tiles for (default: 512,1024,2048,4096,8192,16384; keys of decoding: "
       "4096,16384,65536,131072)",
       "N");
  command.add_option("-o,--output", options->output, "Write the table there (default: print it)")->type_name("FILE");
  command.add_option("--samples", options->samples, "Write every tile's median there, as CSV")->type_name("FILE");
  command.add_flag("--check", options->check,
                   "Exit with 4 if `auto`, as it is built in, is anywhere more than 3% slower than the fastest tile");
  return [options] { return run(*options); };
}

}  // namespace attnscope

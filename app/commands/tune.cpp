// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/tune.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "app/sweep_options.h"
#include "kernels/registry.h"
#include "profiler/files/output_file.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct TuneOptions {
  std::string device;
  std::vector<std::string> algorithms;
  std::vector<std::string> passes{"fwd"};
  std::vector<std::string> masks{"full", "causal"};
  std::vector<std::int64_t> head_dims{32, 64, 80, 96, 128, 192, 256};
  std::vector<std::int64_t> lengths;
  std::string output;
  bool check = false;
  Output result;
  bool force = false;
};

const std::vector<std::int64_t> default_lengths{512, 1024, 2048, 4096, 8192, 16384};
const std::vector<std::int64_t> default_decode_lengths{4096, 16384, 65536, 131072};
/// The fastest tile's time to which --check holds that of `auto`.
constexpr double allowed_ratio = 1.03;

TuneRequest request_of(const TuneOptions& options) {
  TuneRequest request;
  request.algorithms = options.algorithms;
  for (const Algorithm* algorithm : known_algorithms().algorithms()) {
    if (options.algorithms.empty()) request.algorithms.emplace_back(algorithm->name());
  }
  require_algorithms(request.algorithms);
  for (const std::string& word : options.passes) {
    const auto pass = parse_pass(word);
    if (!pass) throw CommandError(ExitCode::usage, pass.error());
    request.passes.push_back(*pass);
  }
  for (const std::string& word : options.masks) {
    const auto mask = parse_mask(word);
    if (!mask) throw CommandError(ExitCode::usage, mask.error());
    if (*mask != Mask::none && *mask != Mask::causal) {
      throw CommandError(ExitCode::usage, "mask '{}' has no line in the table; tune full and causal", word);
    }
    request.masks.push_back(*mask);
  }
  for (const auto& [name, values] :
       {std::pair{"--head-dims", &options.head_dims}, std::pair{"--lengths", &options.lengths}}) {
    if (values->empty()) continue;
    const std::int64_t least = std::ranges::min(*values);
    if (least < 1) throw CommandError(ExitCode::usage, "{} must be at least 1, not {}", name, least);
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
Table comparison(const std::vector<TuneResult>& results, bool people) {
  Table table;
  table.columns = {{"algorithm"}, {"pass"},        {"mask"},       {"d", true},    {"N", true},
                   {"auto now"},  {"ratio", true}, {"new choice"}, {"ratio", true}};
  if (!people) {
    auto column = table.columns.end() - 4;
    for (const char* key : {"auto_now", "ratio_now", "new_choice", "new_ratio"}) (column++)->name = key;
  }
  for (const TuneResult& result : results) {
    const TileChoice& of = result.choices.front();
    for (const TuneCell& cell : result.cells) {
      table.rows.push_back({of.algorithm, std::string(to_string(of.pass)), mask_word(of), std::to_string(of.d),
                            std::to_string(cell.n), describe(cell.now),
                            cell.now_ns > 0 ? fmt::format("{:.3f}", cell.now_ratio())
                            : people        ? "failed"
                                            : "",
                            describe(cell.chosen), fmt::format("{:.3f}", cell.chosen_ratio())});
    }
  }
  return table;
}

/// Warns of the head dimensions that none of the algorithms takes, and counts the cells that they would have had.
std::size_t cells_nobody_takes(const TuneRequest& request) {
  std::size_t cells = 0;
  for (const std::int64_t d : request.head_dims) {
    const auto takes = [&](const std::string& name) {
      const auto dims = known_algorithms().find(name)->facts().head_dims;
      return std::ranges::find(dims, d) != dims.end();
    };
    if (std::ranges::any_of(request.algorithms, takes)) continue;
    spdlog::warn(
        "{}",
        format_text("no algorithm asked for takes head dimension {}; `attnscope kernels` lists what they take", d));
    for (const std::string& name : request.algorithms) {
      const bool decodes = known_algorithms().find(name)->facts().decodes;
      const std::size_t lengths = decodes ? request.decode_lengths.size() : request.lengths.size();
      cells += request.passes.size() * request.masks.size() * lengths;
    }
  }
  return cells;
}

/// Ends a --check that found something; `untimed`: cells asked for at which no tile could be measured.
void require_good(const std::vector<TuneResult>& results, std::size_t untimed) {
  if (results.empty()) {
    throw CommandError(ExitCode::error,
                       "no cell was measured, so `auto` was compared with nothing: on this device no tile runs of the "
                       "algorithms, passes, masks and head dimensions asked for");
  }
  std::size_t slow = 0;
  std::size_t failed = 0;
  for (const TuneResult& result : results) {
    for (const TuneCell& cell : result.cells) {
      if (cell.now_ns == 0) {
        ++failed;
      } else if (cell.now_ratio() > allowed_ratio) {
        ++slow;
      }
    }
  }
  Message found;
  const auto add = [&](const Message& one) { found = found.empty() ? one : make_message("{}; {}", found, one); };
  const auto add_cells = [&](const Message& what, std::size_t cells) {
    if (cells == 1) add(make_message("{} in 1 cell", what));
    if (cells > 1) add(make_message("{} in {} cells", what, cells));
  };
  add_cells(make_message("auto is more than {}% slower than the fastest tile", std::lround(100 * (allowed_ratio - 1))),
            slow);
  add_cells("the tile of auto fails", failed);
  add_cells("no tile could be measured", untimed);
  if (found.empty()) return;
  if (slow + failed > 0) add("write the table anew with `attnscope tune -o FILE`");
  throw CommandError(ExitCode::regression, found);
}

ExitCode run(TuneOptions& options) {
  const TuneRequest request = request_of(options);
  const OpenedDevice opened = open_device(options.device, false);
  Device& device = *opened.device;
  if (device.info().simulated) {
    throw CommandError(ExitCode::usage, "tiles are tuned by measuring, and the simulated device measures nothing");
  }
  std::optional<OutputFile> file;  // before hours of measuring
  if (!options.output.empty()) {
    file.emplace(options.output, file_kind::tiles,
                 options.force ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind);
  }
  fmt::print(stderr, "{}\n", format_text("Device: {}", opened.announcement));
  std::size_t untimed = cells_nobody_takes(request);
  TuneObserver observer;
  observer.on_result = [](const TuneResult& result) {
    for (const TileChoice& choice : result.choices) {
      spdlog::info("{} {} {} d {} N {}: {}, {}", choice.algorithm, to_string(choice.pass), mask_word(choice), choice.d,
                   choice.n, describe(choice.config), choice.reason);
    }
  };
  observer.on_failure = [](const PointRecord& record) {
    spdlog::warn("{}: {}: {}", describe(record.spec), to_string(record.disposition), text(record.reason));
  };
  observer.on_untimed = [&](const Algorithm& algorithm, const AttentionProblem& problem) {
    spdlog::warn("{} {}: {}", algorithm.name(), describe(problem), "no tile could be measured");
    ++untimed;
  };
  const CancelToken& cancel = cancel_on_signals();
  const std::vector<TuneResult> results = tune(device, request, observer, cancel);

  // What is asked for goes to stdout: the table of tiles, unless a file takes it or --check asks for the other one.
  const bool print_tiles = options.output.empty() && !options.check && options.result.is("text");
  if (print_tiles) {
    print_aligned(comparison(results, true), std::cerr);
  } else {
    options.result.table(comparison(results, options.result.for_people()));
  }
  const std::string table = format_tile_table(merge_choices(tile_table(), results));
  if (print_tiles) std::cout << table;
  if (file) {
    try {
      file->write(table);
      file->commit();
    } catch (const FileError&) {
      std::cout << table;  // it took long to measure
      throw;
    }
  }
  if (!device.usable()) throw CommandError(ExitCode::error, "the device was lost; the table has what was finished");
  if (cancel.cancelled()) return ExitCode::partial;
  if (options.check) require_good(results, untimed);
  return ExitCode::ok;
}

}  // namespace

Action add_tune(CLI::App& command) {
  auto options = std::make_shared<TuneOptions>();
  add_kernel_option(command);
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  const auto list = [&](const char* name, auto& target, const char* help, const char* type) {
    command.add_option(name, target, help)->type_name(type)->delimiter(',');
  };
  list("--algorithms", options->algorithms, "Only these (default: all)", "NAMES");
  list("--pass", options->passes, "fwd, bwd or fwd+bwd (default: fwd)", "PASSES");
  list("--mask", options->masks, "full, causal (default: both)", "MASKS");
  list("--head-dims", options->head_dims, "Head dimensions (default: 32,64,80,96,128,192,256)", "D");
  list("--lengths", options->lengths,
       "Sequence lengths to choose tiles for (default: 512,1024,2048,4096,8192,16384; keys of decoding: "
       "4096,16384,65536,131072)",
       "N");
  command.add_option("-o,--output", options->output, "Write the table there (default: print it)")->type_name("FILE");
  command.add_flag("--force", options->force, "Let -o replace a file of another kind, too");
  command.add_flag("--check", options->check,
                   "Exit with 4 if `auto`, as it is built in, is anywhere more than 3% slower than the fastest tile or "
                   "fails, or if a cell has no tile that runs; with 1 if nothing was measured");
  options->result.add_to(command, Output::tables, Output::File::no);
  return [options] { return options->result.run([&] { return run(*options); }); };
}

}  // namespace attnscope

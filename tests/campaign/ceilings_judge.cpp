// SPDX-License-Identifier: Apache-2.0
#include "ceilings_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <variant>

#include "profiler/worker/protocol.h"
#include "storage/run_store.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;

/// Returns the done event. Throws Wrong unless it is the only one and the last line.
DoneEvent end_of(const std::string& lines) {
  std::vector<DoneEvent> ends;
  bool last = false;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const auto event = parse_event(line);
    require(event.ok(), "no event: " + line);
    last = std::holds_alternative<DoneEvent>(*event);
    if (last) ends.push_back(std::get<DoneEvent>(*event));
  }
  require(ends.size() == 1 && last, fmt::format("{} done events, or not as the last event", ends.size()));
  return ends.front();
}

}  // namespace

Words CeilingsJudge::words(const fs::path& file) {
  return {"ceilings", "--jsonl", "--device", "0", "--rounds", "3", "-o", file.string()};
}

CeilingsJudge::CeilingsJudge(const GpuSetup& gpu, const fs::path& earlier) : gpu_(gpu) {
  const TemporaryFolder fresh;  // without compiled kernels
  const fs::path file = fresh / "whole.attnscope";
  fs::copy_file(earlier, file);
  calls_ = gpu_.calls_of(fresh, words(file));
  wanted_ = read_ceiling_sets(file).at(0);
}

std::vector<CeilingsJudge::Figures> CeilingsJudge::read_ceiling_sets(const fs::path& file) {
  const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
  require(store.runs().size() == 1 && store.runs().front().points == 2, "the earlier run changed");
  std::vector<Figures> sets;
  for (const StoredCeilings& set : store.ceilings()) {
    Figures& figures = sets.emplace_back();
    for (const Ceiling& ceiling : set.ceilings) figures[{ceiling.name, ceiling.argument}] = ceiling;
    require(figures.size() == set.ceilings.size(), "duplicate ceiling");
  }
  require(store.invalid_rows().empty(), "damaged rows");
  return sets;
}

void CeilingsJudge::judge(const Fault& fault, const TemporaryFolder& folder, const fs::path& file) const {
  const Outcome outcome = gpu_.run(folder, words(file), gpu_.disturbed(fault, folder));
  judge_end(outcome, file);
  const bool ended = outcome.exit_code == 0 || outcome.exit_code == 5;
  const DoneEvent end = end_of(outcome.out);
  require(end.exit_code == outcome.exit_code, fmt::format("the done event has exit code {}", end.exit_code));
  require((end.state == "complete") == ended, "exit code " + std::to_string(outcome.exit_code) + ": " + end.state);
  const std::vector<Figures> sets = read_ceiling_sets(file);
  require(sets.size() == (ended ? 1U : 0U), fmt::format("{} stored sets", sets.size()));
  const bool whole = ended && judge_figures(sets.front());
  require(whole || outcome.exit_code != 0 || fault.call.starts_with("nvml") || fault.call.starts_with("cupti"),
          "exit code 0, but ceilings are missing");
  const std::string said = outcome.err + outcome.out;
  const bool names_nvml = fault.call.starts_with("nvml") && said.find("NVML") != std::string::npos;
  require(whole || is_ignorable(fault.call) || names_nvml || names_cause(said, fault),
          "no output names the call: " + outcome.err);
  require(outcome.err.find("point") == std::string::npos, "the error mentions a point: " + outcome.err);

  const Outcome again = gpu_.run(folder, words(file), gpu_.variables());
  require(again.exit_code == 0, "second measurement failed: " + again.err);
  // A set with identical values and the same time in seconds is stored once.
  const std::vector<Figures> sets_after_retry = read_ceiling_sets(file);
  const bool can_remeasure =
      std::ranges::any_of(sets_after_retry, [this](const Figures& figures) { return judge_figures(figures); });
  require(can_remeasure && sets_after_retry.size() <= sets.size() + 1, "second measurement lacks ceilings");
}

bool CeilingsJudge::judge_figures(const Figures& figures) const {
  bool whole = figures.size() == wanted_.size();
  for (const auto& [key, figure] : figures) {
    const auto& [name, argument] = key;
    const auto wanted = wanted_.find(key);
    require(wanted != wanted_.end(), fmt::format("unexpected ceiling {} {}", name, argument));
    require(figure.unit == wanted->second.unit, name + " has a different unit");
    // If counters fail, derived values replace measured ones.
    const bool instead = figure.source == CeilingSource::derived && wanted->second.source == CeilingSource::measured;
    require(instead || figure.source == wanted->second.source, name + " has a different source");
    if (instead) whole = false;
    require(agree(figure, wanted->second),
            fmt::format("{} {} is {} (undisturbed: {})", name, argument, figure.value, wanted->second.value));
  }
  return whole;
}

bool CeilingsJudge::agree(const Ceiling& figure, const Ceiling& wanted) const {
  if (figure.unit == "1" && figure.argument > 0) return figure.value >= -0.05 && figure.value <= 1.05;  // miss rate
  if (figure.unit == "1" || figure.unit == "percent") return gpu_.real || figure.value == wanted.value;
  if (figure.unit == "byte") return is_near(figure.value, wanted.value, 2);
  return is_near(figure.value, wanted.value, gpu_.real ? 1.7 : 1.05);
}

}  // namespace attnscope::testing

// SPDX-License-Identifier: Apache-2.0
// Checks of a report's numbers: measured ceilings, and the published error of the simulator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernels/model/device_limits.h"
#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/predict/published_errors.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::Row;
using analysis::RunIndex;

/// Returns the newest set for which `fits` holds, or null.
template <class Fits>
const CeilingFacts* newest_set(const std::vector<CeilingFacts>& sets, Fits fits) {
  const CeilingFacts* found = nullptr;
  for (const CeilingFacts& set : sets) {
    if (fits(set) && (found == nullptr || set.measured_at > found->measured_at)) found = &set;
  }
  return found;
}

/// Returns ceilings measured on the device, else on another of the same name; empty if there are none.
DeviceCeilings find_ceilings(const Context& context, RunIndex index) {
  const analysis::Run& run = context.table().runs()[index];
  const std::vector<CeilingFacts>& sets = context.input.ceilings;
  const CeilingFacts* set = nullptr;
  bool same_device = false;
  if (run.provenance == Provenance::simulated) {
    // Simulated devices use the datasheet unless the run used measured ceilings.
    const std::string& from = context.input.runs[index].rates_source;
    set = newest_set(sets, [&](const CeilingFacts& each) {
      return !each.device_id.empty() && from.find(each.device_id) != std::string::npos;
    });
  } else {
    set = newest_set(sets, [&](const CeilingFacts& each) { return each.device_id == run.device_id; });
    same_device = set != nullptr;
    if (set == nullptr)
      set = newest_set(sets, [&](const CeilingFacts& each) { return same_gpu(each.device_name, run.device_name); });
  }
  if (set == nullptr) return {};
  return {.ceilings = {.ceilings = set->ceilings, .same_device = same_device}, .measured_at = set->measured_at};
}

}  // namespace

std::string source_text(const DeviceCeilings& known, const analysis::Roof& roof, const std::string& device) {
  switch (roof.source) {
    case analysis::RoofSource::measured:
      return text(msg::report::roof_measured{.time = known.measured_at});
    case analysis::RoofSource::alike:
      return text(msg::report::roof_same_model{.device = device, .time = known.measured_at});
    case analysis::RoofSource::datasheet:
      return text(msg::report::roof_datasheet{});
    case analysis::RoofSource::architecture:
      return text(msg::report::roof_architecture{});
    case analysis::RoofSource::stated:
      return text(msg::report::roof_stated{});
    case analysis::RoofSource::counted_share:
      return text(msg::report::roof_share{});
    case analysis::RoofSource::typical_for_model:
      return text(msg::report::roof_typical{});
    case analysis::RoofSource::scaled_from_other_gpu:
      break;
  }
  return text(msg::report::roof_estimate{});
}

std::vector<DeviceRoofline> make_rooflines(const Context& context, const analysis::Plot& plot) {
  std::vector<DeviceRoofline> all;
  const std::vector<Row> rows = shown_rows(context, plot);
  for (const std::string& device : analysis::roofline_devices(context.table(), rows)) {
    const auto of_device =
        std::ranges::find_if(rows, [&](Row row) { return context.table().run(row).device_id == device; });
    const analysis::Run& run = context.table().run(*of_device);
    DeviceRoofline roofs{.run = context.table().run_index(*of_device), .known = {}, .report = {}, .sources = {}};
    roofs.known = find_ceilings(context, roofs.run);
    const bool known = run.provenance != Provenance::imported || find_gpu(run.device_name) != nullptr ||
                       !roofs.known.measured_at.empty();
    if (!known) continue;
    roofs.report = analysis::roofline(context.table(), rows, {device, roofs.known.ceilings});
    std::set<std::string> sources;
    for (const analysis::Roof& roof : roofs.report.roofs) {
      const std::string source = source_text(roofs.known, roof, run.device_name);
      if (!sources.insert(source).second) continue;
      roofs.sources += (roofs.sources.empty() ? "" : "; ") + source;
    }
    all.push_back(std::move(roofs));
  }
  return all;
}

std::vector<Paragraph> simulator_error_sentences(const Context& context) {
  // GPU names that share an error table are merged; algorithms as returned by error_group().
  struct Simulated {
    const analysis::PublishedErrors* errors = nullptr;
    std::set<std::pair<std::string, Pass>> parts;
  };
  std::map<std::string, Simulated> simulated;
  for (const Row row : context.table().rows()) {
    if (!is_simulated(context.table().points().origin(row)) || !analysis::has_values(context.table().disposition(row)))
      continue;
    const analysis::Run& run = context.table().run(row);
    const analysis::PublishedErrors* errors = analysis::validated_errors(run.limits);
    const AttentionProblem problem = context.table().problem(row);
    Simulated& group = simulated[errors != nullptr ? errors->device : run.device_name];
    group.errors = errors;
    group.parts.emplace(analysis::error_group(context.table().algorithm(row), problem.dtype), problem.pass);
  }
  std::set<std::string> not_validated;
  std::vector<Paragraph> sentences;
  for (const auto& [gpu, group] : simulated) {
    const auto& [errors, parts] = group;
    std::vector<std::string> known;
    for (const auto& [algorithm, pass] : parts) {
      const std::size_t before = known.size();
      for (const std::string_view quantity : {"time", "dram_bytes"}) {
        const analysis::ErrorRow* row = errors != nullptr ? errors->find(algorithm, pass, quantity) : nullptr;
        if (row == nullptr) continue;
        const std::string name =
            quantity == "time" ? text(msg::report::median_time{}) : text(msg::report::dram_bytes{});
        known.push_back(text(msg::report::error_of{.algorithm = algorithm,
                                                   .half = row->half,
                                                   .median = text(Share(row->median)),
                                                   .p95 = text(Share(row->p95)),
                                                   .pass = to_string(pass),
                                                   .quantity = name}));
      }
      if (known.size() == before) not_validated.insert(fmt::format("{} {} ({})", algorithm, to_string(pass), gpu));
    }
    if (known.empty()) continue;
    sentences.push_back(
        plain_paragraph(msg::report::errors{.gpu = gpu, .list = fmt::format("{}", fmt::join(known, "; "))}));
  }
  if (!not_validated.empty())
    sentences.push_back(plain_paragraph(msg::report::errors_none{.what = join_texts(not_validated)}));
  return sentences;
}

}  // namespace attnscope::report

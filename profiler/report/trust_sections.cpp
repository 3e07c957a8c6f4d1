// SPDX-License-Identifier: Apache-2.0
// What numbers are held against: ceilings that were measured, the simulator's published error, another program's
// counts of the same points, and the paper's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "messages/paper_notes.h"
#include "messages/report.h"
#include "profiler/compare/compared_values.h"
#include "profiler/curves/paper_table.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/published_errors.h"
#include "profiler/report/sections.h"
#include "profiler/report/svg.h"
#include "profiler/roofline/ceiling_table.h"
#include "profiler/units/spelling.h"

namespace attnscope::report {
namespace {

using analysis::Row;
using analysis::RunIndex;

/// The newest set that fits; null without one.
template <class Fits>
const CeilingFacts* newest_set(const std::vector<CeilingFacts>& sets, Fits fits) {
  const CeilingFacts* found = nullptr;
  for (const CeilingFacts& set : sets) {
    if (fits(set) && (found == nullptr || set.measured_at > found->measured_at)) found = &set;
  }
  return found;
}

/// What did not run has no values that could be off.
bool has_simulated_values(const Context& context, Row row) {
  return is_simulated(context.table().points().origin(row)) && analysis::has_values(context.table().disposition(row));
}

/// Algorithms, as judged_as() returns them, and their passes.
using SimulatedParts = std::set<std::pair<std::string, std::string>>;

/// By the GPU that was simulated; of several names of one with a table of errors, by that table's.
std::map<std::string, SimulatedParts> simulated_parts(const Context& context) {
  std::map<std::string, SimulatedParts> parts;
  for (const Row row : context.table().rows()) {
    if (!has_simulated_values(context, row)) continue;
    const std::string& gpu = context.table().run(row).device_name;
    const analysis::PublishedErrors* errors = analysis::validated_errors(gpu);
    const AttentionProblem problem = context.table().problem(row);
    parts[errors != nullptr ? errors->device : gpu].emplace(
        analysis::judged_as(context.table().algorithm(row), problem.dtype), to_string(problem.pass));
  }
  return parts;
}

void add_errors(const Context& context, std::vector<Block>& blocks) {
  std::set<std::string> not_validated;
  for (const auto& [gpu, parts] : simulated_parts(context)) {
    const analysis::PublishedErrors* errors = analysis::validated_errors(gpu);
    std::vector<analysis::ErrorRow> rows;
    std::set<std::pair<std::string, std::string>> known;
    for (const analysis::ErrorRow& row : errors != nullptr ? errors->rows : std::vector<analysis::ErrorRow>{}) {
      if (!parts.contains({row.algorithm, row.pass})) continue;
      known.emplace(row.algorithm, row.pass);
      rows.push_back(row);
    }
    for (const auto& part : parts) {
      if (!known.contains(part)) not_validated.insert(fmt::format("{} {} ({})", part.first, part.second, gpu));
    }
    if (rows.empty()) continue;
    blocks.emplace_back(
        written_out(analysis::error_table(std::move(rows), true), text(say::report::errors_caption{.gpu = gpu})));
  }
  if (!not_validated.empty()) {
    blocks.emplace_back(Paragraph{{{text(say::report::errors_none{.what = joined(not_validated)})}}, true});
  }
}

constexpr std::array<std::string_view, 6> counted_keys{metric_key::l2_to_sm_bytes,  metric_key::sm_to_l2_bytes,
                                                       metric_key::dram_read_bytes, metric_key::dram_write_bytes,
                                                       metric_key::time_median_ns,  metric_key::achieved_occupancy_pct};

/// What was measured here of the same point: the same in all fields and knobs, or, where the import does not know the
/// tile, the only one that is the same in all else.
std::optional<Row> measured_alike(const analysis::PointTable& table, Row imported) {
  const PointSpec wanted = table.spec(imported);
  const bool any_tile = !analysis::tile_stated(wanted.tile);
  std::optional<Row> found;
  for (const Row row : table.rows()) {
    if (table.points().origin(row) != Provenance::measured || table.algorithm(row) != wanted.algorithm) continue;
    if (table.n_q(row) != wanted.problem.n_q || table.n_k(row) != wanted.problem.n_k) continue;
    PointSpec spec = table.spec(row);
    if (any_tile) {
      spec.tile = wanted.tile;
      spec.knobs = wanted.knobs;
    }
    if (!(spec == wanted) || table.disposition(row) != Disposition::ok) continue;
    if (any_tile && found) return std::nullopt;
    found = row;
  }
  return found;
}

/// Imports beside what was counted of the same points, a table each label and device.
void add_imported(const Context& context, std::vector<Block>& blocks) {
  const analysis::PointTable& table = context.table();
  std::map<RunIndex, Table> tables;
  for (const Row row : table.rows()) {
    if (table.run(row).provenance != Provenance::imported) continue;
    const std::optional<Row> own = measured_alike(table, row);
    if (!own) continue;
    for (const std::string_view key : counted_keys) {
      const analysis::ValueColumn& values = table.values(key);
      if (!values.has(row) || !values.has(*own) || values.provenance(row) != Provenance::imported) continue;
      const Metric* metric = find_metric(key);
      const auto [place, first] = tables.try_emplace(table.run_index(row));
      if (first) {
        place->second = {
            text(say::report::imported_caption{.label = table.run(row).title, .device = table.run(row).device_name}),
            {{text(say::report::column_point{})},
             {text(say::report::column_counter{})},
             {text(say::report::column_ours{}), true},
             {text(say::report::column_imported{}), true},
             {text(say::report::column_imported_over{}), true},
             {text(say::report::column_row{}), true}},
            {}};
      }
      const double ratio = values.value(*own) > 0 ? values.value(row) / values.value(*own) : 0;
      place->second.rows.push_back({{describe(table.spec(*own)), own},
                                    {fmt::format("{} [{}]", text(metric->label()), metric->unit)},
                                    {exact_text(values.value(*own))},
                                    {exact_text(values.value(row))},
                                    {ratio > 0 ? fmt::format("{:.4f}", ratio) : ""},
                                    {row_name(row), row}});
    }
  }
  for (auto& [run, each] : tables) blocks.emplace_back(std::move(each));
}

}  // namespace

KnownRoofs roofs_known(const Context& context, RunIndex index) {
  const analysis::Run& run = context.table().runs()[index];
  const std::vector<CeilingFacts>& sets = context.input.ceilings;
  const CeilingFacts* set = nullptr;
  bool same_device = false;
  if (run.provenance == Provenance::simulated) {
    // What is simulated has its datasheet's, unless it was told a GPU's ceilings.
    const std::string& from = context.input.runs[index].rates_from;
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

std::string source_text(const KnownRoofs& known, const analysis::Roof& roof, const std::string& device) {
  switch (roof.source) {
    case analysis::RoofSource::measured:
      return text(say::report::roof_measured{.time = known.measured_at});
    case analysis::RoofSource::alike:
      return text(say::report::roof_alike{.device = device, .time = known.measured_at});
    case analysis::RoofSource::datasheet:
      return text(say::report::roof_datasheet{});
    case analysis::RoofSource::architecture:
      return text(say::report::roof_architecture{});
    case analysis::RoofSource::stated:
      return text(say::report::roof_stated{});
    case analysis::RoofSource::counted_share:
      return text(say::report::roof_share{});
    case analysis::RoofSource::usual_of_kind:
      return text(say::report::roof_usual{});
    case analysis::RoofSource::as_elsewhere:
      break;
  }
  return text(say::report::roof_estimate{});
}

std::string sources_text(const KnownRoofs& known, const std::vector<analysis::Roof>& roofs, const std::string& device) {
  std::vector<std::string> sources;
  std::string all;
  for (const analysis::Roof& roof : roofs) {
    const std::string source = source_text(known, roof, device);
    if (std::ranges::count(sources, source) > 0) continue;
    all += fmt::format("{}{}", all.empty() ? "" : "; ", source);
    sources.push_back(source);
  }
  return all;
}

void add_ceilings(const Context& context, std::vector<Block>& blocks) {
  std::set<std::string> devices;
  for (const Row row : context.table().rows()) devices.insert(context.table().run(row).device_name);
  for (const CeilingFacts& set : context.input.ceilings) {
    if (!devices.contains(set.device_name)) continue;
    std::vector<CeilingLine> lines = ceiling_lines(set.ceilings);
    std::erase_if(lines, [](const CeilingLine& line) { return line.kind->curve; });
    if (lines.empty()) continue;
    analysis::Table table = analysis::ceiling_table(std::move(lines));
    table.drop_empty_columns();
    blocks.emplace_back(written_out(table, text(say::report::ceilings_caption{
                                               .device = set.device_name, .time = set.measured_at, .file = set.file})));
  }
}

void add_trust(const Context& context, std::vector<Block>& blocks) {
  add_errors(context, blocks);
  add_imported(context, blocks);
}

std::vector<Block> paper_section(const Context& context) {
  std::vector<Block> blocks;
  std::map<RunIndex, std::vector<Row>> runs;
  for (const Row row : context.table().rows()) {
    if (context.table().run(row).provenance != Provenance::imported)
      runs[context.table().run_index(row)].push_back(row);
  }
  for (const auto& [run, rows] : runs) {
    const analysis::PaperTable compared = analysis::build_paper_table(context.table(), rows);
    if (compared.left.empty() && compared.middle.empty()) continue;
    blocks.emplace_back(with_rows(
        written_out(analysis::fig2_table(context.table(), compared, true),
                    text(say::report::paper_caption{.run = context.table().runs()[run].title,
                                                    .device = analysis::device_title(context.table(), run)}))));
    blocks.emplace_back(plain(say::paper_notes::notes{}));
    for (const Message& note : analysis::fig2_notes(context.table(), compared)) blocks.emplace_back(plain(note));
  }
  return blocks;
}

}  // namespace attnscope::report

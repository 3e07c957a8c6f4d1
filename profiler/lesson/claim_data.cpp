// SPDX-License-Identifier: Apache-2.0
// What a claim is of beside what its data are of: GPU, kernel and level of memory.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/lesson/claim_tests.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/point_query.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {
namespace {

void add_once(std::vector<std::string>& names, std::string name) {
  if (!name.empty() && std::ranges::count(names, name) == 0) names.push_back(std::move(name));
}

bool is_of_gpu(const Front& card, std::string_view gpu) {
  const std::string* meant = card.find("source_gpu");
  return meant == nullptr || same_gpu(*meant, gpu);
}

bool means_published(const Front& card) {
  return card.text("source_kernel") == "published";
}

/// Recorded of another program: what is exported here and imported again is of an algorithm that is known here.
bool is_of_others(const Evidence& evidence, Row row) {
  return evidence.points.run(row).provenance == Provenance::imported &&
         evidence.registry.find(evidence.points.algorithm(row)) == nullptr;
}

/// Whether the row is what the card's `from` or `to` names.
bool is_of_side(const Front& card, std::string_view key, const Evidence& evidence, Row row) {
  const bool of_others = card.text(key).starts_with(imported_series);
  return evidence.points.algorithm(row) == series_of(card, key) && (!of_others || is_of_others(evidence, row));
}

}  // namespace

std::string_view level_of_data(const Front& card, const ClaimTest& test) {
  if (!test.level.empty()) return test.level;
  if (const Metric* metric = find_metric(card.text("metric"))) return metric->level;
  const auto* const level = std::ranges::find(attnscope::memory_levels, card.text("level"));
  return level == attnscope::memory_levels.end() ? std::string_view() : *level;
}

std::string series_of(const Front& card, std::string_view key) {
  const std::string name = card.text(key);
  return name.starts_with(imported_series) ? name.substr(imported_series.size()) : name;
}

std::vector<Row> rows_of_card(const Front& card, const Evidence& evidence) {
  const auto query = PointQuery::parse(card.text("points"), evidence.points);
  if (!query.ok()) return {};
  std::vector<Row> rows;
  const std::vector<Row> asked = query->rows(evidence.points);
  std::ranges::set_intersection(asked, evidence.rows, std::back_inserter(rows));
  return rows;
}

std::string device_of(const PointTable& points, Row row) {
  const Run& own = points.run(row);
  const bool alone = std::ranges::all_of(points.runs(), [&](const Run& run) {
    return run.device_id == own.device_id && run.provenance == own.provenance;
  });
  return alone ? std::string() : device_title(points, points.run_index(row)) + ' ';
}

std::string name_of(const PointTable& points, Row row) {
  const PointSpec spec = points.spec(row);
  const AttentionProblem& p = spec.problem;
  std::string name = fmt::format(
      "{}{} {} d {} {}", device_of(points, row), short_title(points.algorithms(), spec.algorithm),
      p.n_q == p.n_k ? fmt::format("N {}", p.n_k) : fmt::format("n_q {} n_k {}", p.n_q, p.n_k), p.d,
      p.batch == 1 ? fmt::format("heads {}", p.heads_q) : fmt::format("batch {} heads {}", p.batch, p.heads_q));
  if (spec.tile.br > 0) name += fmt::format(" {}x{}", spec.tile.br, spec.tile.bc);  // other programs do not say it
  return name;
}

std::vector<Mismatch> keep_what_the_source_means(const Front& card, const ClaimTest& test, Evidence& evidence) {
  std::vector<Mismatch> mismatches;
  const auto mismatch = [&](std::string_view word, std::string source) {
    mismatches.push_back({word, std::move(source)});
  };
  if (card.find("source_level") != nullptr && card.text("source_level") != level_of_data(card, test))
    mismatch("other_level", card.text("source_level"));
  if (test.data != DataKind::points) {
    const bool of_gpu = test.data == DataKind::arithmetic || is_of_gpu(card, evidence.gpu.name);
    if (!of_gpu) mismatch("other_gpu", card.text("source_gpu"));
    if (test.data == DataKind::program && means_published(card)) mismatch("other_kernel", {});
    return mismatches;
  }
  // What else is in the data is no evidence for it.
  std::vector<Row>& rows = evidence.rows;
  rows = rows_of_card(card, evidence);
  std::erase_if(rows, [&](Row row) {
    return card.find("from") != nullptr && !is_of_side(card, "from", evidence, row) &&
           !is_of_side(card, "to", evidence, row);
  });
  if (rows.empty()) return mismatches;
  const auto narrow = [&](std::string_view word, std::string source, const auto& fits) {
    std::vector<Row> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), fits);
    if (kept.empty()) return mismatch(word, std::move(source));
    rows = std::move(kept);
  };
  narrow("other_gpu", card.text("source_gpu"),
         [&](Row row) { return is_of_gpu(card, evidence.points.run(row).device_name); });
  narrow("other_kernel", {}, [&](Row row) { return !means_published(card) || is_of_others(evidence, row); });
  return mismatches;
}

DataOf data_of(const Front& card, const ClaimTest& test, const Evidence& evidence, std::span<const Row> rows) {
  DataOf of;
  if (test.data == DataKind::arithmetic) return of;
  if (test.data != DataKind::points) add_once(of.gpus, evidence.gpu.name);
  if (test.data == DataKind::program) {
    for (const std::string_view key : {"algorithm", "from", "to"}) {
      if (const Algorithm* own = evidence.registry.find(card.text(key))) add_once(of.own, own->facts().short_title);
    }
  }
  for (const Row row : rows) {
    const Run& run = evidence.points.run(row);
    add_once(of.gpus, run.device_name);
    const std::string& algorithm = evidence.points.algorithm(row);
    add_once(is_of_others(evidence, row) ? of.others : of.own, short_title(evidence.points.algorithms(), algorithm));
  }
  if (!of.own.empty() || !of.others.empty()) of.level = level_of_data(card, test);
  return of;
}

}  // namespace attnscope::analysis::lesson

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "messages/compare_page.h"
#include "profiler/compare/comparison_words.h"
#include "profiler/plan/fields.h"
#include "profiler/points/facets.h"
#include "profiler/tilemap/tile_map.h"
#include "storage/compared_runs.h"
#include "ui/models/curve_series.h"
#include "ui/process/shared_of_many.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// What runs are told apart by, a line each, what somebody means first: who opens two files wants them compared. An
/// empty text is none that is known.
struct RunProperty {
  const char* key;
  Message (*label)();
  QString (*text)(const RunInfo&);
};

QString run_name(const RunInfo& run) {
  return run.title.isEmpty() ? run_title(run.summary) : run.title;
}

constexpr std::array run_properties{
    RunProperty{"file", [] { return Message(say::compare_page::by_file{}); },
                [](const RunInfo& run) { return one_line(QFileInfo(run.file).fileName()); }},
    RunProperty{"run", [] { return Message(say::compare_page::by_run{}); },
                [](const RunInfo& run) { return run_name(run); }},
    RunProperty{"program", [] { return Message(say::compare_page::by_program{}); },
                [](const RunInfo& run) { return one_line(to_qstring(run.summary.environment.app_version)); }},
    RunProperty{"driver", [] { return Message(say::compare_page::by_driver{}); },
                [](const RunInfo& run) { return one_line(to_qstring(run.summary.environment.driver_version)); }},
    RunProperty{"source", [] { return Message(say::compare_page::by_source{}); },
                [](const RunInfo& run) { return to_qstring(run.summary.provenance); }},
};

/// The runs in the order in which they began, each under a name of its own where `apart`.
std::vector<analysis::RunIndex> oldest_first(const analysis::PointTable& table) {
  std::vector<analysis::RunIndex> runs(table.runs().size());
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i] = static_cast<analysis::RunIndex>(i);
  std::ranges::stable_sort(runs, [&](auto a, auto b) { return analysis::newer(table, b, a); });
  return runs;
}

std::optional<SideAxis> axis_of_runs(const PointSet& points, const RunProperty& property) {
  SideAxis axis{
      .key = QLatin1String(property.key), .label = qtext(property.label()), .names = {}, .codes = {}, .values = {}};
  const analysis::PointTable& table = points.table();
  std::vector<std::uint32_t> code_of(table.runs().size());
  std::map<QString, std::uint32_t> known;
  const bool each_apart = axis.key == QLatin1String("run");
  const bool of_files = axis.key == QLatin1String("file");
  std::map<QString, std::set<QString>> named_so;  // files of one name, in several folders
  for (const analysis::RunIndex run : oldest_first(table)) {
    const QString& file = points.run(run).file;
    named_so[QFileInfo(file).fileName()].insert(file);
  }
  const auto file_name = [&](const QFileInfo& file) {
    if (named_so[file.fileName()].size() < 2) return one_line(file.fileName());
    return one_line(QStringLiteral("%1/%2").arg(file.dir().dirName(), file.fileName()));
  };
  const bool several_files = named_so.size() > 1 || (!named_so.empty() && named_so.begin()->second.size() > 1);
  std::map<QString, int> alike;
  for (const analysis::RunIndex run : oldest_first(table)) {
    QString text = property.text(points.run(run));
    if (text.isEmpty()) text = qtext(say::compare_page::unknown{});
    // Runs of two devices may share a title.
    if (of_files) text = file_name(QFileInfo(points.run(run).file));
    if (each_apart) {
      if (several_files) text = QStringLiteral("%1 · %2").arg(text, file_name(QFileInfo(points.run(run).file)));
      const QString name = text;
      if (known.contains(text))
        text = QStringLiteral("%1 · %2").arg(name, QString::fromStdString(device_title(table, run)));
      for (int n = 2; known.contains(text); ++n) text = QStringLiteral("%1 · %2").arg(name).arg(n);
    }
    const auto [place, first] = known.try_emplace(text, static_cast<std::uint32_t>(axis.values.size()));
    if (first) axis.values.push_back(text);
    code_of[run] = place->second;
  }
  if (axis.values.size() < 2) return std::nullopt;
  axis.codes.reserve(points.size());
  for (const Row row : table.rows()) axis.codes.push_back(code_of[table.run_index(row)]);
  return axis;
}

bool makes_another_problem(const analysis::PointAxis& axis) {
  static constexpr std::array<std::string_view, 3> configuration{"algorithm", "br", "bc"};
  return std::ranges::any_of(axis.names, [](const std::string& name) {
    return find_field(name) != nullptr && std::ranges::find(configuration, name) == configuration.end();
  });
}

SideAxis axis_of_points(const PointSet& points, const analysis::PointAxis& axis) {
  const analysis::CodeColumn& column = points.table().codes(*axis.facet);
  SideAxis sides{.key = QString::fromStdString(axis.key()),
                 .label = qtext(axis.facet->label),
                 .names = axis.names,
                 .codes = column.codes,
                 .values = {}};
  sides.values.reserve(column.values.size());
  for (const analysis::FacetValue& value : column.values) {
    sides.values.push_back(value.full.empty() ? value_words(*axis.facet, value) : QString::fromStdString(value.full));
  }
  return sides;
}

std::vector<std::string> other_knobs(const analysis::PointTable& table, const std::vector<std::string>& than) {
  std::set<std::string> names;
  for (const Knobs& knobs : table.points().knobs().values()) {
    for (const Knobs::Entry& entry : knobs) names.insert(entry.first);
  }
  for (const std::string& name : than) names.erase(name);
  return {names.begin(), names.end()};
}

/// By what both sides have in common, but for that by which they are sides.
analysis::Alignment alignment_beside(const analysis::PointTable& table, const SideAxis& axis,
                                     const std::vector<Row>& base, const std::vector<Row>& other) {
  analysis::Alignment alignment = *analysis::alignment_of({}, table, base, other);
  const auto is_side = [&](const std::string& name) { return std::ranges::find(axis.names, name) != axis.names.end(); };
  std::erase_if(alignment.fields, is_side);
  const bool of_knob =
      std::ranges::any_of(axis.names, [](const std::string& name) { return find_field(name) == nullptr; });
  if (of_knob) {
    alignment.all_knobs = false;
    alignment.knobs = other_knobs(table, axis.names);
  }
  if (axis.key == QLatin1String(analysis::device_facet_key.data())) alignment.device = false;
  return alignment;
}

/// What a point is beside the axis, and its side.
using PlaceOnSide = std::pair<std::uint64_t, std::uint32_t>;

/// Of all points, each once, ascending.
std::vector<PlaceOnSide> places_on_sides(const PointSet& points, const SideAxis& axis) {
  const std::vector<std::uint64_t> beside = analysis::combined_codes(points.table(), facets_beside_sides({}, axis));
  std::vector<PlaceOnSide> places;
  places.reserve(beside.size());
  for (std::size_t row = 0; row < beside.size(); ++row) places.emplace_back(beside[row], axis.codes[row]);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// Whether some point stands on both sides, whatever came of it.
bool met(const analysis::ComparisonResult& result) {
  return !result.pairs.empty() || std::ranges::any_of(result.left_out, [](const analysis::LeftOut& left) {
    return left.why != analysis::LeftOut::Why::no_partner;
  });
}

}  // namespace

std::optional<std::uint32_t> SideAxis::side_named(const QString& name) const {
  const auto found = std::ranges::find(values, name);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - values.begin());
}

std::vector<SideAxis> side_axes(const PointSet& points) {
  std::vector<SideAxis> axes;
  if (points.empty()) return axes;
  for (const RunProperty& property : run_properties) {
    if (auto axis = axis_of_runs(points, property)) axes.push_back(std::move(*axis));
  }
  const std::vector<Row> rows = points.table().rows();
  const std::vector<analysis::PointAxis> varying = analysis::varying_axes(points.table(), rows);
  for (const bool last : {false, true}) {
    for (const analysis::PointAxis& axis : varying) {
      if (makes_another_problem(axis) == last) axes.push_back(axis_of_points(points, axis));
    }
  }
  return axes;
}

std::optional<std::uint32_t> fullest_side(const PointSet& points, const SideAxis& axis) {
  const std::vector<PlaceOnSide> places = places_on_sides(points, axis);
  std::vector<std::size_t> shared(axis.values.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool met = (i > 0 && places[i - 1].first == places[i].first) ||
                     (i + 1 < places.size() && places[i + 1].first == places[i].first);
    if (met) ++shared[places[i].second];
  }
  const auto fullest = std::ranges::max_element(shared);
  if (fullest == shared.end() || *fullest == 0) return std::nullopt;
  return static_cast<std::uint32_t>(fullest - shared.begin());
}

std::vector<analysis::FacetPtr> facets_beside_sides(std::vector<analysis::PointAxis> axes, const SideAxis& sides) {
  const std::vector<analysis::PointAxis> known = analysis::point_axes();
  const analysis::PointAxis* own = analysis::find_axis(known, sides.key.toStdString());
  if (own == nullptr) own = analysis::find_axis(known, analysis::device_facet_key);  // runs have theirs
  if (own != nullptr) axes.push_back(*own);
  return analysis::facets_beside(axes);
}

QStringList ComparisonSet::method_words(std::optional<std::uint32_t> code) const {
  std::vector<const analysis::ComparisonResult*> results;
  results.reserve(others.size());
  for (const OtherSide& other : others) {
    if (!code || other.code == *code) results.push_back(&other.result);
  }
  QStringList words;
  for (const Message& floor : analysis::floor_words(results, looks)) words << qtext(floor);
  return words;
}

bool ComparisonSet::some_met() const {
  return std::ranges::any_of(others, [](const OtherSide& other) { return met(other.result); });
}

std::shared_ptr<const ComparisonSet> compare_sides(const ComparisonAsk& ask, const std::function<bool()>& cancelled) {
  const auto is_cancelled = [&] { return cancelled && cancelled(); };
  const std::vector<Row> rows = ask.points->table().rows();
  const std::shared_ptr<const PointSet>& points = ask.points;
  const auto set = make_shared_of_many<ComparisonSet>();
  set->points = points;
  set->axis = ask.axis;
  set->base = ask.base;
  set->asked_margin = ask.margin;
  std::vector<std::vector<Row>> sides(ask.axis.values.size());
  for (const Row row : rows) sides[ask.axis.codes[row]].push_back(row);
  analysis::ComparisonRequest request;
  request.base = sides[ask.base];
  request.margin = ask.margin;
  for (std::size_t run = 0; run < points->table().runs().size(); ++run) {
    const RunSummary& summary = points->run(static_cast<analysis::RunIndex>(run)).summary;
    request.conditions.push_back(conditions_of(summary));
    request.looks = std::max(request.looks, looks_of(summary));
  }
  set->looks = request.looks;
  std::vector<analysis::AlignedSides> aligned;
  for (std::uint32_t code = 0; code < sides.size(); ++code) {
    if (code == ask.base || sides[code].empty()) continue;
    if (is_cancelled()) return nullptr;
    request.other = sides[code];
    request.alignment = alignment_beside(points->table(), ask.axis, request.base, request.other);
    set->others.push_back({.code = code, .alignment = request.alignment, .result = {}});
    aligned.push_back(analysis::align(points->table(), request));
  }
  // Where some side has a point of the baseline, one that has none would only be counted among them.
  if (std::ranges::any_of(aligned, met, &analysis::AlignedSides::result)) {
    for (std::size_t i = aligned.size(); i-- > 0;) {
      if (met(aligned[i].result)) continue;
      set->others.erase(set->others.begin() + static_cast<std::ptrdiff_t>(i));
      aligned.erase(aligned.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (const analysis::AlignedSides& sides_of : aligned) set->margin = std::max(set->margin, sides_of.result.margin);
  // One margin on a page: that of the sides that need the wider one.
  for (std::size_t i = 0; i < aligned.size(); ++i) {
    if (is_cancelled()) return nullptr;
    set->others[i].result = analysis::judged(std::move(aligned[i]), request, set->margin);
  }
  return is_cancelled() ? nullptr : set;
}

}  // namespace attnscope::ui

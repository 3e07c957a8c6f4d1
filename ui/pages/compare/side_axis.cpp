// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/side_axis.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "messages/compare_page.h"
#include "profiler/plan/fields.h"
#include "profiler/tilemap/tile_map.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Runs of the points, oldest first.
class Runs {
 public:
  explicit Runs(const PointSet& points) : points_(points) {
    const analysis::PointTable& table = points.table();
    for (std::size_t i = 0; i < table.runs().size(); ++i) order_.push_back(static_cast<analysis::RunIndex>(i));
    std::ranges::stable_sort(order_, [&](auto a, auto b) { return analysis::is_newer(table, b, a); });
    for (const analysis::RunIndex run : order_) {
      const QString& file = points.run(run).file;
      paths_[QFileInfo(file).fileName()].insert(file);
      files_.insert(file);
    }
  }

  [[nodiscard]] const std::vector<analysis::RunIndex>& order() const { return order_; }
  /// File name, with its folder if several folders have a file of that name.
  [[nodiscard]] QString file(analysis::RunIndex run) const {
    const QFileInfo file(points_.run(run).file);
    if (paths_.at(file.fileName()).size() < 2) return one_line(file.fileName());
    return one_line(QStringLiteral("%1/%2").arg(file.dir().dirName(), file.fileName()));
  }
  /// Returns a name that is not in `taken`: the title, then with file, device, or a number.
  [[nodiscard]] QString name(analysis::RunIndex run, const std::vector<QString>& taken) const {
    const RunInfo& info = points_.run(run);
    QString title = info.title.isEmpty() ? run_title(info.summary) : info.title;
    if (files_.size() > 1) title = QStringLiteral("%1 · %2").arg(title, file(run));
    const auto is_taken = [&](const QString& name) { return std::ranges::find(taken, name) != taken.end(); };
    QString name = title;
    if (is_taken(name)) {
      name = QStringLiteral("%1 · %2").arg(title, QString::fromStdString(device_title(points_.table(), run)));
    }
    for (int n = 2; is_taken(name); ++n) name = QStringLiteral("%1 · %2").arg(title).arg(n);
    return name;
  }

 private:
  const PointSet& points_;
  std::vector<analysis::RunIndex> order_;
  std::map<QString, std::set<QString>> paths_;  ///< Keyed by file name.
  std::set<QString> files_;
};

/// Adds an axis with one side per distinct name of a run. `name` gets the run and the names so far.
template <class Name>
void add_run_axis(const PointSet& points, const Runs& runs, const char* key, const Message& label, Name name,
                  std::vector<SideAxis>& axes) {
  SideAxis axis{.key = QLatin1String(key), .label = qtext(label), .names = {}, .codes = {}, .values = {}};
  std::vector<std::uint32_t> code_of(points.table().runs().size());
  for (const analysis::RunIndex run : runs.order()) {
    QString text = name(run, axis.values);
    if (text.isEmpty()) text = qtext(msg::compare_page::unknown{});
    const auto known = std::ranges::find(axis.values, text);
    code_of[run] = static_cast<std::uint32_t>(known - axis.values.begin());
    if (known == axis.values.end()) axis.values.push_back(text);
  }
  if (axis.values.size() < 2) return;
  axis.codes.reserve(points.size());
  for (const Row row : points.table().rows()) axis.codes.push_back(code_of[points.table().run_index(row)]);
  axes.push_back(std::move(axis));
}

bool changes_problem(const analysis::PointAxis& axis) {
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
  for (const analysis::FacetValue& value : column.values) {
    sides.values.push_back(value.full.empty() ? facet_value_text(*axis.facet, value)
                                              : QString::fromStdString(value.full));
  }
  return sides;
}

/// Returns the fields in which compared points must agree; tiles may differ.
std::vector<analysis::FacetPtr> fixed_facets(const SideAxis& sides) {
  const std::vector<analysis::PointAxis> known = analysis::point_axes();
  const analysis::PointAxis* own = analysis::find_axis(known, sides.key.toStdString());
  // Sides defined by a run property may also differ in the device.
  if (own == nullptr) own = analysis::find_axis(known, analysis::device_facet_key);
  std::vector<analysis::FacetPtr> facets =
      analysis::fixed_facets(own == nullptr ? std::vector<analysis::PointAxis>() : std::vector{*own});
  analysis::remove_tile_facets(facets);
  return facets;
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
  const Runs runs(points);
  const auto add = [&](const char* key, const Message& label, auto name) {
    add_run_axis(points, runs, key, label, name, axes);
  };
  const auto summary = [&](analysis::RunIndex run) -> const RunSummary& { return points.run(run).summary; };
  using Taken = std::vector<QString>;
  // Files come first, because users usually open two files to compare them.
  add("file", msg::compare_page::by_file{}, [&](auto run, const Taken&) { return runs.file(run); });
  add("run", msg::compare_page::by_run{}, [&](auto run, const Taken& taken) { return runs.name(run, taken); });
  add("program", msg::compare_page::by_program{},
      [&](auto run, const Taken&) { return one_line(to_qstring(summary(run).environment.app_version)); });
  add("driver", msg::compare_page::by_driver{},
      [&](auto run, const Taken&) { return one_line(to_qstring(summary(run).environment.driver_version)); });
  add("source", msg::compare_page::by_source{},
      [&](auto run, const Taken&) { return to_qstring(summary(run).provenance); });
  const std::vector<Row> rows = points.table().rows();
  const std::vector<analysis::PointAxis> varying = analysis::varying_axes(points.table(), rows);
  for (const bool last : {false, true}) {
    for (const analysis::PointAxis& axis : varying) {
      if (changes_problem(axis) == last) axes.push_back(axis_of_points(points, axis));
    }
  }
  return axes;
}

std::optional<std::uint32_t> best_matched_side(const PointSet& points, const SideAxis& axis) {
  // For each row: code of the fields that are not on the axis, and side; sorted, without duplicates.
  const std::vector<std::uint64_t> beside = analysis::combined_codes(points.table(), fixed_facets(axis));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
  places.reserve(beside.size());
  for (std::size_t row = 0; row < beside.size(); ++row) places.emplace_back(beside[row], axis.codes[row]);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::size_t> shared(axis.values.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool has_partner = (i > 0 && places[i - 1].first == places[i].first) ||
                             (i + 1 < places.size() && places[i + 1].first == places[i].first);
    if (has_partner) ++shared[places[i].second];
  }
  const auto default_side = std::ranges::max_element(shared);
  if (default_side == shared.end() || *default_side == 0) return std::nullopt;
  return static_cast<std::uint32_t>(default_side - shared.begin());
}

analysis::Alignment alignment_except(const analysis::PointTable& table, const SideAxis& axis,
                                     const std::vector<Row>& base, const std::vector<Row>& other,
                                     std::optional<analysis::ComparedTiles> tiles) {
  analysis::Alignment alignment = *analysis::parse_alignment({}, table, base, other, tiles);
  const auto is_side = [&](const std::string& name) { return std::ranges::find(axis.names, name) != axis.names.end(); };
  std::erase_if(alignment.fields, is_side);
  const auto is_knob = [](const std::string& name) { return find_field(name) == nullptr; };
  if (alignment.tiles == analysis::ComparedTiles::equal && std::ranges::any_of(axis.names, is_knob)) {
    std::set<std::string> knobs;
    for (const Knobs& given : table.points().knobs().values()) {
      for (const Knobs::Entry& entry : given) knobs.insert(entry.first);
    }
    std::erase_if(knobs, is_side);
    alignment.all_knobs = false;
    alignment.knobs.assign(knobs.begin(), knobs.end());
  }
  if (axis.key == QLatin1String(analysis::device_facet_key.data())) alignment.device = false;
  return alignment;
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/loaded_runs.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using Property = std::function<QString(const PointSpec&)>;

/// Returns the properties that distinguish points of runs, in the order they are added to titles.
const std::vector<Property>& properties() {
  static const std::vector<Property> table = [] {
    std::vector<Property> all{
        [](const PointSpec& s) { return to_qstring(to_string(s.problem.pass)); },
        [](const PointSpec& s) {
          return s.problem.n_q == s.problem.n_k ? QString() : QStringLiteral("n_q %1").arg(s.problem.n_q);
        },
        [](const PointSpec& s) { return to_qstring(s.algorithm); },
        [](const PointSpec& s) { return format_mask(s.problem.mask); },
        [](const PointSpec& s) { return QStringLiteral("d %1").arg(s.problem.d); },
        [](const PointSpec& s) { return format_heads(s.problem); },
        [](const PointSpec& s) { return to_qstring(to_string(s.problem.dtype)); },
    };
    for (const Field& setting : point_settings()) {
      if (is_always_shown(setting)) continue;
      all.emplace_back([setting](const PointSpec& spec) {
        const QString text = setting_value(setting, spec).text;
        return text.isEmpty() ? QString() : QStringLiteral("%1 %2").arg(lowercase_label(qtext(setting.label())), text);
      });
    }
    return all;
  }();
  return table;
}

std::vector<PointSpec> distinct_specs(const LoadedRun& run) {
  const std::vector<Row> rows = run.points.distinct_settings();
  std::vector<PointSpec> kinds;
  kinds.reserve(rows.size());
  for (const Row row : rows) kinds.push_back(run.points.columns().spec(row));
  return kinds;
}

/// Returns the distinct values of a property among a run's points, "bwd", "d 64/d 128"; long lists are shortened.
QString values_of(const std::vector<PointSpec>& kinds, const Property& property) {
  constexpr qsizetype most = 3;
  QStringList values;
  for (const PointSpec& spec : kinds) {
    const QString value = property(spec);
    if (!value.isEmpty() && !values.contains(value)) values << value;
  }
  if (values.size() > most) values = values.mid(0, most) << QStringLiteral("…");
  return values.join(QLatin1Char('/'));
}

bool all_unique(QStringList titles) {
  return titles.removeDuplicates() == 0;
}

}  // namespace

std::vector<QString> distinct_titles(const std::vector<LoadedRun>& runs) {
  std::vector<QString> titles(runs.size());
  std::map<std::pair<QString, std::string>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    titles[i] = run_title(runs[i].info->summary);
    alike[{titles[i], runs[i].info->summary.device_name}].push_back(i);
  }
  for (const auto& [title, places] : alike) {
    if (places.size() < 2) continue;
    QStringList named(static_cast<qsizetype>(places.size()), title.first);
    std::vector<std::vector<PointSpec>> kinds;
    kinds.reserve(places.size());
    for (const std::size_t place : places) kinds.push_back(distinct_specs(runs[place]));
    for (const Property& property : properties()) {
      if (all_unique(named)) break;
      QStringList values;
      for (const std::vector<PointSpec>& of_run : kinds) values << values_of(of_run, property);
      if (std::all_of(values.begin(), values.end(), [&](const QString& value) { return value == values[0]; })) continue;
      for (qsizetype i = 0; i < named.size(); ++i) {
        if (!values[i].isEmpty()) named[i] += QStringLiteral(" · ") + values[i];
      }
    }
    QStringList begun;
    for (const std::size_t place : places) {
      begun << format_time(runs[place].info->summary.started_at);
    }
    if (!all_unique(named) && QStringList(begun).removeDuplicates() < begun.size() - 1) {
      for (qsizetype i = 0; i < named.size(); ++i) {
        if (!begun[i].isEmpty()) named[i] += QStringLiteral(" · ") + begun[i];
      }
    }
    std::map<QString, int> times;
    for (qsizetype i = 0; i < named.size(); ++i) {
      const int nth = ++times[named[i]];
      titles[places[static_cast<std::size_t>(i)]] =
          nth == 1 ? named[i] : QStringLiteral("%1 (%2)").arg(named[i]).arg(nth);
    }
  }
  return titles;
}

RunCopies::RunCopies(const std::vector<LoadedRun>& runs) : runs_(runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) by_uid_[runs[i].info->summary.uid].push_back(i);
}

std::optional<std::size_t> RunCopies::of(std::size_t copy, bool checked_only) const {
  const LoadedRun& run = runs_[copy];
  if (run.info->summary.uid.empty()) return {};
  for (const std::size_t i : by_uid_.at(run.info->summary.uid)) {
    if (i == copy || (checked_only && !runs_[i].visible) || !is_copy(run, runs_[i])) continue;
    if (runs_[i].size() > run.size() || i < copy) return i;
  }
  return {};
}

bool is_copy(const LoadedRun& a, const LoadedRun& b) {
  const std::string& uid = a.info->summary.uid;
  if (uid.empty() || uid != b.info->summary.uid || a.size() > b.size()) return false;
  return a.points.is_subset_of(b.points);
}

std::map<QString, QString> distinct_file_names(const QStringList& paths) {
  const auto tail = [](const QString& path, int folders) {
    return path.section(QLatin1Char('/'), -1 - folders, -1, QString::SectionSkipEmpty);
  };
  std::map<QString, QString> names;
  for (const QString& path : paths) {
    const auto depth = static_cast<int>(path.count(QLatin1Char('/')));
    int folders = 0;
    const auto taken = [&](const QString& other) {
      return other != path && tail(other, folders) == tail(path, folders);
    };
    while (folders < depth && std::any_of(paths.begin(), paths.end(), taken)) ++folders;
    names[path] = tail(path, folders);
  }
  return names;
}

}  // namespace attnscope::ui

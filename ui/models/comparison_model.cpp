// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison_model.h"

#include <QColor>
#include <QFont>
#include <QGuiApplication>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "messages/compare_page.h"
#include "profiler/analysis/comparison_words.h"
#include "ui/format.h"
#include "ui/plots/heatmap_colors.h"
#include "ui/said.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::LeftOut;
using analysis::RatioInterval;
using analysis::Verdict;

/// What one wants to see first: regressions, then what got better, what is open, and what stayed.
int rank_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return 0;
    case Verdict::faster:
      return 1;
    case Verdict::ambiguous:
      return 2;
    case Verdict::same:
      return 3;
  }
  return 3;
}

QString ratio_text(double ratio) {
  return QString::number(ratio, 'f', 4);
}

}  // namespace

QString verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return said(say::compare_page::faster{});
    case Verdict::slower:
      return said(say::compare_page::slower{});
    case Verdict::same:
      return said(say::compare_page::same{});
    case Verdict::ambiguous:
      break;
  }
  return said(say::compare_page::undecided{});
}

QColor verdict_color(Verdict verdict, bool dark) {
  // The ends of the maps' scale, or what is between them and white where the background is dark.
  if (verdict == Verdict::faster) return blue_to_orange(dark ? 0.25 : 0);
  if (verdict == Verdict::slower) return blue_to_orange(dark ? 0.75 : 1);
  return {};
}

QString interval_words(const RatioInterval& ratio) {
  if (ratio.interval.low >= ratio.interval.high) return ratio_text(ratio.ratio);
  return QStringLiteral("%1 [%2, %3]")
      .arg(ratio_text(ratio.ratio), ratio_text(ratio.interval.low), ratio_text(ratio.interval.high));
}

std::string settling_command(const ComparisonSet& set, const ComparedPair& pair) {
  return analysis::settling_command(set.points->table(), pair, set.margin);
}

QString settling_words(const ComparisonSet& set, const ComparedPair& pair) {
  return said(analysis::settling_words(set.points->table(), pair, set.margin));
}

QString left_out_words(const ComparisonSet& set, const LeftOut& left) {
  switch (left.why) {
    case LeftOut::Why::no_partner:
      return left.of_other ? said(say::compare_page::not_in_baseline{}) : said(say::compare_page::only_in_baseline{});
    case LeftOut::Why::several:
      return said(say::compare_page::several{.points = left.rows.size()});
    case LeftOut::Why::failed:
    case LeftOut::Why::both_failed:
      break;
  }
  return said(analysis::failure_words(set.points->table(), left));
}

QStringList method_words(const ComparisonSet& set) {
  std::vector<const analysis::ComparisonResult*> results;
  results.reserve(set.others.size());
  for (const OtherSide& other : set.others) results.push_back(&other.result);
  QStringList words;
  for (const Message& floor : analysis::floor_words(results, {}, set.looks)) words << said(floor);
  return words;
}

ComparisonModel::ComparisonModel(QObject* parent) : TableModel(parent) {
  make_columns();
}

void ComparisonModel::set_comparison(std::shared_ptr<const ComparisonSet> set, std::optional<std::uint32_t> code) {
  beginResetModel();
  set_ = std::move(set);
  lines_.clear();
  for (std::size_t other = 0; other < set_->others.size(); ++other) {
    if (code && set_->others[other].code != *code) continue;
    const analysis::ComparisonResult& result = set_->others[other].result;
    for (std::size_t i = 0; i < result.pairs.size(); ++i) lines_.push_back({other, i, false});
  }
  for (std::size_t other = 0; other < set_->others.size(); ++other) {
    if (code && set_->others[other].code != *code) continue;
    const analysis::ComparisonResult& result = set_->others[other].result;
    for (std::size_t i = 0; i < result.left_out.size(); ++i) lines_.push_back({other, i, true});
  }
  make_columns();
  endResetModel();
}

const ComparedPair* ComparisonModel::pair(int row) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  return line.left_out ? nullptr : &pair_of(line);
}

Row ComparisonModel::row_in(const Line& line) const {
  return line.left_out ? left(line).rows.front() : pair_of(line).other.front();
}

std::optional<ShownPoint> ComparisonModel::point(int row, bool of_other) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  if (!line.left_out) return (*set_->points)[of_other ? pair_of(line).other.front() : pair_of(line).base.front()];
  if (left(line).of_other != of_other) return std::nullopt;
  return (*set_->points)[left(line).rows.front()];
}

std::optional<int> ComparisonModel::row_of(Row point) const {
  const auto has = [&](const Line& line) {
    const auto in = [&](const std::vector<Row>& rows) { return std::ranges::find(rows, point) != rows.end(); };
    return line.left_out ? in(left(line).rows) : in(pair_of(line).other) || in(pair_of(line).base);
  };
  const auto found = std::ranges::find_if(lines_, has);
  if (found == lines_.end()) return std::nullopt;
  return static_cast<int>(found - lines_.begin());
}

int ComparisonModel::column_named(const QString& key) const {
  const auto found = std::ranges::find(columns_, key, &Column::key);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

QVariant ComparisonModel::verdict_order(const Line& line) const {
  if (line.left_out) return {};
  const analysis::RowVerdict& row = pair_of(line).verdict;
  // Within a verdict the largest change first; of what is open, what may be a regression.
  const double change = std::atan(std::log(row.time.ratio)) / std::numbers::pi;  // within half of 0
  const double within = row.verdict == Verdict::faster ? change
                        : row.verdict == Verdict::same ? -std::abs(change)
                                                       : -change;
  return rank_of(row.verdict) + within;
}

QString ComparisonModel::verdict_tip(const Line& line) const {
  if (line.left_out) return left_out_words(*set_, left(line));
  const analysis::RowVerdict& row = pair_of(line).verdict;
  return said(say::compare_page::verdict_tip{.rounds = row.rounds,
                                             .change = QString::number(row.p_change, 'g', 2).toStdString(),
                                             .same = QString::number(row.p_same, 'g', 2).toStdString()});
}

bool ComparisonModel::varies(const PointSetting& setting) const {
  const analysis::PointColumns& points = set_->points->table().points();
  const Row first = row_in(lines_.front());
  if (setting.fields.empty()) {
    const auto text = [&](Row row) { return setting.value(points.spec(row)).text; };
    // Of knobs there are few values, whatever the rows.
    const QString of_first = text(first);
    std::map<std::uint32_t, bool> differs;
    return std::ranges::any_of(lines_, [&](const Line& line) {
      const auto [known, fresh] = differs.try_emplace(points.knobs().code(row_in(line)), false);
      if (fresh) known->second = text(row_in(line)) != of_first;
      return known->second;
    });
  }
  return std::ranges::any_of(setting.fields, [&](std::string_view name) {
    const analysis::FieldColumn* column = points.find_field(name);
    if (column == nullptr) return false;
    const std::uint64_t of_first = column->key(first);
    return std::ranges::any_of(lines_, [&](const Line& line) { return column->key(row_in(line)) != of_first; });
  });
}

namespace {

const std::vector<PointSetting>& all_settings() {
  static const std::vector<PointSetting> settings = point_settings();
  return settings;
}

}  // namespace

bool ComparisonModel::sets_sides_apart(const PointSetting& setting) const {
  return std::ranges::any_of(set_->axis.names, [&](const std::string& name) {
    return setting.fields.empty() ? setting.key == QString::fromStdString(name)
                                  : std::ranges::find(setting.fields, name) != setting.fields.end();
  });
}

QString ComparisonModel::common() const {
  QStringList words;
  if (lines_.empty()) return {};
  const PointSpec first = set_->points->table().spec(row_in(lines_.front()));
  for (const PointSetting& setting : all_settings()) {
    const bool goes_without_saying = setting.shown != PointSetting::Shown::always && !setting.is_set(first);
    if (goes_without_saying || sets_sides_apart(setting) || varies(setting)) continue;
    const QString text = setting.value(first).text;
    if (!text.isEmpty()) words << QStringLiteral("%1 %2").arg(setting.label, text);
  }
  return words.join(QStringLiteral(" · "));
}

void ComparisonModel::add_settings() {
  for (const PointSetting& setting : all_settings()) {
    if (lines_.empty() || sets_sides_apart(setting) || !varies(setting)) continue;
    const bool number = setting.value(set_->points->table().spec(row_in(lines_.front()))).number;
    columns_.push_back({setting.label, setting.key, setting.help, number, [this, &setting](const Line& line) {
                          const PointSetting::Value value = setting.value(set_->points->table().spec(row_in(line)));
                          return Value{.text = value.text, .sort = value.sort, .tip = {}, .number = value.number};
                        }});
  }
}

void ComparisonModel::add_pair_column(const QString& heading, const QString& key, const QString& help,
                                      PairValue value) {
  columns_.push_back({heading, key, help, true, [this, value = std::move(value)](const Line& line) {
                        Value shown = line.left_out ? Value{} : value(pair_of(line));
                        shown.number = true;
                        return shown;
                      }});
}

ComparisonModel::Value ComparisonModel::ratio_value(const RatioInterval& ratio) {
  return {.text = interval_words(ratio), .sort = ratio.ratio};
}

void ComparisonModel::add_measured() {
  const auto time = [](double ns) { return Value{.text = format_duration(ns), .sort = ns}; };
  add_pair_column(said(say::compare_page::base_time{}), QStringLiteral("base_time"),
                  said(say::compare_page::base_time_help{}), [=](const ComparedPair& p) { return time(p.base_ns); });
  add_pair_column(said(say::compare_page::other_time{}), QStringLiteral("other_time"),
                  said(say::compare_page::other_time_help{}), [=](const ComparedPair& p) { return time(p.other_ns); });
  const auto any = [&](auto holds) {
    return std::ranges::any_of(lines_, [&](const Line& line) { return !line.left_out && holds(pair_of(line)); });
  };
  if (any([](const ComparedPair& p) { return p.verdict.cycles.has_value(); })) {
    add_pair_column(said(say::compare_page::cycles{}), QStringLiteral("cycles"), said(say::compare_page::cycles_help{}),
                    [](const ComparedPair& p) { return p.verdict.cycles ? ratio_value(*p.verdict.cycles) : Value{}; });
  }
  for (std::size_t level = 0; level < analysis::compared_level_count; ++level) {
    if (!any([=](const ComparedPair& p) { return p.levels.at(level).ratio().has_value(); })) continue;
    const std::string_view metric = analysis::compared_levels()[level];
    add_pair_column(
        said(say::compare_page::bytes{.level = metric_label(metric).toStdString()}), to_qstring(metric),
        said(say::compare_page::bytes_help{.level = metric_label(metric).toStdString()}), [=](const ComparedPair& p) {
          const analysis::ComparedLevel& bytes = p.levels.at(level);
          if (!bytes.ratio()) return Value{};
          return Value{.text = QString::number(*bytes.ratio(), 'f', 3),
                       .sort = *bytes.ratio(),
                       .tip = QStringLiteral("%1 → %2").arg(format_bytes(*bytes.base), format_bytes(*bytes.other))};
        });
  }
  add_pair_column(said(say::compare_page::rounds{}), QStringLiteral("rounds"), said(say::compare_page::rounds_help{}),
                  [](const ComparedPair& p) {
                    return Value{.text = QString::number(p.verdict.rounds),
                                 .sort = static_cast<double>(p.verdict.rounds)};
                  });
}

void ComparisonModel::make_columns() {
  columns_.clear();
  columns_.push_back({said(say::compare_page::verdict{}), QStringLiteral("verdict"),
                      said(say::compare_page::verdict_help{}), false,
                      [this](const Line& line) {
                        return Value{.text = line.left_out ? said(say::compare_page::not_compared{})
                                                           : verdict_words(pair_of(line).verdict.verdict)};
                      },
                      [this](const Line& line) { return verdict_order(line); },
                      [this](const Line& line) { return verdict_tip(line); }});
  // A ratio says nothing without the problem that it is of.
  add_settings();
  add_pair_column(said(say::compare_page::ratio{}), QStringLiteral("ratio"), said(say::compare_page::ratio_help{}),
                  [](const ComparedPair& p) { return ratio_value(p.verdict.time); });
  const bool several =
      std::ranges::any_of(lines_, [&](const Line& line) { return line.other != lines_.front().other; });
  if (several) {
    columns_.push_back({said(say::compare_page::other_side{}), QStringLiteral("side"),
                        said(say::compare_page::other_side_help{}), false, [this](const Line& line) {
                          const QString& name = set_->name_of(side(line));
                          return Value{.text = name, .sort = static_cast<double>(line.other), .tip = name};
                        }});
  }
  add_measured();
  columns_.push_back({said(say::compare_page::note{}), QStringLiteral("note"), said(say::compare_page::note_help{}),
                      false, [this](const Line& line) {
                        const QString text =
                            line.left_out ? left_out_words(*set_, left(line)) : settling_words(*set_, pair_of(line));
                        return Value{.text = text, .sort = text.isEmpty() ? QVariant() : QVariant(text), .tip = text};
                      }});
}

QVariant ComparisonModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  const Column& shown = columns_[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return shown.value(line).text;
    case sort_role:
      return shown.sort ? shown.sort(line) : shown.value(line).sort;
    case copy_role: {
      const Value value = shown.value(line);
      return value.number && value.sort.isValid() ? value.sort : QVariant(value.text);
    }
    case Qt::ToolTipRole: {
      const QString tip = shown.tip ? shown.tip(line) : shown.value(line).tip;
      return tip.isEmpty() ? QVariant() : QVariant(plain_tip(tip));
    }
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>((shown.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ForegroundRole: {
      const PlotColors colors = plot_colors(QGuiApplication::palette());
      if (line.left_out) return colors.muted;
      if (column != 0) return {};
      const Verdict verdict = pair_of(line).verdict.verdict;
      const QColor color = verdict_color(verdict, colors.dark);
      if (color.isValid()) return color;
      return verdict == Verdict::ambiguous ? QVariant(colors.muted) : QVariant();
    }
    case Qt::FontRole: {
      if (column != 0 || line.left_out || !verdict_color(pair_of(line).verdict.verdict, false).isValid()) return {};
      QFont bold;
      bold.setBold(true);
      return bold;
    }
    default:
      return {};
  }
}

QVariant ComparisonModel::header(int column, int role) const {
  const Column& shown = columns_[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return shown.heading;
    case copy_role:
      return shown.key;
    case Qt::ToolTipRole:
      return plain_tip(shown.help);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>((shown.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    default:
      return {};
  }
}

}  // namespace attnscope::ui

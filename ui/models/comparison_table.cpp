// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "messages/compare_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
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

const std::vector<PointSetting>& compared_settings() {
  static const std::vector<PointSetting> settings = point_settings();
  return settings;
}

bool is_number(const QVariant& value) {
  switch (value.typeId()) {
    case QMetaType::Int:
    case QMetaType::UInt:
    case QMetaType::LongLong:
    case QMetaType::ULongLong:
    case QMetaType::Float:
    case QMetaType::Double:
      return true;
    default:
      return false;
  }
}

/// What a line is sorted by.
struct SortKey {
  QVariant value;
  bool number = false;
  double as_number = 0;
};

bool stands_below(const SortKey& a, const SortKey& b) {
  return a.number && b.number ? a.as_number < b.as_number : a.value.toString() < b.value.toString();
}

}  // namespace

ComparisonTable::ComparisonTable(std::shared_ptr<const ComparisonSet> set, std::optional<std::uint32_t> code)
    : set_(std::move(set)), code_(code) {
  add_lines();
  find_settings();
  make_columns();
}

void ComparisonTable::add_lines() {
  for (const bool left_out : {false, true}) {
    for (std::size_t other = 0; other < set_->others.size(); ++other) {
      if (code_ && set_->others[other].code != *code_) continue;
      const analysis::ComparisonResult& result = set_->others[other].result;
      const std::size_t places = left_out ? result.left_out.size() : result.pairs.size();
      for (std::size_t i = 0; i < places; ++i) lines_.push_back({other, i, left_out});
    }
  }
  rows_.reserve(lines_.size());
  for (const Line& line : lines_) rows_.push_back(row_in(line));
  line_of_.assign(set_->points->size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto take = [&](const std::vector<Row>& rows) {
      for (const Row row : rows) {
        if (line_of_[row] == 0) line_of_[row] = static_cast<std::uint32_t>(i + 1);
      }
    };
    if (lines_[i].left_out) {
      take(left(lines_[i]).rows);
    } else {
      take(pair_of(lines_[i]).base);
      take(pair_of(lines_[i]).other);
    }
  }
}

const ComparedPair* ComparisonTable::pair(std::size_t line) const {
  return lines_[line].left_out ? nullptr : &pair_of(lines_[line]);
}

std::optional<ShownPoint> ComparisonTable::point(std::size_t at, bool of_other) const {
  const Line& line = lines_[at];
  if (!line.left_out) return (*set_->points)[of_other ? pair_of(line).other.front() : pair_of(line).base.front()];
  if (left(line).of_other != of_other) return std::nullopt;
  return (*set_->points)[left(line).rows.front()];
}

std::optional<std::size_t> ComparisonTable::line_of(Row point) const {
  if (point >= line_of_.size() || line_of_[point] == 0) return std::nullopt;
  return line_of_[point] - 1;
}

int ComparisonTable::column_named(const QString& key) const {
  const auto found = std::ranges::find(columns_, key, &Column::key);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

std::vector<Row> ComparisonTable::ordered(int column, Qt::SortOrder order) const {
  const Column& by = columns_[static_cast<std::size_t>(column)];
  const bool descending = order == Qt::DescendingOrder;
  std::vector<SortKey> keys;
  keys.reserve(lines_.size());
  std::vector<Row> valued;
  std::vector<Row> without;
  std::vector<std::pair<double, Row>> numbers;
  for (const Line& line : lines_) {
    const auto at = static_cast<Row>(keys.size());
    SortKey& key = keys.emplace_back(SortKey{by.sort ? by.sort(line) : by.value(line).sort});
    if (!key.value.isValid()) {
      without.push_back(at);
      continue;
    }
    valued.push_back(at);
    key.number = is_number(key.value);
    if (!key.number) continue;
    key.as_number = key.value.toDouble();
    numbers.emplace_back(descending ? -key.as_number : key.as_number, at);
  }
  if (numbers.size() == valued.size()) {
    std::ranges::stable_sort(numbers, {}, &std::pair<double, Row>::first);
    std::ranges::transform(numbers, valued.begin(), &std::pair<double, Row>::second);
  } else {
    std::ranges::stable_sort(valued, [&](Row a, Row b) {
      return descending ? stands_below(keys[b], keys[a]) : stands_below(keys[a], keys[b]);
    });
  }
  valued.insert(valued.end(), without.begin(), without.end());
  return valued;
}

bool ComparisonTable::is_bold(const Line& line, int column) const {
  return column == 0 && !line.left_out && verdict_color(pair_of(line).verdict.verdict, false).isValid();
}

std::vector<std::vector<ComparisonTable::Sample>> ComparisonTable::longest_texts(std::size_t lines) const {
  // Measuring costs more than reading: a text that is much shorter than another one is not wider.
  constexpr qsizetype much = 4;
  std::vector<std::vector<Sample>> samples;
  samples.reserve(columns_.size());
  const std::size_t step = std::max<std::size_t>(1, lines_.size() / lines);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::vector<Sample>& of_column = samples.emplace_back();
    qsizetype longest = 0;
    for (std::size_t at = 0; at < lines_.size(); at += step) {
      Sample sample{columns_[column].value(lines_[at]).text, is_bold(lines_[at], static_cast<int>(column))};
      if (sample.text.size() + much < longest || std::ranges::find(of_column, sample) != of_column.end()) continue;
      longest = std::max(longest, sample.text.size());
      of_column.push_back(std::move(sample));
    }
    std::erase_if(of_column, [&](const Sample& sample) { return sample.text.size() + much < longest; });
  }
  return samples;
}

QVariant ComparisonTable::verdict_order(const Line& line) const {
  if (line.left_out) return {};
  const analysis::RowVerdict& row = pair_of(line).verdict;
  // Within a verdict the largest change first; of what is open, what may be a regression.
  const double change = std::atan(std::log(row.time.ratio)) / std::numbers::pi;  // within half of 0
  const double within = row.verdict == Verdict::faster ? change
                        : row.verdict == Verdict::same ? -std::abs(change)
                                                       : -change;
  return rank_of(row.verdict) + within;
}

QString ComparisonTable::verdict_tip(const Line& line) const {
  if (line.left_out) return left_out_words(*set_, left(line));
  const analysis::RowVerdict& row = pair_of(line).verdict;
  return qtext(say::compare_page::verdict_tip{.rounds = row.rounds,
                                              .change = QString::number(row.p_change, 'g', 2).toStdString(),
                                              .same = QString::number(row.p_same, 'g', 2).toStdString()});
}

bool ComparisonTable::varies(const PointSetting& setting) const {
  const analysis::PointColumns& points = set_->points->table().points();
  const Row first = rows_.front();
  if (setting.fields.empty()) {
    const auto text = [&](Row row) { return setting.value(points.spec(row)).text; };
    // Of knobs there are few values, whatever the rows.
    const QString of_first = text(first);
    std::map<std::uint32_t, bool> differs;
    return std::ranges::any_of(rows_, [&](Row row) {
      const auto [known, fresh] = differs.try_emplace(points.knobs().code(row), false);
      if (fresh) known->second = text(row) != of_first;
      return known->second;
    });
  }
  return std::ranges::any_of(setting.fields, [&](std::string_view name) {
    const analysis::FieldColumn* column = points.find_field(name);
    if (column == nullptr) return false;
    const std::uint64_t of_first = column->key(first);
    return std::ranges::any_of(rows_, [&](Row row) { return column->key(row) != of_first; });
  });
}

bool ComparisonTable::sets_sides_apart(const PointSetting& setting) const {
  return std::ranges::any_of(set_->axis.names, [&](const std::string& name) {
    return setting.fields.empty() ? setting.key == QString::fromStdString(name)
                                  : std::ranges::find(setting.fields, name) != setting.fields.end();
  });
}

/// A setting either has a column or is common to all lines.
void ComparisonTable::find_settings() {
  if (lines_.empty()) return;
  QStringList words;
  const PointSpec first = set_->points->table().spec(row_in(lines_.front()));
  for (const PointSetting& setting : compared_settings()) {
    if (sets_sides_apart(setting)) continue;
    if (varies(setting)) {
      varying_.push_back(&setting);
      continue;
    }
    if (setting.shown != PointSetting::Shown::always && !setting.is_set(first)) continue;  // goes without saying
    const QString text = setting.value(first).text;
    if (!text.isEmpty()) words << QStringLiteral("%1 %2").arg(setting.label, text);
  }
  common_ = words.join(QStringLiteral(" · "));
}

void ComparisonTable::add_settings() {
  for (const PointSetting* setting : varying_) {
    const bool number = setting->value(set_->points->table().spec(row_in(lines_.front()))).number;
    columns_.push_back({setting->label, setting->key, setting->help, number, [this, setting](const Line& line) {
                          const PointSetting::Value value = setting->value(set_->points->table().spec(row_in(line)));
                          return Value{.text = value.text, .sort = value.sort, .tip = {}, .number = value.number};
                        }});
  }
}

void ComparisonTable::add_pair_column(const QString& heading, const QString& key, const QString& help, PairValue value,
                                      PairNumber number) {
  const auto sort = [this, number = std::move(number)](const Line& line) {
    const std::optional<double> found = line.left_out ? std::nullopt : number(pair_of(line));
    return found ? QVariant(*found) : QVariant();
  };
  columns_.push_back({heading, key, help, true,
                      [this, sort, value = std::move(value)](const Line& line) {
                        Value shown = line.left_out ? Value{} : value(pair_of(line));
                        shown.sort = sort(line);
                        shown.number = true;
                        return shown;
                      },
                      sort});
}

void ComparisonTable::add_measured() {
  add_pair_column(
      qtext(say::compare_page::base_time{}), QStringLiteral("base_time"), qtext(say::compare_page::base_time_help{}),
      [](const ComparedPair& p) { return Value{.text = qtext(Nanoseconds(p.base_ns))}; },
      [](const ComparedPair& p) { return p.base_ns; });
  add_pair_column(
      qtext(say::compare_page::other_time{}), QStringLiteral("other_time"), qtext(say::compare_page::other_time_help{}),
      [](const ComparedPair& p) { return Value{.text = qtext(Nanoseconds(p.other_ns))}; },
      [](const ComparedPair& p) { return p.other_ns; });
  const auto any = [&](auto holds) {
    return std::ranges::any_of(lines_, [&](const Line& line) { return !line.left_out && holds(pair_of(line)); });
  };
  if (any([](const ComparedPair& p) { return p.verdict.cycles.has_value(); })) {
    add_pair_column(
        qtext(say::compare_page::cycles{}), QStringLiteral("cycles"), qtext(say::compare_page::cycles_help{}),
        [](const ComparedPair& p) {
          return p.verdict.cycles ? Value{.text = interval_words(*p.verdict.cycles)} : Value{};
        },
        [](const ComparedPair& p) { return p.verdict.cycles ? std::optional(p.verdict.cycles->ratio) : std::nullopt; });
  }
  for (std::size_t level = 0; level < analysis::compared_level_count; ++level) {
    if (!any([=](const ComparedPair& p) { return p.levels.at(level).ratio().has_value(); })) continue;
    const std::string_view metric = analysis::compared_levels()[level];
    add_pair_column(
        qtext(say::compare_page::bytes{.level = metric_label(metric).toStdString()}), to_qstring(metric),
        qtext(say::compare_page::bytes_help{.level = metric_label(metric).toStdString()}),
        [=](const ComparedPair& p) {
          const analysis::ComparedLevel& bytes = p.levels.at(level);
          if (!bytes.ratio()) return Value{};
          return Value{.text = QString::number(*bytes.ratio(), 'f', 3),
                       .tip = QStringLiteral("%1 → %2").arg(qtext(Bytes(*bytes.base)), qtext(Bytes(*bytes.other)))};
        },
        [=](const ComparedPair& p) { return p.levels.at(level).ratio(); });
  }
  add_pair_column(
      qtext(say::compare_page::rounds{}), QStringLiteral("rounds"), qtext(say::compare_page::rounds_help{}),
      [](const ComparedPair& p) { return Value{.text = QString::number(p.verdict.rounds)}; },
      [](const ComparedPair& p) { return static_cast<double>(p.verdict.rounds); });
}

void ComparisonTable::make_columns() {
  columns_.push_back({qtext(say::compare_page::verdict{}), QStringLiteral("verdict"),
                      qtext(say::compare_page::verdict_help{}), false,
                      [this](const Line& line) {
                        return Value{.text = line.left_out ? qtext(say::compare_page::not_compared{})
                                                           : verdict_words(pair_of(line).verdict.verdict)};
                      },
                      [this](const Line& line) { return verdict_order(line); },
                      [this](const Line& line) { return verdict_tip(line); }});
  // A ratio says nothing without the problem that it is of.
  add_settings();
  add_pair_column(
      qtext(say::compare_page::ratio{}), QStringLiteral("ratio"), qtext(say::compare_page::ratio_help{}),
      [](const ComparedPair& p) { return Value{.text = interval_words(p.verdict.time)}; },
      [](const ComparedPair& p) { return p.verdict.time.ratio; });
  const bool several =
      std::ranges::any_of(lines_, [&](const Line& line) { return line.other != lines_.front().other; });
  if (several) {
    columns_.push_back({qtext(say::compare_page::other_side{}), QStringLiteral("side"),
                        qtext(say::compare_page::other_side_help{}), false, [this](const Line& line) {
                          const QString& name = set_->name_of(side(line));
                          return Value{.text = name, .sort = static_cast<double>(line.other), .tip = name};
                        }});
  }
  add_measured();
  columns_.push_back({qtext(say::compare_page::note{}), QStringLiteral("note"), qtext(say::compare_page::note_help{}),
                      false, [this](const Line& line) {
                        const QString text =
                            line.left_out ? left_out_words(*set_, left(line)) : settling_words(*set_, pair_of(line));
                        return Value{.text = text, .sort = text.isEmpty() ? QVariant() : QVariant(text), .tip = text};
                      }});
}

}  // namespace attnscope::ui

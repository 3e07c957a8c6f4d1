// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_table_columns.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "messages/points_table.h"
#include "profiler/metrics/metrics.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

Distinct tell_apart(const ColumnKeys& keys, Row first, Row end) {
  Distinct all;
  all.code.assign(end - first, 0);
  if (first < end) all.example = {first};
  for (const auto& key : keys) {
    // A key becomes a small number, and with the code so far one of both.
    std::unordered_map<std::uint64_t, std::uint32_t> small;
    std::unordered_map<std::uint64_t, std::uint32_t> both;
    std::vector<Row> examples;
    std::uint64_t last_key = 0;
    std::uint32_t last_code = 0;
    std::uint32_t last = 0;
    for (Row row = first; row < end; ++row) {
      const std::uint64_t now = key(row);
      std::uint32_t& code = all.code[row - first];
      if (row == first || now != last_key || code != last_code) {  // neighbours mostly agree
        const std::uint32_t number = small.try_emplace(now, static_cast<std::uint32_t>(small.size())).first->second;
        const auto [place, fresh] =
            both.try_emplace(std::uint64_t{code} << 32U | number, static_cast<std::uint32_t>(examples.size()));
        if (fresh) examples.push_back(row);
        last_key = now;
        last_code = code;
        last = place->second;
      }
      code = last;
    }
    all.example = std::move(examples);
  }
  return all;
}

namespace {

using Value = PointsTableModel::Value;
using Column = PointsTableModel::Column;

Value text_value(const QString& text) {
  return {text, text.isEmpty() ? QVariant() : QVariant(text), {}, false};
}

/// DRAM bytes are those that plots show.
const analysis::ValueColumn& values_of(const PointSet& points, std::string_view key) {
  return key == metric_key::dram_bytes ? points.table().dram_traffic() : points.table().values(key);
}

std::optional<MetricValue> value_of(const PointSet& points, Row row, std::string_view key) {
  const analysis::ValueColumn& column = values_of(points, key);
  if (!column.has(row)) return std::nullopt;
  return MetricValue{std::string(key), column.value(row), std::string(find_metric(key)->unit), column.provenance(row)};
}

Value metric(const PointSet& points, Row row, std::string_view key) {
  const auto value = value_of(points, row, key);
  if (!value) return {{}, {}, {}, true};
  return {format_metric(*value), value->value, {}, true};
}

/// A column of a metric, its values told exactly beside it.
Column of_metric(const Message& heading, const QString& key, const Message& help, std::string_view metric_key) {
  Column column{qtext(heading), key, qtext(help),
                [metric_key](const PointSet& p, Row row) { return metric(p, row, metric_key); }, metric_key};
  column.tip = [metric_key](const PointSet& p, Row row) {
    const auto value = value_of(p, row, metric_key);
    return value ? QStringLiteral("%1 (%2)").arg(format_number(value->value, 12), to_qstring(value->provenance))
                 : QString();
  };
  return column;
}

Column of_traffic(const Message& heading, const QString& key, const Message& help, Quantity quantity) {
  const std::string_view metric_key = analysis::metric_of(quantity);
  Column column = of_metric(heading, key, help, metric_key);
  column.tip = [metric_key](const PointSet& p, Row row) {
    const auto bytes = value_of(p, row, metric_key);
    return bytes ? qtext(say::points_table::exact_bytes{.bytes = number_text(bytes->value, 12),
                                                        .origin = title(bytes->provenance)})
                 : QString();
  };
  return column;
}

ColumnKeys keys_of_result(const PointSet& p) {
  return {[&p](Row row) {
    const analysis::PointColumns& points = p.table().points();
    return static_cast<std::uint64_t>(points.disposition(row)) << 8U |
           static_cast<std::uint64_t>(points.origin(row)) << 1U | (points.throttled(row) ? 1U : 0U);
  }};
}

/// `code`: as files have it, in no language.
QString result_of(const PointSet& p, Row row, bool code) {
  const auto said = [code](auto value) { return code ? to_qstring(attnscope::to_string(value)) : qtext(title(value)); };
  const analysis::PointColumns& points = p.table().points();
  QString text = said(points.disposition(row));
  if (points.throttled(row)) {
    text += QStringLiteral(", ") + (code ? QStringLiteral("throttled") : qtext(say::points_table::throttled{}));
  }
  const Provenance origin = points.origin(row);
  const bool of_a_gpu = origin == Provenance::measured || origin == Provenance::derived;
  if (!of_a_gpu) text += QStringLiteral(", ") + said(origin);
  return text;
}

Column result_column() {
  Column result{qtext(say::points_table::result{}), result_key, qtext(say::points_table::result_help{}),
                [](const PointSet& p, Row row) { return text_value(result_of(p, row, false)); }};
  result.code = [](const PointSet& p, Row row) { return result_of(p, row, true); };
  result.tip = [](const PointSet& p, Row row) {
    const analysis::PointColumns& points = p.table().points();
    if (points.origin(row) == Provenance::extrapolated) return qtext(say::points_table::extrapolated_help{});
    if (!points.throttled(row)) return qtext(points.reason(row));
    return qtext(say::points_table::slowed{.reasons = describe_throttle_reasons(points.throttle_reasons(row))});
  };
  result.keys = keys_of_result;
  return result;
}

/// What is said of a point beside its setting and its values, with what tells it from others.
Column of_words(const Message& heading, const QString& key, const Message& help, QString (*text)(const PointSet&, Row),
                std::uint64_t (*told_by)(const PointSet&, Row)) {
  Column column{qtext(heading), key, qtext(help),
                [text](const PointSet& p, Row row) { return text_value(text(p, row)); }};
  column.keys = [told_by](const PointSet& p) -> ColumnKeys {
    return {[&p, told_by](Row row) { return told_by(p, row); }};
  };
  return column;
}

QString run_of(const PointSet& p, Row row) {
  const RunInfo& run = *p.run_of(row);
  return qtext(
      say::points_table::run_on{.run = (run.title.isEmpty() ? run_title(run.summary) : run.title).toStdString(),
                                .device = device_title(run.summary).toStdString()});
}

/// Equal reasons are kept once: where it stands tells it from others.
std::uint64_t place_of_reason(const PointSet& p, Row row) {
  return std::bit_cast<std::uintptr_t>(&p.table().reason(row));
}

/// What was asked for, as far as the setting speaks of it.
PointSpec spec_for(const PointSetting& setting, const PointSet& points, Row row) {
  return points.table().points().spec(row, setting.fields);
}

ColumnKeys keys_of(const PointSetting& setting, const PointSet& set) {
  const analysis::PointColumns& points = set.table().points();
  if (setting.fields.empty()) return {[&points](Row row) { return std::uint64_t{points.knobs().code(row)}; }};
  ColumnKeys keys;
  keys.reserve(setting.fields.size());
  for (const std::string_view name : setting.fields) {
    const analysis::FieldColumn* column = points.find_field(name);
    if (column != nullptr) keys.emplace_back([column](Row row) { return column->key(row); });
  }
  return keys;
}

/// Whether a point says what does not go without saying.
bool set_somewhere(const PointSetting& setting, const PointSet& set) {
  // Field by field, for of each there are few values.
  for (const auto& key : keys_of(setting, set)) {
    const Distinct values = tell_apart({key}, 0, set.size());
    if (std::ranges::any_of(values.example, [&](Row row) { return setting.is_set(spec_for(setting, set, row)); })) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Column> outcome_columns() {
  namespace keys = metric_key;
  const auto key = [](const char* name) { return QString::fromLatin1(name); };
  std::vector<Column> columns{
      result_column(),
      of_metric(say::points_table::time{}, key("time"), say::points_table::time_help{}, keys::time_median_ns),
      of_metric(say::points_table::rate{}, key("rate"), say::points_table::rate_help{}, keys::tflops),
      of_traffic(say::points_table::dram{}, key("dram"), say::points_table::dram_help{}, Quantity::dram),
      of_traffic(say::points_table::sm_l2{}, key("sm_l2"), say::points_table::sm_l2_help{}, Quantity::sm_l2),
      of_metric(say::points_table::model{}, key("model"), say::points_table::model_help{}, keys::model_l2_sm_bytes),
      of_metric(say::points_table::over_model{}, key("over_model"), say::points_table::over_model_help{},
                keys::l2_sm_over_model),
      of_metric(say::points_table::occupancy{}, key("occupancy"), say::points_table::occupancy_help{},
                keys::achieved_occupancy_pct),
      of_metric(say::points_table::registers{}, key("registers"), say::points_table::registers_help{}, keys::registers),
      of_metric(say::points_table::shared{}, key("shared"), say::points_table::shared_help{}, keys::shared_bytes),
      of_words(
          say::points_table::values{}, key("values"), say::points_table::values_help{},
          [](const PointSet& p, Row row) { return to_qstring(p.table().points().origin(row)); },
          [](const PointSet& p, Row row) { return static_cast<std::uint64_t>(p.table().points().origin(row)); }),
      of_words(say::points_table::run{}, key("run"), say::points_table::run_help{}, run_of,
               [](const PointSet& p, Row row) { return std::uint64_t{p.table().run_index(row)}; }),
      of_words(
          say::points_table::reason{}, key("reason"), say::points_table::reason_help{},
          [](const PointSet& p, Row row) { return headline(qtext(p.table().reason(row))); }, place_of_reason),
  };
  for (Column& column : columns) {
    if (column.key == QLatin1String("values")) {
      column.code = [](const PointSet& p, Row row) { return to_qstring(to_string(p.table().points().origin(row))); };
    }
    if (column.metric == keys::l2_sm_over_model) {
      column.value = [](const PointSet& p, Row row) {
        Value value = metric(p, row, metric_key::l2_sm_over_model);
        if (!value.text.isEmpty()) value.text = QString::number(value.sort.toDouble(), 'f', 4);
        return value;
      };
    }
    if (column.metric == keys::registers) {
      column.value = [](const PointSet& p, Row row) {
        Value value = metric(p, row, metric_key::registers);
        value.text = value.text.section(QLatin1Char(' '), 0, 0);
        return value;
      };
    }
  }
  return columns;
}

Column setting_column(PointSetting setting) {
  Column column{setting.label, setting.key, setting.help, nullptr};
  column.value = [setting](const PointSet& points, Row row) {
    PointSetting::Value value = setting.value(spec_for(setting, points, row));
    return Value{std::move(value.text), std::move(value.sort), {}, value.number};
  };
  if (setting.fields.size() == 1) column.field = to_qstring(setting.fields.front());
  if (setting.shown != PointSetting::Shown::always) {
    column.in_use = [setting](const PointSet& points) { return set_somewhere(setting, points); };
  }
  column.keys = [setting](const PointSet& points) { return keys_of(setting, points); };
  return column;
}

}  // namespace attnscope::ui

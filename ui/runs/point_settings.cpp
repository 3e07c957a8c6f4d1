// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_settings.h"

#include <algorithm>
#include <iterator>
#include <variant>

#include "messages/points_table.h"
#include "profiler/plan/fields.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using SettingValue = PointSetting::Value;
using Shown = PointSetting::Shown;

SettingValue words(const QString& text) {
  return {text, text.isEmpty() ? QVariant() : QVariant(text), false};
}

SettingValue number(const QString& text, double sort) {
  return {text, text.isEmpty() ? QVariant() : QVariant(sort), true};
}

QString sentence(std::string_view text) {
  QString words = to_qstring(text);
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

/// As the field prints it; an extent of 0 is one that an imported point does not state.
SettingValue value_of(const Field& field, const PointSpec& spec, Shown shown) {
  if (shown == Shown::where_set && is_fallback(field, spec)) {
    return {{}, {}, field.type == FieldType::integer || field.type == FieldType::real};
  }
  const FieldValue held = field.get(spec);
  const QString text = QString::fromStdString(attnscope::to_string(held));
  if (const auto* whole = std::get_if<std::int64_t>(&held)) {
    return number(*whole < field.smallest ? QString() : text, static_cast<double>(*whole));
  }
  if (const auto* real = std::get_if<double>(&held)) return number(text, *real);
  return words(text);
}

PointSetting of_field(const Field& field) {
  const Shown shown = field.fallback.empty() ? Shown::always : Shown::where_set;
  return {qtext(field.label()),
          to_qstring(field.name),
          sentence(text(field.help())),
          {field.name},
          false,
          shown,
          [&field, shown](const PointSpec& spec) { return value_of(field, spec, shown); }};
}

PointSetting of_knob(const QString& name, const QString& label, const QString& help) {
  return {label, name, help, {}, true, Shown::where_set, [knob = name.toStdString()](const PointSpec& spec) {
            const KnobValue* given = spec.knobs.find(knob);
            if (given == nullptr) return SettingValue{};
            const QString text =
                QString::fromStdString(attnscope::to_string(*given)).replace(QLatin1Char('_'), QLatin1Char(' '));
            const auto* whole = std::get_if<std::int64_t>(given);
            return whole != nullptr ? number(text, static_cast<double>(*whole)) : words(text);
          }};
}

/// Fields that are read together, or in other words than they print.
std::vector<PointSetting> stated_settings() {
  const auto as_field = [](std::string_view name, Shown shown) {
    PointSetting setting = of_field(*find_field(name));
    setting.shown = shown;
    setting.value = [field = find_field(name), shown](const PointSpec& spec) { return value_of(*field, spec, shown); };
    return setting;
  };
  PointSetting algorithm = as_field("algorithm", Shown::always);
  algorithm.help = qtext(say::points_table::algorithm_help{});
  PointSetting dtype = as_field("dtype", Shown::always);
  dtype.key = QStringLiteral("type");
  PointSetting cache = as_field("cache", Shown::in_details);
  cache.label = qtext(say::points_table::l2{});
  PointSetting br = as_field("br", Shown::always);
  PointSetting bc = as_field("bc", Shown::always);
  br.of_tile = bc.of_tile = true;
  return {
      algorithm,
      as_field("pass", Shown::always),
      {qtext(say::points_table::n{}),
       QStringLiteral("n"),
       qtext(say::points_table::n_help{}),
       {"n_q", "n_k"},
       false,
       Shown::always,
       [](const PointSpec& spec) {
         return number(format_lengths(spec.problem), static_cast<double>(spec.problem.n_k));
       }},
      as_field("d", Shown::always),
      {qtext(say::points_table::mask{}),
       QStringLiteral("mask"),
       qtext(say::points_table::mask_help{}),
       {"mask"},
       false,
       Shown::always,
       [](const PointSpec& spec) { return words(format_mask(spec.problem.mask)); }},
      dtype,
      {qtext(say::points_table::heads{}),
       QStringLiteral("heads"),
       qtext(say::points_table::heads_help{}),
       {"batch", "heads_q", "heads_kv"},
       false,
       Shown::always,
       [](const PointSpec& spec) {
         return number(format_heads(spec.problem), static_cast<double>(spec.problem.instances()));
       }},
      br,
      bc,
      cache,
  };
}

/// What stands behind the fields that have no place of their own.
bool comes_last(const PointSetting& setting) {
  return setting.of_tile || setting.fields == std::vector<std::string_view>{"cache"};
}

/// "bwd", but "dropout 0.1": what a word alone would not say.
QString unusual(const PointSetting& setting, const Field& field, const QString& text) {
  if (field.type == FieldType::flag) return within_sentence(setting.label);
  if (field.name == "pass") return text;
  if (field.name == "cache") return qtext(say::points_table::l2_is{.state = text.toStdString()});
  return QStringLiteral("%1 %2").arg(within_sentence(setting.label), text);
}

}  // namespace

bool PointSetting::is_set(const PointSpec& spec) const {
  if (fields.empty()) return !value(spec).text.isEmpty();
  return std::ranges::any_of(known, [&](const Field& field) {
    return std::ranges::find(fields, field.name) != fields.end() && !is_fallback(field, spec);
  });
}

std::vector<PointSetting> point_settings(const Registry& registry, const std::set<std::string>& foreign_knobs,
                                         std::span<const Field> fields) {
  std::vector<PointSetting> stated = stated_settings();
  const auto first_last = std::ranges::find_if(stated, comes_last);
  std::vector<PointSetting> settings(stated.begin(), first_last);
  for (const Field& field : fields) {
    const bool spoken_for = std::ranges::any_of(stated, [&](const PointSetting& setting) {
      return std::ranges::find(setting.fields, field.name) != setting.fields.end();
    });
    if (!spoken_for) settings.push_back(of_field(field));
  }
  std::ranges::copy_if(first_last, stated.end(), std::back_inserter(settings), &PointSetting::of_tile);
  for (const Knob& knob : registry.knobs()) {
    settings.push_back(of_knob(QString::fromStdString(knob.name), qtext(knob.label),
                               qtext(say::points_table::knob_help{.meaning = knob.meaning})));
  }
  for (const std::string& name : foreign_knobs) {
    if (registry.find_knob(name) != nullptr) continue;
    const QString word = QString::fromStdString(name);
    settings.push_back(of_knob(word, word, qtext(say::points_table::foreign_knob_help{.name = name})));
  }
  std::ranges::copy_if(first_last, stated.end(), std::back_inserter(settings),
                       [](const PointSetting& setting) { return !setting.of_tile; });
  for (PointSetting& setting : settings) setting.known = fields;
  return settings;
}

QStringList unusual_settings(const PointSpec& spec) {
  static const std::vector<PointSetting> settings = point_settings();
  return unusual_settings(spec, settings);
}

QStringList unusual_settings(const PointSpec& spec, std::span<const PointSetting> settings) {
  QStringList texts;
  for (const PointSetting& setting : settings) {
    if (setting.of_tile || setting.fields.size() != 1) continue;
    const Field& field = *std::ranges::find(setting.known, setting.fields.front(), &Field::name);
    const bool said_elsewhere = field.fallback.empty() || field.name == "mask" || field.name == "dtype";
    if (!said_elsewhere && !is_fallback(field, spec)) texts << unusual(setting, field, setting.value(spec).text);
  }
  for (const auto& [name, value] : spec.knobs) texts << format_knob(name, value);
  return texts;
}

}  // namespace attnscope::ui

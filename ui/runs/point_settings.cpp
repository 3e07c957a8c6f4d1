// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <variant>

#include "messages/points_table.h"
#include "profiler/points/facets.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using SettingValue = PointSetting::Value;

QString sentence(std::string_view text) {
  QString words = to_qstring(text);
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

/// As people read it; an extent of 0 is one that an imported point does not state.
SettingValue value_of(const Field& field, FieldShown shown, const PointSpec& spec) {
  if (shown == FieldShown::where_set && is_fallback(field, spec)) {
    return {{}, {}, field.is_number() && field.role != FieldRole::knob};
  }
  const FieldValue held = field.get(spec);
  const auto* whole = std::get_if<std::int64_t>(&held);
  const auto* real = std::get_if<double>(&held);
  const bool number = whole != nullptr || real != nullptr;
  if (whole != nullptr && *whole < field.smallest) return {{}, {}, number};
  const QString text = QString::fromStdString(brief_text(field, spec));
  if (!number) return {text, text.isEmpty() ? QVariant() : QVariant(text), number};
  return {text, whole != nullptr ? static_cast<double>(*whole) : *real, number};
}

PointSetting of_field(const Field& field, const QString& help) {
  const FieldShown shown = field.shown == FieldShown::in_tables ? FieldShown::always : field.shown;
  PointSetting setting{.label = qtext(field.label()),
                       .key = to_qstring(field.heading.empty() ? field.name : field.heading),
                       .help = help,
                       .of_tile = field.role == FieldRole::tile || field.role == FieldRole::knob,
                       .shown = shown,
                       .value = [field, shown](const PointSpec& spec) { return value_of(field, shown, spec); }};
  if (field.role != FieldRole::knob) setting.fields = {field.name};
  return setting;
}

PointSetting of_field(const Field& field) {
  return of_field(field, sentence(text(field.meaning ? field.meaning() : field.help())));
}

PointSetting of_knob(const Knob& knob) {
  return of_field(knob_field(knob), qtext(say::points_table::knob_help{.meaning = knob.meaning}));
}

PointSetting of_foreign_knob(const std::string& name) {
  const auto kept = std::make_shared<const std::string>(name);
  PointSetting setting = of_field(foreign_knob_field(*kept), qtext(say::points_table::foreign_knob_help{.name = name}));
  setting.value = [kept, value = setting.value](const PointSpec& spec) { return value(spec); };
  return setting;
}

PointSetting of_group(const analysis::FieldGroup& group) {
  return {.label = qtext(group.label()),
          .key = to_qstring(group.key),
          .help = qtext(group.help()),
          .fields = group.fields,
          .shown = FieldShown::always,
          .value = [&group](const PointSpec& spec) {
            return SettingValue{QString::fromStdString(group.text(spec)), group.order(spec), true};
          }};
}

/// "bwd", but "dropout 0.1": what a word alone would not say.
QString unusual(const PointSetting& setting, const Field& field, const QString& text) {
  if (field.type == FieldType::flag) return within_sentence(setting.label);
  if (field.in_title != nullptr) return qtext(field.in_title(text.toStdString()));
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
  std::vector<PointSetting> settings;
  std::vector<PointSetting> tile;
  std::vector<PointSetting> last;
  for (const analysis::FieldGroup& group : analysis::field_groups()) {
    if (find_field(group.fields.front())->role != FieldRole::tile) settings.push_back(of_group(group));
  }
  for (const Field& field : fields) {
    if (field.role == FieldRole::tile) {
      tile.push_back(of_field(field));
    } else if (analysis::group_of(field.name) == nullptr) {
      (field.role == FieldRole::circumstance ? last : settings).push_back(of_field(field));
    }
  }
  constexpr std::array first{"algorithm", "pass", "n", "d", "mask", "type", "heads"};
  std::ranges::stable_sort(settings, {}, [&](const PointSetting& setting) {
    return std::ranges::find_if(first, [&](const char* key) { return setting.key == QLatin1String(key); });
  });
  std::ranges::move(tile, std::back_inserter(settings));
  std::ranges::transform(registry.knobs(), std::back_inserter(settings), of_knob);
  for (const std::string& name : foreign_knobs) {
    if (registry.find_knob(name) == nullptr) settings.push_back(of_foreign_knob(name));
  }
  std::ranges::move(last, std::back_inserter(settings));
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
    if (field.shown != FieldShown::always && !is_fallback(field, spec))
      texts << unusual(setting, field, setting.value(spec).text);
  }
  for (const auto& [name, value] : spec.knobs) texts << format_knob(name, value);
  return texts;
}

}  // namespace attnscope::ui

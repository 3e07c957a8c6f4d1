// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <variant>

#include "messages/points_table.h"
#include "profiler/points/facets.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Keeps the name until the program ends, because columns refer to it.
const std::string& kept(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::scoped_lock lock(mutex);
  return *names.insert(name).first;
}

/// Returns "bwd", or with its label if the value alone is ambiguous: "dropout 0.1".
QString unusual(const Field& field, const QString& text) {
  QString label = lowercase_label(qtext(field.label()));
  if (field.type == FieldType::flag) return label;
  if (field.in_title != nullptr) return qtext(field.in_title(text.toStdString()));
  return QStringLiteral("%1 %2").arg(label, text);
}

}  // namespace

std::vector<Field> point_settings(const Registry& registry, const std::set<std::string>& unknown_knobs) {
  std::vector<Field> settings;
  std::ranges::copy_if(analysis::field_groups(), std::back_inserter(settings),
                       [](const Field& group) { return group.role != FieldRole::tile; });
  std::ranges::copy_if(point_fields(), std::back_inserter(settings), [](const Field& field) {
    return field.role == FieldRole::tile || analysis::group_of(field.name) == nullptr;
  });
  std::ranges::transform(registry.knobs(), std::back_inserter(settings), knob_field);
  for (const std::string& name : unknown_knobs) {
    if (registry.find_knob(name) == nullptr) settings.push_back(undeclared_knob_field(kept(name)));
  }
  constexpr std::array first{"algorithm", "pass", "n", "d", "mask", "type", "heads"};
  constexpr std::array last{FieldRole::tile, FieldRole::knob, FieldRole::device_state};
  std::ranges::stable_sort(settings, {}, [&](const Field& setting) {
    const auto at =
        std::ranges::find_if(first, [&](const char* key) { return setting_key(setting) == QLatin1String(key); });
    const auto role = std::ranges::find(last, setting.role);
    return role == last.end() ? at - first.begin() : std::ssize(first) + 1 + (role - last.begin());
  });
  return settings;
}

SettingValue setting_value(const Field& setting, const PointSpec& spec) {
  const QString text = QString::fromStdString(short_text(setting, spec));
  if (!setting.parts.empty()) return {text, setting.order(spec), true};
  if (setting.shown == FieldVisibility::if_set && is_fallback(setting, spec)) {
    return {{}, {}, setting.is_number() && setting.role != FieldRole::knob};
  }
  const FieldValue held = setting.get(spec);
  const auto* whole = std::get_if<std::int64_t>(&held);
  const auto* real = std::get_if<double>(&held);
  const bool number = whole != nullptr || real != nullptr;
  // 0 represents an unknown extent of an imported point.
  if (whole != nullptr && *whole < setting.smallest) return {{}, {}, number};
  if (!number) return {text, text.isEmpty() ? QVariant() : QVariant(text), number};
  return {text, whole != nullptr ? static_cast<double>(*whole) : *real, number};
}

QString setting_key(const Field& setting) {
  return to_qstring(setting.heading.empty() ? setting.name : setting.heading);
}

QString setting_help(const Field& setting) {
  if (setting.role == FieldRole::knob) {
    return setting.help ? qtext(msg::points_table::knob_help{.meaning = setting.help()})
                        : qtext(msg::points_table::foreign_knob_help{.name = setting.name});
  }
  QString words = qtext(setting.meaning ? setting.meaning() : setting.help());
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

bool is_tile_setting(const Field& setting) {
  return setting.role == FieldRole::tile || setting.role == FieldRole::knob;
}

bool is_always_shown(const Field& setting) {
  return setting.shown == FieldVisibility::always || setting.shown == FieldVisibility::in_tables;
}

bool is_set(const Field& setting, const PointSpec& spec) {
  return setting.role == FieldRole::knob ? !setting_value(setting, spec).text.isEmpty() : !is_fallback(setting, spec);
}

QStringList non_default_settings(const PointSpec& spec) {
  static const std::vector<Field> settings = point_settings();
  QStringList texts;
  for (const Field& setting : settings) {
    if (is_tile_setting(setting) || setting.shown == FieldVisibility::always || is_fallback(setting, spec)) continue;
    texts << unusual(setting, setting_value(setting, spec).text);
  }
  for (const auto& [name, value] : spec.knobs) texts << format_knob(name, value);
  return texts;
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/choice.h"

#include <QDoubleSpinBox>
#include <QJsonArray>
#include <QSignalBlocker>

#include "ui/pages/facet_chip.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

IdChoice::IdChoice(std::function<void()> changed, QString first, std::function<bool(const QString&)> is_valid_id)
    : changed_(std::move(changed)), is_valid_id_(std::move(is_valid_id)), id_(std::move(first)) {}

void IdChoice::choose(const QString& id) {
  if (is_valid_id_ && !is_valid_id_(id)) return;
  set_id(id);
  changed_();
}

void IdChoice::set_id(const QString& id) {
  if (is_valid_id_ && !is_valid_id_(id)) return;
  if (id_ != id) text_.clear();
  id_ = id;
  show();
}

void IdChoice::offer(std::vector<Option> options, int otherwise) {
  options_ = std::move(options);
  fallback_ = otherwise;
  show();
}

void IdChoice::offer_available(std::vector<Option> options) {
  from_data_ = true;
  const auto chosen = std::ranges::find(options, id_, &Option::id);
  if (chosen != options.end()) {
    text_ = chosen->text;
  } else if (!id_.isEmpty()) {
    options.push_back({.text = text_.isEmpty() ? id_ : text_, .id = id_, .available = false});
  }
  offer(std::move(options));
}

const Option* IdChoice::shown() const {
  const int at = shown_index();
  return at < 0 ? nullptr : &options_[static_cast<std::size_t>(at)];
}

int IdChoice::shown_index() const {
  const auto found = std::ranges::find(options_, id_, &Option::id);
  if (found != options_.end()) return static_cast<int>(found - options_.begin());
  return options_.empty() ? -1 : fallback_;
}

FacetChip* IdChoice::attach_editor(FacetChip* chip) {
  chip_ = chip;
  QObject::connect(chip, &FacetChip::picked, chip, [this](const QString& id) { choose(id); });
  show();
  return chip;
}

void IdChoice::show() const {
  if (chip_ == nullptr) return;
  chip_->show_options(options_, shown_index());
  chip_->set_automatic(from_data_ && empty());
}

void Choices::add(const char* key, IdChoice& choice) {
  add([key, &choice](QJsonObject& state) { state[QLatin1String(key)] = choice.id(); },
      [key, &choice](const QJsonObject& state) { choice.set_id(state[QLatin1String(key)].toString(choice.id())); });
}

void Choices::add(const char* key, QString& word) {
  add([key, &word](QJsonObject& state) { state[QLatin1String(key)] = word; },
      [key, &word](const QJsonObject& state) { word = state[QLatin1String(key)].toString(word); });
}

void Choices::add(const char* key, QAction& toggle) {
  add([key, &toggle](QJsonObject& state) { state[QLatin1String(key)] = toggle.isChecked(); },
      [key, &toggle](const QJsonObject& state) {
        const QSignalBlocker quiet(toggle);
        toggle.setChecked(state[QLatin1String(key)].toBool(toggle.isChecked()));
      });
}

void Choices::add(const char* key, QDoubleSpinBox& number) {
  add([key, &number](QJsonObject& state) { state[QLatin1String(key)] = number.value(); },
      [key, &number](const QJsonObject& state) {
        const QSignalBlocker quiet(number);
        number.setValue(state[QLatin1String(key)].toDouble(number.value()));
      });
}

void Choices::add(const char* key, std::set<QString>& words) {
  add(
      [key, &words](QJsonObject& state) {
        state[QLatin1String(key)] = QJsonArray::fromStringList(QStringList(words.begin(), words.end()));
      },
      [key, &words](const QJsonObject& state) {
        const QJsonValue saved = state[QLatin1String(key)];
        if (!saved.isArray()) return;
        words.clear();
        for (const auto& word : saved.toArray()) words.insert(word.toString());
      });
}

QJsonObject Choices::state() const {
  QJsonObject state;
  for (const auto& [save, restore] : kept_) save(state);
  return state;
}

void Choices::restore(const QJsonObject& state) const {
  for (const auto& [save, take] : kept_) take(state);
}

QAction* Toggles::add(const QString& name, const Message& text, const Message& help, bool on) {
  auto* action = new QAction(qtext(text), this);
  action->setObjectName(name);
  action->setCheckable(true);
  action->setChecked(on);
  action->setToolTip(plain_tooltip(qtext(help)));
  all_ << action;
  return action;
}

QJsonObject Toggles::state() const {
  QJsonObject state;
  for (const QAction* each : all_) state[each->objectName()] = each->isChecked();
  return state;
}

void Toggles::restore(const QJsonObject& state) {
  for (QAction* each : all_) each->setChecked(state[each->objectName()].toBool(each->isChecked()));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/remote_device_list.h"

#include <QSettings>

#include "profiler/worker/ssh.h"

namespace attnscope::ui {
namespace {

constexpr auto settings_key = "devices/elsewhere";
constexpr int most_words = 32;

bool is_word(const QString& word) {
  return is_remote_device(word) && worker::parse_ssh_target(word.toStdString()).ok();
}

}  // namespace

bool is_remote_device(const QString& argument) {
  return argument.startsWith(QLatin1String(worker::ssh_prefix.data()));
}

RemoteDeviceList& RemoteDeviceList::instance() {
  static RemoteDeviceList list;
  return list;
}

void RemoteDeviceList::remember() {
  remembers_ = true;
  read();
  emit changed();
}

/// What another window has kept meanwhile counts as well.
void RemoteDeviceList::read() {
  if (!remembers_) return;
  for (const QString& word : QSettings().value(QLatin1String(settings_key)).toStringList()) {
    if (is_word(word) && !words_.contains(word)) words_ << word;
  }
}

void RemoteDeviceList::add(const QString& word) {
  if (!is_word(word) || words_.contains(word)) return;
  read();
  words_.removeAll(word);
  words_ << word;
  while (words_.size() > most_words) words_.removeFirst();  // the oldest
  keep();
}

void RemoteDeviceList::remove(const QString& word) {
  read();
  if (words_.removeAll(word) > 0) keep();
}

void RemoteDeviceList::keep() {
  if (remembers_) QSettings().setValue(QLatin1String(settings_key), words_);
  emit changed();
}

}  // namespace attnscope::ui

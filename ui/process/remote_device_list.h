// SPDX-License-Identifier: GPL-3.0-or-later
// The devices on other machines that the user has named ("ssh:HOST", "ssh:HOST/DEVICE"): one list for the whole
// program, kept in the settings.
#pragma once

#include <QObject>
#include <QStringList>

namespace attnscope::ui {

/// Whether --device would lead to another machine.
[[nodiscard]] bool is_remote_device(const QString& argument);

class RemoteDeviceList : public QObject {
  Q_OBJECT
 public:
  static RemoteDeviceList& instance();

  /// From now on the list is that of the settings, and kept there; before, and in tests, it is nobody's.
  void remember();
  [[nodiscard]] const QStringList& words() const { return words_; }
  /// A word that --device takes, and that is new; of more than 32 the oldest goes.
  void add(const QString& word);
  void remove(const QString& word);

 signals:
  void changed();

 private:
  RemoteDeviceList() = default;
  void read();
  void keep();

  QStringList words_;
  bool remembers_ = false;
};

}  // namespace attnscope::ui

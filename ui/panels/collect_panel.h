// SPDX-License-Identifier: GPL-3.0-or-later
// Choose a device and a sweep, start it, watch it, stop it. Start says why when it cannot.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProcess>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>
#include <optional>
#include <vector>

#include "profiler/plan/sweep.h"
#include "ui/collector_process.h"

namespace attnscope::ui {

struct ListedDevice {
  QString argument;  ///< for --device
  QString name;
  QString note;  ///< why counters are missing, when they are
};
/// The GPU that `attnscope collect --dry-run --jsonl --device ORDINAL` planned for; nothing when it planned for none.
[[nodiscard]] std::optional<ListedDevice> parse_device(const QByteArray& plan_line, int ordinal);

class CollectPanel : public QWidget {
  Q_OBJECT
 public:
  explicit CollectPanel(QWidget* parent = nullptr);
  ~CollectPanel() override;

  [[nodiscard]] CollectorProcess& collector() { return collector_; }
  /// Why Start is disabled; empty when it is not.
  [[nodiscard]] QString blocker() const;
  [[nodiscard]] CollectRequest request() const;
  void set_preset(const QString& name);
  void set_axes(const QString& text);
  /// A word of parse_pass(); empty: the preset's.
  void set_pass(const QString& word);
  /// Words of parse_mask(), separated by blanks; empty: the preset's.
  void set_masks(const QString& text);
  void set_database(const QString& path);
  void set_resume(bool on);
  /// The point being measured, shortened; empty between collections.
  [[nodiscard]] QString in_flight() const;
  /// Asks the command-line program for the GPUs of this machine, in the background.
  void list_devices();

 signals:
  /// The collector has begun (or ended) writing this file.
  void collection_started(const QString& database);
  void collection_grew(const QString& database);
  void collection_ended(const QString& database);
  /// One line for the window's banner: what went wrong.
  void trouble(const QString& message);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void build_form();
  void connect_collector();
  void start();
  void take_algorithms_of_preset();
  void probe_device(int ordinal);
  void show_devices();
  void validate();
  /// A line of the log, in the colour of such an end; none: plain.
  void log(const QString& text, std::optional<Disposition> kind, const QString& tip = {});
  void ended(const QString& summary);
  [[nodiscard]] std::vector<ListedDevice> simulated_devices() const;
  /// What the fields ask for, each as parse_axis() reads it.
  [[nodiscard]] QStringList axes() const;
  [[nodiscard]] SweepRequest sweep_request(QString* error) const;

  CollectorProcess collector_;
  QProcess probe_;
  int probed_ordinal_ = 0;
  bool device_chosen_ = false;
  std::vector<ListedDevice> devices_;
  QString blocker_;
  QString database_in_use_;

  QComboBox* device_ = nullptr;
  QComboBox* preset_ = nullptr;
  QComboBox* pass_ = nullptr;
  QLineEdit* mask_ = nullptr;
  QLineEdit* axes_ = nullptr;
  std::vector<QCheckBox*> algorithms_;
  QComboBox* cache_ = nullptr;
  QCheckBox* resume_ = nullptr;
  QLineEdit* file_ = nullptr;
  QLabel* plan_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* in_flight_ = nullptr;
  QListWidget* log_ = nullptr;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Measure, Sweep around and Cancel with what they are at in one row, and a table of what came of it beside what was
// predicted, which stands elsewhere.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QWidget>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ui/models/result_model.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class MeasuringCard : public QWidget {
  Q_OBJECT
 public:
  explicit MeasuringCard(PointMeasurer& measurer, QWidget* parent = nullptr);

  /// What is to be measured from now on; `runs`: theory says that it runs.
  void show_choices(const ExplorerChoices& choices, bool runs);
  /// Exactly what is shown, on the device chosen for that; nothing where a button says that it cannot be.
  void measure();
  void sweep_around();

  [[nodiscard]] PointMeasurer& measurer() { return measurer_; }
  /// What it is at, in a sentence.
  [[nodiscard]] QString state_words() const;
  /// How many points it still has, and where they go.
  [[nodiscard]] QString open_words() const;
  [[nodiscard]] FittedTable* table() const { return table_; }
  /// How far *Sweep around* goes, in tiles to each side.
  [[nodiscard]] QSpinBox& steps() const { return *steps_; }

 signals:
  void measure_wanted();
  void around_wanted();
  /// Of a neighbourhood: a point by its id in `file`.
  void map_wanted(const QString& file, qint64 point);
  /// A point waits, is measured or has its answer.
  void changed();
  /// All that was asked for has its answer, and the last is in the table.
  void answered();

 private:
  void ask(const QPushButton& button, const std::function<void(const ListedDevice&)>& how);
  /// Those that run what is chosen: no simulated GPU plays a program that nobody stated.
  [[nodiscard]] std::vector<ListedDevice> devices() const;
  /// Why there is none, where it is for the algorithm; else empty.
  [[nodiscard]] QString no_device_words() const;
  /// The device that is chosen; nothing without one.
  [[nodiscard]] std::optional<ListedDevice> device() const;
  void follow_measurer();
  void show_devices();
  void show_state();
  [[nodiscard]] bool padded() const { return choices_.point.padding_bytes > 0; }
  /// Whether the GPU is one that nobody has, and nobody saved.
  [[nodiscard]] bool supposed() const { return !choices_.what_if.changes_nothing(); }

  ExplorerChoices choices_;
  bool runs_ = false;
  PointMeasurer& measurer_;
  bool chosen_by_hand_ = false;  ///< the device, of those of this GPU
  QString trouble_;
  QComboBox* device_ = nullptr;
  QPushButton* measure_ = nullptr;
  QPushButton* around_ = nullptr;
  QSpinBox* steps_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QPushButton* map_ = nullptr;
  ElidedLabel* state_ = nullptr;
  ResultModel* model_ = nullptr;
  FittedTable* table_ = nullptr;
};

/// "1.20 ms (simulated)", or how it ended, or that it waits.
[[nodiscard]] QString outcome_words(const MeasuredPoint& point);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// The filter of the whole window: a line of words (profiler/points/point_query.h) that decides which points every page
// and export shows, with completion and how many points are left.
#pragma once

#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QStringListModel>
#include <QWidget>

#include "ui/runs/workspace.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class QueryBar : public QWidget {
  Q_OBJECT
 public:
  explicit QueryBar(Workspace& workspace, QWidget* parent = nullptr);

  /// Gives the line the focus, its text selected.
  void begin();
  /// Applies this text.
  void set_text(const QString& text);
  [[nodiscard]] QLineEdit* field() const { return field_; }
  [[nodiscard]] QCompleter* completer() const { return completer_; }
  /// "6 of 30 points"
  [[nodiscard]] QString count() const { return count_->text(); }
  /// Why the line was refused; empty where it holds.
  [[nodiscard]] QString error() const { return note_->text(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void add_completer();
  /// After an error the filter before it still holds.
  void apply();
  void show_state();
  void show_candidates(bool asked_for);
  void take(const QString& candidate);

  Workspace& workspace_;
  QLineEdit* field_ = nullptr;
  ElidedLabel* note_ = nullptr;
  QLabel* count_ = nullptr;
  QCompleter* completer_ = nullptr;
  QStringListModel* candidates_ = nullptr;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Filter of the window: a query (profiler/points/point_query.h) that selects the points of all pages and exports, with
// completion and the number of remaining points.
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

  void focus_field();
  /// Shows the field only, in that width and wider while it has the focus; 0: the whole bar.
  void set_compact(int width);
  [[nodiscard]] QSize sizeHint() const override;
  void set_text(const QString& text);
  [[nodiscard]] QLineEdit* field() const { return field_; }
  [[nodiscard]] QCompleter* completer() const { return completer_; }
  [[nodiscard]] QString count() const { return count_->text(); }
  /// Returns why the query was rejected; empty if it is valid.
  [[nodiscard]] QString error() const { return note_->text(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void add_completer();
  /// Applies the query; on error the previous one stays active.
  void apply();
  void show_state();
  void show_candidates(bool asked_for);
  void insert_candidate(const QString& candidate);

  Workspace& workspace_;
  int compact_width_ = 0;
  QLineEdit* field_ = nullptr;
  ElidedLabel* note_ = nullptr;
  QLabel* count_ = nullptr;
  QCompleter* completer_ = nullptr;
  QStringListModel* candidates_ = nullptr;
};

}  // namespace attnscope::ui

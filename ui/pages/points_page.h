// SPDX-License-Identifier: GPL-3.0-or-later
// Every point of the shown runs as a sortable table.
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QStackedLayout>
#include <QTableView>
#include <QWidget>

#include "ui/models/points_table_model.h"
#include "ui/pages/empty_state.h"

class QSortFilterProxyModel;

namespace attnscope::ui {

class PointsPage : public QWidget {
  Q_OBJECT
 public:
  explicit PointsPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QTableView* table() const { return table_; }

 signals:
  void point_selected(const attnscope::ui::ShownPoint& point);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void copy_selection();
  void update_count();

  Workspace& workspace_;
  PointsTableModel* model_ = nullptr;
  QSortFilterProxyModel* proxy_ = nullptr;
  QTableView* table_ = nullptr;
  QLineEdit* search_ = nullptr;
  QLabel* count_ = nullptr;
  EmptyState* empty_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  bool stale_ = true;
  bool sized_ = false;
};

}  // namespace attnscope::ui

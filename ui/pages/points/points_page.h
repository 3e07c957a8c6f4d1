// SPDX-License-Identifier: GPL-3.0-or-later
// Every point of the shown runs as a sortable table.
#pragma once

#include <QStackedLayout>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ui/models/points_table.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/page.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class PointsPage : public Page {
  Q_OBJECT
 public:
  explicit PointsPage(Workspace& workspace, QWidget* parent = nullptr);
  ~PointsPage() override;

  [[nodiscard]] QWidget* view() override { return table_; }
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;

  [[nodiscard]] PlainTable* table() const { return table_; }
  /// What all rows say, in place of columns that would say nothing else.
  [[nodiscard]] QString common() const { return common_->isHidden() ? QString() : common_->text(); }
  void fill_menu(QMenu& menu) override;

 protected:
  void show_anew() override { refresh(); }
  bool show_mark(const ShownPoint& point, bool moves) override;

 private:
  using Contents = std::shared_ptr<const PointsTable>;
  struct Asked {
    std::shared_ptr<const PointSet> points;
    Contents known;  ///< what the table shows
    QString sorted_by;
    Qt::SortOrder order = Qt::AscendingOrder;
  };
  struct Found {
    Contents contents;
    std::vector<Row> rows;
  };
  [[nodiscard]] static Found find(const Asked& asked);
  void add_table();
  void keep_order();
  void sort_by(int column, Qt::SortOrder order);
  /// Of what is visible by now, in the order that is chosen.
  void refresh();
  void show_found(Found found);
  void hide_columns();
  void size_columns();
  [[nodiscard]] QString heading_of(int column) const;

  Workspace& workspace_;
  PointsTableModel* model_ = nullptr;
  PlainTable* table_ = nullptr;
  EmptyState* empty_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  ElidedLabel* common_ = nullptr;  ///< what all rows say
  // Of columns, by their keys.
  QString sorted_by_;  ///< empty: by none
  Qt::SortOrder order_ = Qt::AscendingOrder;
  std::set<QString> hidden_;       ///< by the user
  std::set<QString> shown_;        ///< by the user, though all rows say the same there
  std::map<QString, int> widths_;  ///< in pixels, that the widest text until now asks for
  std::set<QString> sized_by_hand_;
  bool sizing_ = false;
  Live<Asked, Found> found_;
};

}  // namespace attnscope::ui

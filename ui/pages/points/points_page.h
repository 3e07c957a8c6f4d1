// SPDX-License-Identifier: GPL-3.0-or-later
// All visible points as a sortable table.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "ui/models/result_model.h"
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
  void fill_menu(QMenu& menu) override;

 protected:
  void rebuild_page() override { refresh(); }
  /// Shows all used columns with their widths, in file order.
  void reset_choices() override;
  bool show_mark(const ShownPoint& point, bool moves) override;

 private:
  using Contents = std::shared_ptr<const PointsTable>;
  struct TableRequest {
    std::shared_ptr<const PointSet> points;
    Contents known;
    QString sorted_by;
    Qt::SortOrder order = Qt::AscendingOrder;
  };
  struct FindResult {
    Contents contents;
    std::vector<Row> rows;
  };
  [[nodiscard]] static FindResult find(const TableRequest& asked);
  void add_table();
  void register_order();
  void sort_by(int column, Qt::SortOrder order);
  void refresh();
  void apply_result(FindResult found);
  void hide_columns();
  void size_columns();
  [[nodiscard]] QString heading_of(int column) const;

  Workspace& workspace_;
  PointsTableModel* model_ = nullptr;
  PlainTable* table_ = nullptr;
  ElidedLabel* common_ = nullptr;  ///< Values common to all rows, shown instead of columns.
  // The following are by column key.
  QString sorted_by_;  ///< Empty: unsorted.
  Qt::SortOrder order_ = Qt::AscendingOrder;
  std::set<QString> hidden_;
  std::set<QString> shown_;        ///< Shown by the user, though all rows have the same value.
  std::map<QString, int> widths_;  ///< In pixels, for the widest text so far.
  std::set<QString> sized_by_user_;
  bool sizing_ = false;
  BackgroundTask<TableRequest, FindResult> found_;
};

}  // namespace attnscope::ui

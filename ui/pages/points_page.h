// SPDX-License-Identifier: GPL-3.0-or-later
// Every point of the shown runs as a sortable table.
#pragma once

#include <QLabel>
#include <QStackedLayout>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/models/points_order.h"
#include "ui/models/points_table_model.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/page.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class PointsPage : public Page {
  Q_OBJECT
 public:
  explicit PointsPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return table_; }
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;

  [[nodiscard]] PlainTable* table() const { return table_; }
  /// What all rows say, in place of columns that would say nothing else.
  [[nodiscard]] QString common() const { return common_->isHidden() ? QString() : common_->text(); }
  /// None of what is listed without being in memory.
  [[nodiscard]] bool has_values() const override { return !model_->lists() && model_->rowCount() > 0; }
  [[nodiscard]] ShownValues values() const override { return table_->values(); }
  void fill_menu(QMenu& menu) override;

 protected:
  void show_anew() override { refresh(); }
  bool show_mark(const ShownPoint& point, bool moves) override;

 private:
  void hide_columns();
  void add_table();
  void keep_order();
  /// What the table is to show, and what finds the order of it and the widest texts.
  struct Asked {
    PointsOrder::Prepared prepared = {};
    PointsTableModel::Ordering ordering = {};
    PointsTableModel::Look look = {};             ///< none: that is known
    std::shared_ptr<const Listing> listing = {};  ///< in place of points
  };
  struct Found {
    Asked asked;
    std::optional<PointsTableModel::Looked> looked = {};
  };
  [[nodiscard]] static Found find(const Asked& asked);
  void show_found(Found found);
  /// Of what is visible by now; ends in show_points().
  void refresh();
  void show_points();
  /// The rows of the workspace's listing.
  void refresh_listing();
  /// Whether the columns' widths were found of points other than those that would be shown now.
  [[nodiscard]] bool wants_texts(const std::shared_ptr<const PointSet>& all) const;
  /// The table, or why it has no row.
  void show_rows();
  void size_columns();
  [[nodiscard]] QString heading_of(int column) const;
  /// Whether more points fit than are in memory: the table then has rows that plots do not show.
  [[nodiscard]] bool lists_more() const;

  Workspace& workspace_;
  PointsTableModel* model_ = nullptr;
  PointsOrder* order_ = nullptr;
  PlainTable* table_ = nullptr;
  EmptyState* empty_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  std::shared_ptr<const Listing> looks_at_;  ///< while it is looked through aside
  QLabel* listed_ = nullptr;                 ///< what the table lists beyond the plots, while it does
  int sized_rows_ = 0;                       ///< whose settings the columns have room for
  std::weak_ptr<const PointSet> sized_of_;   ///< all points that columns have room for; null: of some alone
  std::vector<int> content_width_;           ///< of each column, in pixels, as far as it was looked at
  std::set<int> sized_by_hand_;
  std::set<QString> hidden_;       ///< keys of columns that the user has hidden
  std::set<QString> shown_;        ///< of those shown by the user, though all rows say the same there
  ElidedLabel* common_ = nullptr;  ///< what all rows say
  bool sizing_ = false;
  Live<Asked, Found> found_;
};

}  // namespace attnscope::ui

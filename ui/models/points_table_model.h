// SPDX-License-Identifier: GPL-3.0-or-later
// All points of the shown runs, a row each: what they were set to (point_settings.h), then what came of them. Of files
// whose points are not all in memory, values are read when their rows are looked at.
#pragma once

#include <QStringList>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "ui/models/table_model.h"
#include "ui/runs/point_pages.h"
#include "ui/runs/point_selection.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

class PointsTableModel : public TableModel {
  Q_OBJECT
 public:
  explicit PointsTableModel(QObject* parent = nullptr);
  /// A column for each knob of these algorithms and for each of these fields, alone or with others; both have to
  /// outlive the model.
  explicit PointsTableModel(const Registry& registry, QObject* parent = nullptr,
                            std::span<const Field> fields = point_fields());

  /// Grows in place when the points so far are a beginning of the new ones, as they are while a run is followed, and
  /// none of the others has a knob that no algorithm states: those get columns too.
  void set_points(std::shared_ptr<const PointSet> points);
  /// The rows of a listing, in the order of sort_listing().
  void set_listing(std::shared_ptr<const Listing> listing);
  /// What takes long of many points or rows of a listing, for them to be given to the model then.
  struct Looked {
    std::shared_ptr<const PointSet> points;
    std::map<QString, bool> in_use;                ///< column_in_use(), by the column's key
    std::map<QString, bool> varies;                ///< column_varies(), by the column's key
    std::map<QString, QStringList> texts;          ///< texts_of(), by the column's key, where that was asked for
    std::shared_ptr<const Listing> listing;        ///< null: all points are rows
    std::shared_ptr<const std::vector<Row>> rows;  ///< of the listing, in the order of
    QString by;
    Qt::SortOrder order = Qt::AscendingOrder;
  };
  /// Looks through points, or a listing's, in any thread. `texts`: also for what settings say.
  using Look = std::function<Looked()>;
  [[nodiscard]] Look look(std::shared_ptr<const PointSet> points, bool texts) const;
  [[nodiscard]] Look look(std::shared_ptr<const Listing> listing, bool texts) const;
  /// From now on what was found of these points is not asked again.
  void know(Looked looked) { looked_ = std::move(looked); }
  /// Whether its rows are those of this listing, in the order that is wanted.
  [[nodiscard]] bool shows(const std::shared_ptr<const Listing>& listing) const {
    return listing != nullptr && listing == listing_ && shown_by_ == listed_by_ && shown_in_ == listed_in_;
  }
  /// Whether set_listing() came last.
  [[nodiscard]] bool lists() const { return listing_ != nullptr; }
  /// The same, and while the model is reset whether it will be so.
  [[nodiscard]] bool will_list() const { return will_list_; }
  /// Orders the rows of listings, now and later, by the column of that key, rows without a value last; of "" they stand
  /// as they do there. Of many it says order_wanted() instead. False for a column that is computed of values: these are
  /// not in memory.
  bool sort_listing(const QString& key, Qt::SortOrder order);
  /// Finds the order of points by a column of the model, those without a value last and equal ones as they stand; in
  /// any thread. Empty without such a column.
  using Ordering = std::function<std::vector<Row>()>;
  [[nodiscard]] Ordering ordering(std::shared_ptr<const PointSet> points, int column, Qt::SortOrder order) const;
  /// Reads the values of listed rows.
  [[nodiscard]] PointPages& pages() { return pages_; }
  [[nodiscard]] const std::shared_ptr<const PointSet>& points() const { return points_; }
  [[nodiscard]] ShownPoint point(int row) const { return (*points_)[place_of(row)]; }
  /// Where a point of any set is among the rows.
  [[nodiscard]] std::optional<int> row_of(const ShownPoint& point) const;
  /// The column of that heading; -1 when there is none.
  [[nodiscard]] int column_of(const QString& heading) const;
  /// False for a column of a rarely set property that no point has.
  [[nodiscard]] bool column_in_use(int column) const;
  /// False where all points, of which there are several, read the same here, or have nothing.
  [[nodiscard]] bool column_varies(int column) const;
  /// The column of that key ("n", "heads", a field's or a knob's name); -1 when there is none.
  [[nodiscard]] int column_named(const QString& key) const;
  [[nodiscard]] QString key_of(int column) const;

  /// Whether a column is read off the point's setting; the others compute.
  [[nodiscard]] bool is_setting(int column) const;
  /// What a column says of a point of any set.
  [[nodiscard]] QString text_of(int column, const PointSet& points, Row row) const {
    return columns_[static_cast<std::size_t>(column)].value(points, row).text;
  }
  /// Each text that a column that is_setting() has from that row of points() on; of those before it some, too.
  [[nodiscard]] QStringList texts_of(int column, Row from = 0) const;

  struct Value {
    QString text;
    QVariant sort;  ///< invalid: the point has no value here
    QString tip;
    bool number = false;
  };
  struct Column {
    QString heading;
    QString key;  ///< what it is known by where an order is kept: "heads"
    QString help;
    std::function<Value(const PointSet&, Row)> value;
    std::string_view metric = {};  ///< of the metrics table, whose unit the values have; empty: a setting
    QString field = {};            ///< the one field that it shows, which it is known by as well
    std::function<bool(const PointSet&)> in_use = nullptr;        ///< none: always shown
    std::function<QString(const PointSet&, Row)> tip = nullptr;   ///< none: that of the value
    std::function<QString(const PointSet&, Row)> code = nullptr;  ///< for programs, in no language; none: the value
    /// Of a setting: functions of a row of that set, which give the same for rows that read the same.
    std::function<std::vector<std::function<std::uint64_t(Row)>>(const PointSet&)> keys = nullptr;
  };

 signals:
  /// The rows of the listing are to be looked through anew, and set again: they are to stand in another order.
  void order_wanted();

 protected:
  [[nodiscard]] int rows() const override {
    return static_cast<int>(lists() ? shown_->size() : std::size_t{points_->size()});
  }
  [[nodiscard]] int columns() const override;
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  void make_columns();
  [[nodiscard]] Row place_of(int row) const {
    return lists() ? (*shown_)[static_cast<std::size_t>(row)] : static_cast<Row>(row);
  }
  /// Of a listing those that fit, in the order that is wanted, and from now on shown.
  [[nodiscard]] std::shared_ptr<const std::vector<Row>> in_order();
  /// Where a cell's value stands; `row` is the model's, here and below.
  [[nodiscard]] PointPages::Value source_of(const Column& column, int row) const;
  [[nodiscard]] QString tip_of_cell(const Column& column, int row) const;
  /// What a cell says.
  [[nodiscard]] Value value_of_cell(const Column& column, int row) const;
  /// Whether there were new ones.
  bool add_foreign_knobs(const PointSet& points);
  [[nodiscard]] Look look(Looked looked, bool texts) const;
  /// What is known of the points that are shown, by the key of a column; null: nothing.
  template <class Value>
  [[nodiscard]] const Value* known(const std::map<QString, Value>& of, int column) const {
    const auto found = looked_.points == points_ ? of.find(key_of(column)) : of.end();
    return found == of.end() ? nullptr : &found->second;
  }

  const Registry& registry_;
  std::span<const Field> fields_;
  std::set<std::string> foreign_knobs_;  ///< of points, stated by no algorithm of the registry
  std::vector<Column> columns_;
  std::shared_ptr<const PointSet> points_ = std::make_shared<const PointSet>();
  std::shared_ptr<const Listing> listing_;         ///< null: all of points_ are rows
  std::shared_ptr<const std::vector<Row>> shown_;  ///< of points_, by row
  bool will_list_ = false;
  QString shown_by_;  ///< in what order they are
  Qt::SortOrder shown_in_ = Qt::AscendingOrder;
  QString listed_by_;  ///< key of a column; in what order they are to be
  Qt::SortOrder listed_in_ = Qt::AscendingOrder;
  mutable PointPages pages_;            ///< asks for what is looked at
  mutable std::map<int, bool> in_use_;  ///< by column, of points_
  Looked looked_;
};

}  // namespace attnscope::ui

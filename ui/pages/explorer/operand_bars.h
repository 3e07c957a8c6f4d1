// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes by matrix as bars of one scale: loaded bytes solid, stored bytes pale.
#pragma once

#include <QAbstractItemModel>
#include <QString>
#include <QWidget>
#include <vector>

namespace attnscope::ui {

class OperandBars : public QWidget {
  Q_OBJECT
 public:
  /// `model`: analysis::operands_table(); must outlive this widget.
  explicit OperandBars(QAbstractItemModel& model, QWidget* parent = nullptr);

  [[nodiscard]] QAbstractItemModel* model() const { return &model_; }
  /// Call after the model changed.
  void refresh();
  /// Both parts of a row's bar.
  [[nodiscard]] QRectF loaded_bar(int row) const { return bar(row, false); }
  [[nodiscard]] QRectF stored_bar(int row) const { return bar(row, true); }

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Line {
    QString name;
    QString words;  ///< "537 MB  48.5%"
    QString help;
    double loaded = 0;
    double stored = 0;
    double total = 0;
  };
  [[nodiscard]] double row_height() const;
  [[nodiscard]] QRectF bar(int row, bool stored) const;

  QAbstractItemModel& model_;
  std::vector<Line> lines_;
  double name_width_ = 0;
  double words_width_ = 0;
  double most_ = 0;
};

}  // namespace attnscope::ui

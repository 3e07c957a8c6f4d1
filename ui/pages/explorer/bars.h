// SPDX-License-Identifier: GPL-3.0-or-later
// Labeled horizontal bars of one scale.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

namespace attnscope::ui {

struct BarLine {
  QString title;
  double value = 0;    ///< Solid part.
  double pale = 0;     ///< Paler part behind it.
  QString words = {};  ///< Behind the bar.
  QString note = {};   ///< Right-aligned.
  QString help = {};   ///< Tooltip.
  bool is_unit = false;
  bool is_bound = false;
};

class BarList : public QWidget {
  Q_OBJECT
 public:
  /// of_time: bars of units, the bound in bold. of_matrix: outlined bars in the color of the matrix.
  enum class Kind { of_time, of_matrix };
  BarList(Kind kind, const QString& accessible_name, QWidget* parent = nullptr);

  /// `otherwise`: text shown if there are no lines.
  void set_lines(std::vector<BarLine> lines, const QString& otherwise = {});
  [[nodiscard]] const std::vector<BarLine>& lines() const { return lines_; }
  /// Bar of a line, both parts.
  [[nodiscard]] QRectF bar(std::size_t line) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] double row_height() const;
  void fit_columns();

  Kind kind_;
  QString otherwise_;
  std::vector<BarLine> lines_;
  double title_width_ = 0;
  double text_width_ = 0;  ///< Of words and notes.
};

}  // namespace attnscope::ui

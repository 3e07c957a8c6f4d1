// SPDX-License-Identifier: GPL-3.0-or-later
// Building blocks of the explorer's cards: layout, tables as high as their rows, horizontal bars, and a map of on-chip
// memory.
#pragma once

#include <QColor>
#include <QLabel>
#include <QLayout>
#include <QPushButton>
#include <QString>
#include <QToolButton>
#include <QWidget>
#include <vector>

#include "profiler/predict/exploration.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

/// Places cards in as many columns as fit; extra height goes to expanding cards.
class CardLayout : public QLayout {
 public:
  /// `column_width`: minimum width of a column if there are several.
  CardLayout(QWidget* parent, int column_width, int max_columns, int spacing);
  ~CardLayout() override;

  void set_column_width(int width);

  void addItem(QLayoutItem* item) override { items_.append(item); }
  [[nodiscard]] int count() const override { return static_cast<int>(items_.size()); }
  [[nodiscard]] QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
  }
  [[nodiscard]] Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
  [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
  [[nodiscard]] QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

 private:
  /// Places the items in columns of this width; returns the height of the highest column.
  int arrange(const QRect& rect, bool apply) const;

  QList<QLayoutItem*> items_;
  int column_width_;
  int max_columns_;
};

/// Button "i" that shows a text: as a tooltip, and on a click. Hidden without a text.
class InfoButton : public QToolButton {
  Q_OBJECT
 public:
  explicit InfoButton(QWidget* parent = nullptr);
  void set_text(const QString& text);
  [[nodiscard]] const QString& info() const { return info_; }

 private:
  QString info_;
};

/// A card's title line; all members have parents after card().
struct CardTitle {
  QLabel* text = nullptr;
  InfoButton* info = nullptr;
};
[[nodiscard]] CardTitle card_title(const QString& text, const QString& info = {});
/// Returns a card with a title and its parts, one below another.
[[nodiscard]] QWidget* card(const CardTitle& title, const std::vector<QWidget*>& parts);

QPushButton* add_button(QLayout& layout, const QString& name, const QString& text, const QString& help);

/// Table as high as its rows, columns as wide as their texts; the first column takes extra width.
class FittedTable : public PlainTable {
  Q_OBJECT
 public:
  FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  void fit();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
};

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
  double text_width_ = 0;  ///< width of words and notes
};

/// Color of a named part of a block; parts that are no matrix are gray.
[[nodiscard]] QColor part_color(const std::string& name, const PlotColors& colors);

class OnChipMap : public QWidget {
  Q_OBJECT
 public:
  explicit OnChipMap(QWidget* parent = nullptr);

  /// Null: unknown. If the kernel needs more than the SM has, the excess is hatched.
  void set_kernel(const analysis::ExploredKernel* kernel);

  /// Geometry of one memory: the SM with its blocks, the first block enlarged, and a legend.
  struct MapGeometry {
    struct Span {
      analysis::MemorySpan span;
      QString words;  ///< "K 2 × 16 KiB"
      QRectF rect;    ///< In the enlarged block.
      QColor color;
      QRectF entry;
    };
    QString heading;  ///< "Shared memory: 3 × 65 KiB, 33 KiB free of 228 KiB"
    QRectF heading_rect;
    QRectF sm;
    std::vector<QRectF> blocks;
    std::vector<Span> spans;  ///< Left to right; empty if the kernel does not declare its buffers.
    QRectF overrun;           ///< Part of the block beyond the limit; empty: fits.
    double bottom = 0;
  };
  [[nodiscard]] MapGeometry map_geometry(OnChipMemory place) const { return map_geometry(place, width()); }

  [[nodiscard]] QSize sizeHint() const override { return {360, heightForWidth(360)}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 0}; }
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] const analysis::MemoryMap& map_of(OnChipMemory place) const {
    return place == OnChipMemory::shared ? shared_ : registers_;
  }
  [[nodiscard]] QString heading(OnChipMemory place) const;
  [[nodiscard]] MapGeometry map_geometry(OnChipMemory place, int width) const;
  void paint(QPainter& painter, OnChipMemory place) const;

  bool known_ = false;
  analysis::MemoryMap shared_;
  analysis::MemoryMap registers_;
};

}  // namespace attnscope::ui

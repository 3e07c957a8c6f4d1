// SPDX-License-Identifier: GPL-3.0-or-later
// Shared memory and registers of an SM, to scale: resident blocks and free space; below, one block enlarged with its
// buffers.
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>
#include <vector>

#include "profiler/predict/exploration.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

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
  bool event(QEvent* event) override;

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

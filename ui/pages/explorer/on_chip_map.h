// SPDX-License-Identifier: GPL-3.0-or-later
// An SM's shared memory and registers, to scale: the blocks on it and what is free; below, one block with what it
// keeps there.
#pragma once

#include <QColor>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <vector>

#include "profiler/predict/exploration.h"

namespace attnscope::ui {

class OnChipMap : public QWidget {
  Q_OBJECT
 public:
  explicit OnChipMap(QWidget* parent = nullptr);

  /// Null: the configuration does not run. Of one that takes more than there is, what is too much is hatched.
  void set_kernel(const analysis::ExploredKernel* kernel);

  /// A memory as it is drawn: an SM with its blocks, below it the first block enlarged, and what its colours mean.
  struct Drawn {
    struct Span {
      analysis::MemorySpan span;
      QString words;  ///< "K 2 × 16 KiB"
      QRectF rect;    ///< in the enlarged block
      QColor color;
      QRectF entry;  ///< legend entry
    };
    QString heading;  ///< "Shared memory: 3 × 65 KiB, 33 KiB free of 228 KiB"
    QRectF heading_rect;
    QRectF sm;
    std::vector<QRectF> blocks;
    std::vector<Span> spans;  ///< from left to right; empty where nobody stated what a block keeps there
    QRectF overrun;           ///< what a block takes beyond what it may have; empty where it does not
    double bottom = 0;
  };
  [[nodiscard]] Drawn drawn(OnChipPlace place) const { return drawn(place, width()); }

  [[nodiscard]] QSize sizeHint() const override { return {360, heightForWidth(360)}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 0}; }
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] const analysis::MemoryMap& map_of(OnChipPlace place) const {
    return place == OnChipPlace::shared ? shared_ : registers_;
  }
  [[nodiscard]] QString heading(OnChipPlace place) const;
  [[nodiscard]] Drawn drawn(OnChipPlace place, int width) const;
  void paint(QPainter& painter, OnChipPlace place) const;

  bool known_ = false;
  analysis::MemoryMap shared_;
  analysis::MemoryMap registers_;
};

}  // namespace attnscope::ui

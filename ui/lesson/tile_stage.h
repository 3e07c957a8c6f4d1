// SPDX-License-Identifier: GPL-3.0-or-later
// One algorithm on the lesson's stage: its matrices in memory with the tiles that a step moves, the pairs of queries
// and keys that it has come by, the bytes so far and what the block holds on chip. Draws frames of a TilePlayer.
#pragma once

#include <QColor>
#include <QFont>
#include <QImage>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/analysis/lesson/player.h"
#include "ui/lesson/lesson_data.h"

namespace attnscope::ui {

/// What becomes of a tile in a step, and how it is drawn.
enum class TileMove { hit, miss, stored, added };
[[nodiscard]] QColor tile_move_color(TileMove move, bool dark);

class TileStage : public QWidget {
  Q_OBJECT
 public:
  /// `name` is the algorithm's in tables.
  TileStage(const LessonData& about, std::shared_ptr<const lesson::TilePlayer> player, const Algorithm& algorithm,
            QWidget* parent);

  [[nodiscard]] int frames() const { return static_cast<int>(player_->frames()); }
  /// After the last one the last one stays.
  void show_frame(int frame);
  [[nodiscard]] const lesson::Frame& frame() const { return frame_; }

  struct Lit {
    QRectF rect;
    QColor color;
  };
  /// The tiles that this step moves, as they are drawn.
  [[nodiscard]] std::vector<Lit> lit() const;
  /// Lines of the tally as drawn: name, read, written.
  [[nodiscard]] std::vector<QStringList> tally() const;
  /// The bytes so far are the closed form's, of every matrix.
  [[nodiscard]] bool meets_closed_form() const;
  /// A pixel a tile of S: seen, in hand, or not (yet).
  [[nodiscard]] const QImage& pairs() const { return pairs_; }
  /// Below the picture: the problem, and whether a device runs ahead; then the counters beside the closed form.
  [[nodiscard]] QString notes() const { return notes_; }
  [[nodiscard]] const lesson::TilePlayer& player() const { return *player_; }

  /// Letters and matrices shrink until everything is that high, as far as letters stay legible; 0: as high as it gets.
  void set_room(double height);
  /// Where the tally and what the block holds are drawn, beside the matrices or below them.
  [[nodiscard]] const QRectF& details() const { return details_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  struct Matrix {
    Tensor tensor = Tensor::q;
    std::int64_t rows = 0;  ///< of one head
    std::int64_t cols = 0;
    std::int64_t heads = 1;  ///< one below the other
    QRectF rect{};
  };
  void find_matrices();
  void find_pairs();
  void write_notes(const Algorithm& algorithm);
  void fit();
  void place();
  [[nodiscard]] double details_height() const;
  /// In smaller letters where it is too long, and cut off where that does not help.
  void paint_line(QPainter& painter, double top, const QString& text, const QFont& letters) const;
  void seen_until(int frame);
  void paint_matrices(QPainter& painter) const;
  void paint_pairs(QPainter& painter) const;
  double paint_tally(QPainter& painter) const;
  void paint_chip(QPainter& painter, double top) const;
  [[nodiscard]] QColor color_of(const lesson::FrameAccess& access) const;
  [[nodiscard]] double line() const;

  const LessonData& data_;
  std::shared_ptr<const lesson::TilePlayer> player_;
  lesson::Tally closed_;
  lesson::Frame frame_;
  QString title_;
  QString notes_;
  std::vector<Matrix> matrices_;
  std::vector<std::optional<lesson::TouchedPairs>> touched_;
  std::int64_t pair_rows_ = 1;  ///< of S in a pixel of pairs_
  std::int64_t pair_cols_ = 1;
  std::int64_t pairs_of_head_ = 1;  ///< rows of pairs_ that a head has
  QImage pairs_;
  QRectF pairs_rect_;
  QFont letters_;
  double room_ = 0;
  QRectF details_;
  double head_ = 0;    ///< where the matrices end
  int drawn_to_ = -1;  ///< frames that pairs_ has
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/scale_picture.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ui/lesson/frame_text.h"
#include "ui/lesson/lesson_text.h"
#include "ui/lesson/transport.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double squares_gap = 18;

QString size_text(double bytes) {
  return QString::fromStdString(lesson::figure_text(bytes, lesson::Unit::bytes));
}

void add_caption(LessonPicture& picture, const QString& text) {
  auto* caption = new QLabel(text, &picture);
  caption->setWordWrap(true);
  caption->setTextFormat(Qt::PlainText);
  mute(*caption);
  picture.layout()->addWidget(caption);
}

}  // namespace

ScaledSquares::ScaledSquares(std::vector<lesson::Sized> sizes, double lines, QWidget* parent)
    : QWidget(parent), sizes_(std::move(sizes)), lines_(lines) {}

void ScaledSquares::show_sizes(std::vector<lesson::Sized> sizes) {
  sizes_ = std::move(sizes);
  update();
}

double ScaledSquares::line() const {
  return QFontMetricsF(font()).height();
}

double ScaledSquares::label_width(const lesson::Sized& size) const {
  const QFontMetricsF metrics(font());
  return std::max(metrics.horizontalAdvance(QString::fromStdString(size.label)),
                  metrics.horizontalAdvance(size_text(size.bytes)));
}

std::vector<QRectF> ScaledSquares::squares() const {
  double most = 1;
  for (const lesson::Sized& size : sizes_) most = std::max(most, size.bytes);
  const double largest = lines_ * line();
  std::vector<QRectF> all;
  all.reserve(sizes_.size());
  double x = squares_gap;
  for (const lesson::Sized& size : sizes_) {
    const double side = std::max(1.0, largest * std::sqrt(size.bytes / most));
    all.emplace_back(x, 4 + largest - side, side, side);
    x += std::max(side, label_width(size)) + squares_gap;
  }
  return all;
}

QSize ScaledSquares::sizeHint() const {
  const auto all = squares();
  const double right = all.empty() ? 0 : all.back().left() + std::max(all.back().width(), label_width(sizes_.back()));
  return {static_cast<int>(right + squares_gap), static_cast<int>((lines_ + 2.6) * line()) + 8};
}

void ScaledSquares::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const PlotColors colors = plot_colors(palette());
  const auto all = squares();
  const double ground = 4 + lines_ * line();
  for (std::size_t i = 0; i < all.size(); ++i) {
    QColor fill = colors.accent;
    fill.setAlphaF(0.5F);
    painter.setPen(colors.accent);
    painter.setBrush(fill);
    painter.drawRect(all[i]);
    painter.setPen(colors.text);
    painter.drawText(QPointF(all[i].left(), ground + 1.1 * line()), QString::fromStdString(sizes_[i].label));
    painter.setPen(colors.muted);
    painter.drawText(QPointF(all[i].left(), ground + 2.2 * line()), size_text(sizes_[i].bytes));
  }
}

LedgerPicture::LedgerPicture(const PictureOf& of, QWidget* parent) : LessonPicture(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  const DeviceLimits& gpu = of.data.evidence().gpu;
  frames_ = lesson::ledger_frames(of.data.texts(), of.setting, gpu);
  transport_ = new Transport(of.data, this);
  column->addWidget(transport_);
  n_ = new FrameText(this);
  n_->make_room({QStringLiteral("<b>N</b>")});
  column->addWidget(n_);
  int now = 0;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    if (frames_[i].n == of.setting.n) now = static_cast<int>(i);
  }
  const auto first = static_cast<std::size_t>(now);
  for (const std::vector<lesson::Sized>& sizes : frames_.at(first).pictures) {
    squares_.push_back(new ScaledSquares(sizes, 9, this));
    column->addWidget(squares_.back());
  }
  connect(transport_, &Transport::shown, this, &LedgerPicture::show_frame);
  transport_->set_frames(static_cast<int>(frames_.size()));
  transport_->show_frame(now);
  add_caption(*this, QStringLiteral("%1 %2 (%3; %4: %5)")
                         .arg(of.data.word("doublings"), of.data.word("scale"), of.data.word("modelled"),
                              to_qstring(gpu.name), of.data.word("datasheet")));
}

void LedgerPicture::show_frame(int frame) {
  const lesson::LedgerFrame& now = frames_.at(static_cast<std::size_t>(frame));
  n_->set_text(QStringLiteral("<b>N %1</b>").arg(now.n));
  for (std::size_t i = 0; i < squares_.size(); ++i) squares_[i]->show_sizes(now.pictures[i]);
}

BackwardPicture::BackwardPicture(const PictureOf& of, QWidget* parent) : LessonPicture(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(new ScaledSquares(lesson::backward_squares(of.setting), 9, this));
  add_caption(*this, QStringLiteral("%1 (%2)").arg(of.data.word("scale"), of.data.word("modelled")));
}

}  // namespace attnscope::ui

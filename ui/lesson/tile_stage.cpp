// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/tile_stage.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kernels/registry.h"
#include "profiler/analysis/lesson/spoken.h"
#include "profiler/analysis/lesson/stage.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"
#include "ui/widgets/on_chip_map.h"

namespace attnscope::ui {
namespace {

constexpr double stage_margin = 8;
constexpr double stage_side = 150;   ///< of the longest matrix, at the system's text size
constexpr double least_beside = 52;  ///< lines' heights that matrices and tally take beside one another
/// Okabe-Ito's, in the order of TileMove.
constexpr std::array<QRgb, 4> light_kinds{0xff0072b2, 0xffd55e00, 0xff009e73, 0xffcc79a7};
constexpr std::array<QRgb, 4> dark_kinds{0xff4fa8dc, 0xfff08a45, 0xff35c49a, 0xffdb9cc0};

QString matrix_name(Tensor tensor) {
  return to_qstring(to_string(tensor));
}

QString held_text(std::int64_t bytes) {
  return QString::fromStdString(lesson::figure_text(static_cast<double>(bytes), lesson::Unit::bytes));
}

}  // namespace

QColor tile_move_color(TileMove move, bool dark) {
  return (dark ? dark_kinds : light_kinds).at(static_cast<std::size_t>(move));
}

TileStage::TileStage(const LessonData& about, std::shared_ptr<const lesson::TilePlayer> player,
                     const Algorithm& algorithm, QWidget* parent)
    : QWidget(parent), data_(about), player_(std::move(player)), closed_(player_->closed_form()) {
  title_ = QString::fromStdString(lesson::title_of(about.texts(), algorithm));
  letters_ = font();
  find_matrices();
  find_pairs();
  write_notes(algorithm);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  show_frame(0);
}

void TileStage::find_matrices() {
  // The first blocks of each kernel name all its matrices; the extents are the problem's, seen from the accesses.
  std::vector<bool> known(tensor_count, false);
  for (std::size_t index = 0; index < player_->frames(); ++index) {
    for (const TileAccess& access : player_->accesses(index)) {
      const auto place = static_cast<std::size_t>(access.tensor);
      if (!known[place]) matrices_.push_back({.tensor = access.tensor});
      known[place] = true;
      Matrix& matrix = *std::ranges::find(matrices_, access.tensor, &Matrix::tensor);
      matrix.rows = std::max(matrix.rows, access.row + access.rows);
      matrix.cols = std::max(matrix.cols, access.col + access.cols);
      matrix.heads = std::max(matrix.heads, access.instance + 1);
    }
  }
}

void TileStage::find_pairs() {
  touched_ = player_->touched_pairs();
  std::int64_t heads = 0;
  for (const auto& each : touched_) {
    if (!each) continue;
    pair_rows_ = std::max(pair_rows_, each->q_rows);
    pair_cols_ = std::max(pair_cols_, each->k_rows);
    heads = std::max(heads, each->head + 1);
  }
  if (heads == 0) return;
  const AttentionProblem& p = player_->problem();
  pairs_of_head_ = (p.n_q + pair_rows_ - 1) / pair_rows_;
  const std::int64_t cols = (p.n_k + pair_cols_ - 1) / pair_cols_;
  pairs_ =
      QImage(static_cast<int>(cols), static_cast<int>(heads * pairs_of_head_), QImage::Format_ARGB32_Premultiplied);
}

void TileStage::write_notes(const Algorithm& algorithm) {
  const Config& config = player_->config();
  notes_ = QStringLiteral("%1, %2 × %3. ")
               .arg(QString::fromStdString(lesson::in_terms(data_.texts(), describe_shape(player_->problem()))))
               .arg(config.tile.br)
               .arg(config.tile.bc);
  for (const std::string& order : lesson::load_orders(data_.texts(), *player_)) {
    notes_ += QString::fromStdString(order) + QLatin1Char(' ');
  }
  notes_ += data_.word("settled");
  const lesson::Evidence& evidence = data_.evidence();
  const auto counted =
      lesson::longest_counted(evidence, algorithm.name(), player_->problem().pass, player_->problem().mask);
  if (!counted) return;
  const Provenance origin = evidence.points.values(metric_key::l2_sm_bytes).provenance(counted->row);
  notes_ +=
      QStringLiteral(" — %1 (%2), %3: %4; %5: %6 (%7%).")
          .arg(data_.word("counter"), data_.word(to_string(origin)),
               QString::fromStdString(lesson::in_terms(data_.texts(), describe(evidence.points.spec(counted->row)))),
               held_text(static_cast<std::int64_t>(counted->counted)), data_.word("closed_form"),
               held_text(static_cast<std::int64_t>(counted->closed_form)),
               QString::number(100 * counted->relative(), 'f', 3));
}

double TileStage::line() const {
  return QFontMetricsF(letters_).height();
}

void TileStage::place() {
  // Matrices shrink faster than letters, which have to be read.
  const double share = letters_.pointSizeF() / font().pointSizeF();
  const double scale_room = stage_side * share * line() / 16;
  double longest = 1;
  for (const Matrix& matrix : matrices_) {
    longest = std::max({longest, static_cast<double>(matrix.heads * matrix.rows), static_cast<double>(matrix.cols)});
  }
  const double scale = scale_room / longest;
  // One by itself has room for the tally beside its matrices; of several each is a column.
  const bool beside = width() > least_beside * line();
  const double right = beside ? std::round(0.52 * width()) : width();
  double x = stage_margin;
  double y = stage_margin + 3.2 * line();
  double high = 0;
  for (Matrix& matrix : matrices_) {
    const QSizeF size(std::max(5.0, static_cast<double>(matrix.cols) * scale),
                      std::max(5.0, static_cast<double>(matrix.heads * matrix.rows) * scale));
    const double room = std::max(size.width(), QFontMetricsF(letters_).horizontalAdvance(matrix_name(matrix.tensor)));
    if (x + room > right - stage_margin && x > stage_margin) {
      x = stage_margin;
      y += high + 1.5 * line();
      high = 0;
    }
    matrix.rect = {QPointF(x, y), size};
    x += room + line() * 0.7;
    high = std::max(high, size.height());
  }
  if (!pairs_.isNull()) {
    const double side = scale_room * 0.8;
    if (x + side > right - stage_margin) {
      x = stage_margin;
      y += high + 1.5 * line();
      high = 0;
    }
    const double most = std::max(pairs_.width(), pairs_.height());
    pairs_rect_ = {x, y, std::max(4.0, side * pairs_.width() / most), std::max(4.0, side * pairs_.height() / most)};
    high = std::max(high, pairs_rect_.height());
  }
  head_ = y + high + stage_margin;
  details_ = beside ? QRectF(right, stage_margin + 2.2 * line(), width() - right, details_height())
                    : QRectF(0, head_, width(), details_height());
}

double TileStage::details_height() const {
  std::size_t parts = 0;
  for (const KernelModel& kernel : player_->kernels()) parts = std::max(parts, kernel.on_chip.size());
  const double rows = static_cast<double>(matrices_.size()) + 4 + 1 + static_cast<double>(parts) * 1.25 + 1;
  return rows * line() * 1.15 + stage_margin;
}

void TileStage::set_room(double height) {
  if (height == room_) return;
  room_ = height;
  fit();
}

void TileStage::fit() {
  constexpr double least_share = 0.55;
  constexpr double share_step = 0.05;
  letters_ = font();
  place();
  for (double share = 1; room_ > 0 && sizeHint().height() > room_ && share > least_share;) {
    share -= share_step;
    letters_.setPointSizeF(font().pointSizeF() * share);
    place();
  }
  setFixedHeight(sizeHint().height());
  update();
}

QSize TileStage::sizeHint() const {
  return {320, static_cast<int>(std::max(head_, details_.bottom()) + stage_margin)};
}

QSize TileStage::minimumSizeHint() const {
  return {260, sizeHint().height()};
}

void TileStage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (event->size().width() != event->oldSize().width()) fit();
}

void TileStage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  drawn_to_ = -1;
  seen_until(static_cast<int>(frame_.index));
  fit();
}

void TileStage::seen_until(int frame) {
  if (pairs_.isNull()) return;
  const PlotColors colors = plot_colors(palette());
  if (drawn_to_ < 0 || frame < drawn_to_) {
    pairs_.fill(colors.grid);
    drawn_to_ = -1;
  }
  for (int each = std::max(drawn_to_, 0); each <= frame; ++each) {
    const auto& pairs = touched_[static_cast<std::size_t>(each)];
    if (!pairs) continue;
    // The one in hand is drawn over it.
    for (std::int64_t row = pairs->q / pair_rows_; row * pair_rows_ < pairs->q + pairs->q_rows; ++row) {
      for (std::int64_t col = pairs->k / pair_cols_; col * pair_cols_ < pairs->k + pairs->k_rows; ++col) {
        pairs_.setPixelColor(static_cast<int>(col), static_cast<int>(pairs->head * pairs_of_head_ + row), colors.muted);
      }
    }
  }
  drawn_to_ = frame;
}

void TileStage::show_frame(int frame) {
  frame = std::clamp(frame, 0, frames() - 1);
  frame_ = player_->frame(static_cast<std::size_t>(frame));
  seen_until(frame);
  update();
}

QColor TileStage::color_of(const lesson::FrameAccess& access) const {
  const bool dark = plot_colors(palette()).dark;
  if (access.access.access == Access::store) return tile_move_color(TileMove::stored, dark);
  if (access.access.access == Access::reduce) return tile_move_color(TileMove::added, dark);
  return tile_move_color(access.hit() ? TileMove::hit : TileMove::miss, dark);
}

std::vector<TileStage::Lit> TileStage::lit() const {
  std::vector<Lit> all;
  all.reserve(frame_.accesses.size());
  for (const lesson::FrameAccess& each : frame_.accesses) {
    const TileAccess& a = each.access;
    const auto matrix = std::ranges::find(matrices_, a.tensor, &Matrix::tensor);
    if (matrix == matrices_.end()) continue;
    const double sx = matrix->rect.width() / static_cast<double>(matrix->cols);
    const double sy = matrix->rect.height() / static_cast<double>(matrix->heads * matrix->rows);
    all.push_back({{matrix->rect.x() + static_cast<double>(a.col) * sx,
                    matrix->rect.y() + static_cast<double>(a.instance * matrix->rows + a.row) * sy,
                    std::max(2.0, static_cast<double>(a.cols) * sx), std::max(2.0, static_cast<double>(a.rows) * sy)},
                   color_of(each)});
  }
  return all;
}

bool TileStage::meets_closed_form() const {
  return std::ranges::equal(frame_.so_far.by_tensor, closed_.by_tensor);
}

std::vector<QStringList> TileStage::tally() const {
  std::vector<QStringList> rows{{data_.word("tally"), data_.word("read"), data_.word("written")}};
  const auto add = [&](const QString& name, std::int64_t read, std::int64_t written) {
    rows.push_back({name, held_text(read), held_text(written)});
  };
  const lesson::Tally& now = frame_.so_far;
  for (const Matrix& matrix : matrices_) {
    const Traffic& traffic = now.of(matrix.tensor);
    add(matrix_name(matrix.tensor), traffic.l2_to_sm_bytes, traffic.sm_to_l2_bytes);
  }
  const Traffic all = now.sm_l2();
  const Traffic closed = closed_.sm_l2();
  add(data_.word("sm_l2"), all.l2_to_sm_bytes, all.sm_to_l2_bytes);
  add(QStringLiteral("%1 (%2)").arg(data_.word("dram"), data_.word("simulated")), now.dram_read_bytes,
      now.dram_write_bytes);
  add(QStringLiteral("%1 (%2)").arg(data_.word("closed_form"), data_.word("modelled")), closed.l2_to_sm_bytes,
      closed.sm_to_l2_bytes);
  return rows;
}

void TileStage::paint_matrices(QPainter& painter) const {
  const PlotColors colors = plot_colors(palette());
  for (const Matrix& matrix : matrices_) {
    painter.setPen(colors.text);
    painter.drawText(matrix.rect.topLeft() - QPointF(0, 4), matrix_name(matrix.tensor));
    painter.setPen(colors.axis);
    painter.setBrush(colors.grid);
    painter.drawRect(matrix.rect);
    for (std::int64_t head = 1; head < matrix.heads; ++head) {
      const double y =
          matrix.rect.y() + matrix.rect.height() * static_cast<double>(head) / static_cast<double>(matrix.heads);
      painter.drawLine(QPointF(matrix.rect.left(), y), QPointF(matrix.rect.right(), y));
    }
  }
  painter.setPen(Qt::NoPen);
  for (const Lit& each : lit()) painter.fillRect(each.rect, each.color);
}

void TileStage::paint_pairs(QPainter& painter) const {
  if (pairs_.isNull()) return;
  const PlotColors colors = plot_colors(palette());
  painter.setPen(colors.text);
  painter.drawText(pairs_rect_.topLeft() - QPointF(0, 4), QStringLiteral("q × k"));
  painter.drawImage(pairs_rect_, pairs_);
  if (const auto& now = touched_[frame_.index]) {
    const double sx = pairs_rect_.width() / pairs_.width() / static_cast<double>(pair_cols_);
    const double sy = pairs_rect_.height() / pairs_.height() / static_cast<double>(pair_rows_);
    painter.fillRect(
        QRectF(pairs_rect_.x() + static_cast<double>(now->k) * sx,
               pairs_rect_.y() + static_cast<double>(now->head * pairs_of_head_ * pair_rows_ + now->q) * sy,
               std::max(2.0, static_cast<double>(now->k_rows) * sx),
               std::max(2.0, static_cast<double>(now->q_rows) * sy)),
        colors.accent);
  }
  painter.setPen(colors.axis);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(pairs_rect_);
}

double TileStage::paint_tally(QPainter& painter) const {
  const double top = details_.top();
  const double left = details_.left() + stage_margin;
  const PlotColors colors = plot_colors(palette());
  const double step = line() * 1.15;
  const auto rows = tally();
  const QFontMetricsF metrics(letters_);
  const QString met_mark = QStringLiteral("✓ ");
  double name_width = 0;
  double value_width = metrics.horizontalAdvance(QStringLiteral("1023 MiB"));
  for (const QStringList& row : rows) {
    name_width = std::max(name_width, metrics.horizontalAdvance(met_mark + row[0]));
    for (const QString& value : {row[1], row[2]}) value_width = std::max(value_width, metrics.horizontalAdvance(value));
  }
  value_width += 0.6 * line();
  const double right = std::min<double>(details_.right() - stage_margin, left + name_width + 2 * value_width);
  // Three of them side by side leave little room: smaller letters rather than half a word.
  const double share = std::min(1.0, (right - left) / (name_width + 2 * value_width));
  QFont letters = letters_;
  letters.setPointSizeF(letters.pointSizeF() * share);
  painter.setFont(letters);
  value_width *= share;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool closed = i + 1 == rows.size();
    const bool met = closed && meets_closed_form();
    painter.setPen(met                ? disposition_color(Disposition::ok, colors.dark)
                   : i == 0 || closed ? colors.muted
                                      : colors.text);
    const double y = top + static_cast<double>(i) * step;
    painter.drawText(QRectF(left, y, right - left - 2 * value_width, step), Qt::AlignLeft | Qt::AlignVCenter,
                     met ? met_mark + rows[i][0] : rows[i][0]);
    painter.drawText(QRectF(right - 2 * value_width, y, value_width, step), Qt::AlignRight | Qt::AlignVCenter,
                     rows[i][1]);
    painter.drawText(QRectF(right - value_width, y, value_width, step), Qt::AlignRight | Qt::AlignVCenter, rows[i][2]);
  }
  painter.setFont(letters_);
  return top + static_cast<double>(rows.size()) * step;
}

void TileStage::paint_chip(QPainter& painter, double top) const {
  const PlotColors colors = plot_colors(palette());
  const double step = line() * 1.25;
  const double left = details_.left() + stage_margin;
  const double wide = details_.width() - 2 * stage_margin;
  const auto& parts = player_->kernels()[frame_.launch].on_chip;
  painter.setPen(colors.muted);
  painter.drawText(QRectF(left, top, wide, step), Qt::AlignLeft | Qt::AlignVCenter, data_.word("on_chip"));
  const double name_width = 5 * line();
  for (std::size_t i = 0; i < parts.size() && i < frame_.on_chip.size(); ++i) {
    const double y = top + static_cast<double>(i + 1) * step;
    const lesson::LivePart& live = frame_.on_chip[i];
    const QRectF bar(left + name_width, y + 2, std::max(10.0, wide - name_width), step - 4);
    const double share =
        parts[i].bytes == 0 ? 0
                            : std::min(1.0, static_cast<double>(live.fill.bytes) / static_cast<double>(parts[i].bytes));
    painter.fillRect(bar, colors.grid);
    QColor color = part_color(std::string(parts[i].name), colors.dark);
    color.setAlphaF(0.55F);
    painter.fillRect(QRectF(bar.topLeft(), QSizeF(bar.width() * share, bar.height())), color);
    painter.setPen(colors.text);
    painter.drawText(QRectF(left, y, name_width, step), Qt::AlignLeft | Qt::AlignVCenter, to_qstring(parts[i].name));
    if (live.fill.bytes == 0) continue;
    QString held = held_text(live.fill.bytes);
    if (live.tile) {
      held += QStringLiteral("  %1 %2–%3")
                  .arg(matrix_name(live.tile->tensor))
                  .arg(live.tile->row)
                  .arg(live.tile->row + live.tile->rows - 1);
    }
    painter.drawText(bar.adjusted(6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, held);
  }
}

void TileStage::paint_line(QPainter& painter, double top, const QString& text, const QFont& letters) const {
  constexpr double least_share = 0.7;
  const double wide = width() - 2 * stage_margin;
  QFont smaller = letters;
  const double asked = QFontMetricsF(letters).horizontalAdvance(text);
  if (asked > wide) smaller.setPointSizeF(letters.pointSizeF() * std::max(least_share, 0.98 * wide / asked));
  painter.setFont(smaller);
  painter.drawText(QRectF(stage_margin, top, wide, line()), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(smaller).elidedText(text, Qt::ElideRight, wide));
  painter.setFont(letters_);
}

void TileStage::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const PlotColors colors = plot_colors(palette());
  painter.setPen(colors.text);
  QFont bold = letters_;
  bold.setBold(true);
  paint_line(painter, 2, title_, bold);
  painter.setPen(colors.muted);
  // What changes comes first: it is the last to be cut off.
  paint_line(painter, 2 + line(),
             QStringLiteral("%1/%2 · %3 %4 · %5")
                 .arg(frame_.step + 1)
                 .arg(frame_.steps)
                 .arg(data_.word("block"))
                 .arg(frame_.block)
                 .arg(to_qstring(player_->kernels()[frame_.launch].name)),
             letters_);
  paint_matrices(painter);
  paint_pairs(painter);
  paint_chip(painter, paint_tally(painter) + 0.3 * line());
}

}  // namespace attnscope::ui

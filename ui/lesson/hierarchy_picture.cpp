// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/hierarchy_picture.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/lesson/frame_text.h"
#include "ui/lesson/transport.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int packets_of_full_pipe = 24;
/// Heights of the table's rows in lines of its font: figures stand above their origin, which may take two lines.
constexpr double head_lines = 2.4;
constexpr double row_lines = 3.3;

QString lesson_text(const std::string& text) {
  return QString::fromStdString(text);
}

}  // namespace

FlowLanes::FlowLanes(const LessonData& about, const lesson::Hierarchy& hierarchy, const lesson::HierarchyFlow& flow,
                     QWidget* parent)
    : QWidget(parent), data_(about), hierarchy_(hierarchy), flow_(flow), load_(flow.first_load) {}

void FlowLanes::show_frame(std::size_t frame) {
  frame_ = std::min(frame, flow_.frames.size() - 1);
  update();
}

void FlowLanes::show_load(std::size_t load) {
  load_ = load;
  update();
}

double FlowLanes::line() const {
  return QFontMetricsF(font()).height();
}

QSize FlowLanes::sizeHint() const {
  return {700, static_cast<int>(lane_height() * static_cast<double>(flow_.lanes.size())) + 4};
}

QRectF FlowLanes::square(std::size_t lane) const {
  const double side = std::max(1.0, flow_.lanes[lane].square * (lane_height() - 8));
  const double middle = lane_height() * (static_cast<double>(lane) + 0.5);
  return {width() * 0.2, middle - side / 2, side, side};
}

QRectF FlowLanes::pipe(std::size_t lane) const {
  const double across = std::max(1.0, flow_.lanes[lane].pipe * (lane_height() - 8));
  const double middle = lane_height() * (static_cast<double>(lane) + 0.5);
  const double left = width() * 0.2 + lane_height();
  return {left, middle - across / 2, width() * 0.7 - left, across};
}

std::vector<QRectF> FlowLanes::under_way(std::size_t lane) const {
  const std::optional<double> trips = flow_.frames[frame_].trips[lane];
  if (!trips || load_ >= flow_.loads.size() || !flow_.loads[load_].rungs[lane]) return {};
  const QRectF whole = pipe(lane);
  const double share = flow_.loads[load_].rungs[lane]->share;
  if (share >= 1) return {whole};
  // At equal distances, together that share of the pipe; what leaves it at one end comes in at the other.
  const auto packets = std::max(1, static_cast<int>(std::ceil(share * packets_of_full_pipe)));
  const double length = share * whole.width() / packets;
  std::vector<QRectF> all;
  for (int i = 0; i < packets; ++i) {
    const double place = std::fmod(*trips + static_cast<double>(i) / packets, 1.0);
    const double begin = whole.left() + place * whole.width();
    const double beyond = std::max(0.0, begin + length - whole.right());
    all.emplace_back(begin, whole.top(), length - beyond, whole.height());
    if (beyond > 0) all.emplace_back(whole.left(), whole.top(), beyond, whole.height());
  }
  return all;
}

std::optional<QPointF> FlowLanes::waited_for(std::size_t lane) const {
  const std::optional<double> trips = flow_.frames[frame_].trips[lane];
  if (!trips || flow_.frame_ns <= 0) return std::nullopt;
  const QRectF whole = pipe(lane);
  return QPointF(whole.left() + std::fmod(*trips, 1.0) * whole.width(), whole.center().y());
}

QStringList FlowLanes::texts(std::size_t lane) const {
  const auto reached = load_ < flow_.loads.size() ? flow_.loads[load_].rungs[lane] : std::nullopt;
  const std::optional<double> trips = flow_.frames[frame_].trips[lane];
  QStringList lines{lesson_text(lesson::reached_text(data_.texts(), hierarchy_.rungs[lane], reached))};
  if (flow_.frame_ns > 0) {
    lines << (trips ? lesson_text(lesson::trips_text(data_.texts(), trips))
                    : QStringLiteral("%1: %2").arg(data_.word("latency"), data_.word("no_data")));
  }
  return lines;
}

void FlowLanes::paint_lane(QPainter& painter, std::size_t lane) const {
  const PlotColors colors = plot_colors(palette());
  const lesson::HierarchyRung& rung = hierarchy_.rungs[lane];
  const double top = lane_height() * static_cast<double>(lane);
  QString name = lesson_text(lesson::rung_title(data_.texts(), rung.rung));
  if (rung.bytes) name += QLatin1Char('\n') + lesson_text(lesson::figure_text(rung.bytes->value, lesson::Unit::bytes));
  painter.setPen(colors.text);
  painter.drawText(QRectF(4, top, width() * 0.2 - 8, lane_height()),
                   Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, name);
  if (rung.bytes) {
    painter.setPen(colors.accent);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(square(lane));
  }
  if (rung.bandwidth) painter.fillRect(pipe(lane), colors.grid);
  QColor moving = colors.accent;
  moving.setAlphaF(0.75F);
  for (const QRectF& packet : under_way(lane)) painter.fillRect(packet, moving);
  if (const auto load = waited_for(lane)) {
    painter.setPen(colors.background);
    painter.setBrush(colors.text);
    painter.drawEllipse(*load, line() * 0.3, line() * 0.3);
  }
  painter.setPen(colors.text);
  painter.drawText(QRectF(width() * 0.72, top, width() * 0.28 - 4, lane_height()),
                   Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, texts(lane).join(QLatin1Char('\n')));
}

void FlowLanes::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t lane = 0; lane < flow_.lanes.size(); ++lane) paint_lane(painter, lane);
}

HierarchyTable::HierarchyTable(const LessonData& about, const lesson::Hierarchy& hierarchy, QWidget* parent)
    : QWidget(parent), data_(about), hierarchy_(hierarchy) {}

QString HierarchyTable::cell(const std::optional<lesson::HierarchyFigure>& figure, lesson::Unit unit) const {
  if (!figure) return data_.word("no_data");
  return QStringLiteral("%1\n%2").arg(QString::fromStdString(lesson::figure_text(figure->value, unit)),
                                      data_.word(to_string(figure->source)));
}

std::vector<QStringList> HierarchyTable::cells() const {
  std::vector<QStringList> rows{{{},
                                 data_.word("size"),
                                 data_.word("bandwidth"),
                                 data_.word("latency"),
                                 data_.word("in_flight"),
                                 data_.word("flops_per_byte")}};
  for (const lesson::HierarchyRung& rung : hierarchy_.rungs) {
    rows.push_back({QString::fromStdString(lesson::rung_title(data_.texts(), rung.rung)),
                    cell(rung.bytes, lesson::Unit::bytes), cell(rung.bandwidth, lesson::Unit::bytes_per_second),
                    cell(rung.latency_ns, lesson::Unit::nanoseconds), cell(rung.in_flight_bytes, lesson::Unit::bytes),
                    cell(rung.flops_per_byte, lesson::Unit::plain)});
  }
  return rows;
}

QSize HierarchyTable::sizeHint() const {
  return {700, static_cast<int>(QFontMetricsF(font()).height() *
                                (head_lines + row_lines * static_cast<double>(hierarchy_.rungs.size())))};
}

void HierarchyTable::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const PlotColors colors = plot_colors(palette());
  const auto rows = cells();
  const double line = QFontMetricsF(font()).height();
  const double first = width() * 0.24;
  const double step = (width() - first) / 5;
  double most = 0;
  for (const lesson::HierarchyRung& rung : hierarchy_.rungs) {
    most = std::max(most, rung.bandwidth ? rung.bandwidth->value : 0);
  }
  double y = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double high = (i == 0 ? head_lines : row_lines) * line;
    const auto& bandwidth = i == 0 ? std::nullopt : hierarchy_.rungs[i - 1].bandwidth;
    if (bandwidth && most > 0) {
      QColor fill = colors.accent;
      fill.setAlphaF(0.35F);
      painter.fillRect(QRectF(first + step, y + 3, std::max(1.0, (step - 12) * bandwidth->value / most), high - 6),
                       fill);
    }
    for (qsizetype j = 0; j < rows[i].size(); ++j) {
      const double x = j == 0 ? 0 : first + static_cast<double>(j - 1) * step;
      painter.setPen(i == 0 || rows[i][j] == data_.word("no_data") ? colors.muted : colors.text);
      painter.drawText(QRectF(x + 4, y, (j == 0 ? first : step) - 8, high),
                       Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, rows[i][j]);
    }
    y += high;
    painter.setPen(colors.grid);
    painter.drawLine(QPointF(0, y), QPointF(width(), y));
  }
}

HierarchyPicture::HierarchyPicture(const PictureOf& of, QWidget* parent)
    : LessonPicture(parent),
      hierarchy_(lesson::hierarchy_of(of.data.evidence().gpu, of.data.evidence().ceilings)),
      flow_(lesson::hierarchy_flow(hierarchy_, of.data.evidence().gpu.sm_count)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  lanes_ = new FlowLanes(of.data, hierarchy_, flow_, this);
  add_controls(of.data);
  column->addWidget(lanes_);
  auto* caption = new QLabel(of.data.word("flow_scale"), this);
  caption->setTextFormat(Qt::PlainText);
  caption->setWordWrap(true);
  column->addWidget(caption);
  table_ = new HierarchyTable(of.data, hierarchy_, this);
  column->addWidget(table_);
}

void HierarchyPicture::add_controls(const LessonData& about) {
  auto* column = static_cast<QVBoxLayout*>(layout());
  clock_ = new FrameText(this);
  clock_->setObjectName(QStringLiteral("clock"));
  const auto clock = [this, &about](std::size_t frame) {
    return lesson_text(lesson::clock_text(about.texts(), flow_, flow_.frames[frame])).toHtmlEscaped();
  };
  clock_->make_room({clock(flow_.frames.size() - 1)});
  clock_->set_text(clock(0));
  if (flow_.frame_ns <= 0) return column->addWidget(clock_);

  transport_ = new Transport(about, this);
  transport_->set_frames(static_cast<int>(flow_.frames.size()));
  column->addWidget(transport_);
  column->addWidget(clock_);
  connect(transport_, &Transport::shown, this, [this, clock](int frame) {
    clock_->set_text(clock(static_cast<std::size_t>(frame)));
    lanes_->show_frame(static_cast<std::size_t>(frame));
  });
  const auto load = [this, &about](int place) {
    return lesson_text(lesson::load_text(about.texts(), flow_.loads[static_cast<std::size_t>(place)])).toHtmlEscaped();
  };
  load_ = new FrameText(this);
  load_->setObjectName(QStringLiteral("load"));
  load_->make_room({load(static_cast<int>(flow_.loads.size()) - 1)});
  loads_ = new QSlider(Qt::Horizontal, this);
  loads_->setObjectName(QStringLiteral("loads"));
  loads_->setAccessibleName(about.word("under_way"));
  loads_->setRange(0, static_cast<int>(flow_.loads.size()) - 1);
  loads_->setPageStep(1);
  connect(loads_, &QSlider::valueChanged, this, [this, load](int place) {
    load_->set_text(load(place));
    lanes_->show_load(static_cast<std::size_t>(place));
  });
  auto* row = new QHBoxLayout;
  row->addWidget(load_, 1);
  row->addWidget(loads_, 1);
  column->addLayout(row);
  loads_->setValue(static_cast<int>(flow_.first_load));
  load_->set_text(load(loads_->value()));
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/theory_picture.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/analysis/lesson/spoken.h"
#include "ui/lesson/frame_text.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int lowest_power = -3;
constexpr int highest_power = 4;
constexpr std::array<std::string_view, lesson::doubled_kinds> doubled_symbols{"N", "d", "M", "Br", "Bc"};

/// Beside the axis, for the labels of its ends.
double end_room(const QWidget& of) {
  return std::max(28.0, 1.6 * QFontMetricsF(of.font()).height());
}

QString factor_text(double factor) {
  return QStringLiteral("%1×").arg(factor, 0, 'f', 2);
}

}  // namespace

FactorLine::FactorLine(const LessonData& about, LessonAnswers& answers, const QString& id,
                       const lesson::Prediction& prediction, QWidget* parent)
    : QWidget(parent), data_(about), answers_(answers), id_(id), prediction_(prediction) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(about.word("predict"));
  connect(&answers_, &LessonAnswers::changed, this, [this](const QString& changed) {
    if (changed.isEmpty() || changed == id_) update();
  });
}

double FactorLine::place_of(double factor) const {
  const double share = (std::log2(factor) - lowest_power) / (highest_power - lowest_power);
  return end_room(*this) + std::clamp(share, 0.0, 1.0) * (width() - 2 * end_room(*this));
}

double FactorLine::factor_at(double x) const {
  const double share = std::clamp((x - end_room(*this)) / std::max(1.0, width() - 2 * end_room(*this)), 0.0, 1.0);
  return std::exp2(lowest_power + share * (highest_power - lowest_power));
}

double FactorLine::factor() const {
  const double kept = answers_.answer(id_).value.toDouble();
  return kept > 0 ? kept : 1;
}

QSize FactorLine::sizeHint() const {
  return {420, static_cast<int>(QFontMetricsF(font()).height() * 2.8)};
}

void FactorLine::choose(double factor) {
  answers_.choose(id_, QString::number(std::clamp(factor, std::exp2(lowest_power), std::exp2(highest_power)), 'f', 4));
}

void FactorLine::drag(QMouseEvent* event) {
  if (event->buttons().testFlag(Qt::LeftButton)) choose(factor_at(event->position().x()));
}

void FactorLine::keyPressEvent(QKeyEvent* event) {
  const double step = std::exp2(0.125);
  if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Up) return choose(factor() * step);
  if (event->key() == Qt::Key_Minus || event->key() == Qt::Key_Down) return choose(factor() / step);
  QWidget::keyPressEvent(event);
}

void FactorLine::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const PlotColors colors = plot_colors(palette());
  const double line = QFontMetricsF(font()).height();
  const double y = line * 0.9;
  painter.setPen(colors.axis);
  painter.drawLine(QPointF(end_room(*this), y), QPointF(width() - end_room(*this), y));
  for (int power = lowest_power; power <= highest_power; ++power) {
    const double x = place_of(std::exp2(power));
    painter.setPen(colors.axis);
    painter.drawLine(QPointF(x, y - 4), QPointF(x, y + 4));
    painter.setPen(colors.muted);
    const QString label = power < 0 ? QStringLiteral("1/%1").arg(1 << -power) : QStringLiteral("%1×").arg(1 << power);
    painter.drawText(QRectF(x - end_room(*this), y + line * 0.5, 2 * end_room(*this), line), Qt::AlignCenter, label);
  }
  const Answer given = answers_.answer(id_);
  if (given.revealed) {
    painter.setPen(Qt::NoPen);
    painter.fillRect(QRectF(place_of(prediction_.model) - 3, y - line * 0.7, 6, line * 1.4),
                     category_color(0, colors.dark));
    painter.fillRect(QRectF(place_of(prediction_.found) - 1.5, y - line * 0.9, 3, line * 1.8),
                     category_color(1, colors.dark));
  }
  painter.setPen(QPen(colors.text, 1.5));
  QColor fill = colors.accent;
  if (given.value.isEmpty()) fill = colors.background;
  painter.setBrush(fill);
  painter.drawEllipse(QPointF(place_of(factor()), y), line * 0.35, line * 0.35);
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(colors.accent);
    painter.drawRect(QRectF(0.5, 0.5, width() - 1.0, height() - 1.0));
  }
}

TheoryPicture::TheoryPicture(const PictureOf& of, QWidget* parent) : LessonPicture(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  const auto all = lesson::predictions(of.data.evidence());
  if (all.empty()) column->addWidget(new QLabel(of.data.word("no_data"), this));
  for (const lesson::Prediction& each : all) add(of, each);
}

void TheoryPicture::add(const PictureOf& of, const lesson::Prediction& prediction) {
  const LessonData& about = of.data;
  LessonAnswers& answers = of.answers;
  const QString symbol = to_qstring(doubled_symbols.at(static_cast<std::size_t>(prediction.doubled)));
  const QString id = QStringLiteral("theory-%1-%2").arg(symbol, QString::fromStdString(prediction.algorithm));
  auto* box = new QWidget(this);
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 4, 0, 4);
  auto* head = new QLabel(box);
  head->setTextFormat(Qt::RichText);
  head->setWordWrap(true);
  head->setText(QStringLiteral("<b>%1: 2 × %2</b> <small>(%3)</small>")
                    .arg(QString::fromStdString(lesson::prediction_title(about.texts(), about.evidence(), prediction))
                             .toHtmlEscaped(),
                         symbol,
                         QString::fromStdString(
                             lesson::in_terms(about.texts(), describe(about.evidence().points.spec(prediction.from))))
                             .toHtmlEscaped()));
  column->addWidget(head);
  auto* line = new FactorLine(about, answers, id, prediction, box);
  lines_.push_back(line);
  auto* row = new QHBoxLayout;
  row->addWidget(line, 1);
  auto* lock = new QPushButton(about.word("lock"), box);
  auto* reveal = new QPushButton(about.word("reveal"), box);
  auto* note = new FrameText(box);
  note->setObjectName(QStringLiteral("theory-note"));
  note->make_room({QStringLiteral("M")});
  row->addWidget(lock);
  row->addWidget(reveal);
  column->addLayout(row);
  column->addWidget(note);
  layout()->addWidget(box);
  connect(lock, &QPushButton::clicked, this, [&answers, id] { answers.lock(id); });
  connect(reveal, &QPushButton::clicked, this, [&answers, id] { answers.reveal(id); });
  QString found = QStringLiteral("%1: %2 · %3: %4")
                      .arg(about.word("modelled"), factor_text(prediction.model), about.word(prediction.origin),
                           factor_text(prediction.found));
  if (!prediction.within_theorem) found += QStringLiteral(" · %1").arg(about.word("outside_theorem"));
  const auto refresh = [&answers, &about, id, lock, reveal, note, line, found](const QString& changed) {
    if (!changed.isEmpty() && changed != id) return;
    const Answer given = answers.answer(id);
    lock->setEnabled(!given.value.isEmpty() && !given.locked);
    reveal->setEnabled(given.locked && !given.revealed);
    const QString own = given.value.isEmpty() ? QString() : factor_text(line->factor());
    note->set_text(given.revealed ? QStringLiteral("%1 · %2").arg(own, found)
                   : given.locked ? QStringLiteral("%1 · %2").arg(own, about.word("locked"))
                                  : own);
  };
  connect(&answers, &LessonAnswers::changed, box, refresh);
  refresh({});
}

}  // namespace attnscope::ui

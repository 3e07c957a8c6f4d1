// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/softmax_picture.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ui/lesson/frame_text.h"
#include "ui/lesson/transport.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr qsizetype most_scores = 64;
constexpr double exact_enough = 1e-9;
/// Words of the faults, in their order; the first is that nothing is wrong.
constexpr std::array<std::string_view, lesson::softmax_faults> fault_words{"", "forget", "mask-after-maximum",
                                                                           "mask-after-sum", "half"};

QString number_text(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
  return QString::number(value, 'g', 6);
}

QString numbers_text(const std::vector<double>& values) {
  QStringList texts;
  for (const double value : values) texts << number_text(value);
  return texts.join(QStringLiteral(", "));
}

QString state_row(const QString& name, const lesson::OnlineState& state) {
  return QStringLiteral(
             "<tr><td>%1&nbsp;&nbsp;</td><td align='right'>%2&nbsp;&nbsp;&nbsp;</td><td align='right'>%3"
             "&nbsp;&nbsp;&nbsp;</td><td>%4</td></tr>")
      .arg(name, number_text(state.m), number_text(state.l), numbers_text(state.o));
}

}  // namespace

std::vector<double> parse_scores(const QString& text) {
  static const QRegularExpression between(QStringLiteral("[\\s,;，；]+"));
  const QStringList words = text.split(between, Qt::SkipEmptyParts);
  if (words.size() > most_scores) return {};
  std::vector<double> numbers;
  for (const QString& word : words) {
    bool ok = false;
    numbers.push_back(word.toDouble(&ok));
    if (!ok || !std::isfinite(numbers.back())) return {};
  }
  return numbers;
}

void ScoreStrip::show_step(const lesson::SoftmaxRows& rows, const lesson::OnlineStep& step) {
  scores_.clear();
  hidden_.clear();
  for (std::size_t column = 0; column < rows.columns; ++column) {
    scores_.push_back(number_text(rows.score(step.row, column)));
    hidden_.push_back(rows.hides(step.row, column));
  }
  first_ = step.first;
  last_ = step.last;
  update();
}

QSize ScoreStrip::sizeHint() const {
  return {400, static_cast<int>(2.2 * QFontMetricsF(font()).height())};
}

void ScoreStrip::paintEvent(QPaintEvent* /*event*/) {
  if (scores_.empty()) return;
  QPainter painter(this);
  const PlotColors colors = plot_colors(palette());
  const double most = QFontMetricsF(font()).height() * 5;
  const double step = std::min(most, (width() - 2.0) / static_cast<double>(scores_.size()));
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    const QRectF box(1 + static_cast<double>(i) * step, 2, step - 3, height() - 5.0);
    const bool now = i >= first_ && i < last_;
    QColor fill = now ? colors.accent : i < first_ ? colors.grid : colors.background;
    if (now) fill.setAlphaF(0.45F);
    painter.setPen(now ? colors.accent : colors.axis);
    painter.setBrush(fill);
    painter.drawRect(box);
    if (hidden_[i]) painter.fillRect(box, QBrush(colors.hatch, Qt::BDiagPattern));
    painter.setPen(i < last_ ? colors.text : colors.muted);
    painter.drawText(box, Qt::AlignCenter, scores_[i]);
  }
}

SoftmaxPicture::SoftmaxPicture(const PictureOf& of, QWidget* parent)
    : LessonPicture(parent), data_(of.data), examples_(lesson::softmax_examples()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  auto* row = new QWidget(this);
  column->addWidget(row);
  transport_ = new Transport(data_, this);
  column->addWidget(transport_);
  strip_ = new ScoreStrip(this);
  strip_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  column->addWidget(strip_);
  for (FrameText** text : {&state_, &result_}) {
    *text = new FrameText(this);
    column->addWidget(*text);
  }
  result_->setObjectName(QStringLiteral("result"));
  add_choices(row);
  connect(transport_, &Transport::shown, this, &SoftmaxPicture::show_step);
  choose_example();
}

void SoftmaxPicture::add_choices(QWidget* row) {
  auto* line = new QHBoxLayout(row);
  line->setContentsMargins(0, 0, 0, 0);
  const auto add_box = [&] {
    auto* box = new QComboBox(row);
    box->setFocusPolicy(Qt::ClickFocus);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    line->addWidget(box, 1);
    return box;
  };
  pick_ = add_box();
  for (const lesson::SoftmaxExample& example : examples_) pick_->addItem(to_qstring(example.name));
  block_ = add_box();
  way_ = add_box();
  way_->addItem(data_.word("outer"));
  way_->addItem(data_.word("inner"));
  fault_ = add_box();
  fault_->setObjectName(QStringLiteral("fault"));
  way_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  for (const std::string_view word : fault_words) {
    fault_->addItem(data_.word(word.empty() ? "no_fault" : word));
  }
  own_ = new QLineEdit(row);
  own_->setObjectName(QStringLiteral("own"));
  own_->setPlaceholderText(data_.word("own_scores"));
  own_->setClearButtonEnabled(true);
  own_->setMinimumWidth(qRound(QFontMetricsF(own_->font()).horizontalAdvance(own_->placeholderText()) * 1.15) + 40);
  line->addWidget(own_, 2);
  own_wrong_ = new QLabel(this);
  own_wrong_->setWordWrap(true);
  own_wrong_->hide();
  static_cast<QVBoxLayout*>(layout())->insertWidget(1, own_wrong_);
  connect(pick_, &QComboBox::currentIndexChanged, this, &SoftmaxPicture::choose_example);
  for (QComboBox* box : {block_, way_, fault_}) {
    connect(box, &QComboBox::currentIndexChanged, this, &SoftmaxPicture::play_again);
  }
  connect(own_, &QLineEdit::editingFinished, this, [this] { play_own(own_->text()); });
}

void SoftmaxPicture::choose_example() {
  const auto chosen = static_cast<std::size_t>(pick_->currentIndex());
  if (chosen >= examples_.size()) return play_own(own_->text());
  const lesson::SoftmaxExample& example = examples_[chosen];
  rows_ = example.rows;
  const QSignalBlocker quiet(block_);
  block_->clear();
  for (const std::size_t block : example.blocks) {
    block_->addItem(QStringLiteral("%1 %2").arg(data_.word("block_size")).arg(block), static_cast<int>(block));
  }
  play_again();
}

void SoftmaxPicture::play_own(const QString& scores) {
  own_wrong_->hide();
  if (scores.trimmed().isEmpty()) {
    const QSignalBlocker quiet(pick_);
    if (pick_->currentIndex() >= static_cast<int>(examples_.size())) pick_->setCurrentIndex(0);
    return choose_example();
  }
  const std::vector<double> numbers = parse_scores(scores);
  if (numbers.empty()) {
    own_wrong_->setText(data_.word("no_numbers"));
    return own_wrong_->show();
  }
  // The list says what is played.
  const auto own = static_cast<int>(examples_.size());
  const QSignalBlocker quiet_pick(pick_);
  if (pick_->count() == own) pick_->addItem(data_.word("own"));
  pick_->setCurrentIndex(own);
  std::vector<double> values(numbers.size());
  std::iota(values.begin(), values.end(), 1.0);
  rows_ = {.rows = 1, .columns = numbers.size(), .d = 1, .scores = numbers, .values = values};
  const QSignalBlocker quiet(block_);
  block_->clear();
  for (int block = 1; block <= static_cast<int>(numbers.size()); block *= 2) {
    block_->addItem(QStringLiteral("%1 %2").arg(data_.word("block_size")).arg(block), block);
  }
  play_again();
}

void SoftmaxPicture::play_again() {
  const auto rescaling = way_->currentIndex() == 1 ? lesson::Rescaling::inner : lesson::Rescaling::outer;
  const auto fault = static_cast<lesson::SoftmaxFault>(std::max(0, fault_->currentIndex()));
  const auto block = static_cast<std::size_t>(std::max(1, block_->currentData().toInt()));
  trace_ = lesson::play_online(rows_, block, rescaling, fault);
  QStringList states;
  states.reserve(static_cast<qsizetype>(trace_.steps.size()));
  for (const lesson::OnlineStep& step : trace_.steps) states << state_html(step);
  state_->make_room(states);
  result_->make_room({result_html()});
  transport_->set_frames(static_cast<int>(trace_.steps.size()));
}

QString SoftmaxPicture::state_html(const lesson::OnlineStep& step) const {
  const QString heading = QStringLiteral(
      "<tr><td></td><td align='right'><i>m</i>&nbsp;&nbsp;&nbsp;</td><td "
      "align='right'><i>ℓ</i>&nbsp;&nbsp;&nbsp;</td><td><i>o</i></td></tr>");
  QString html =
      QStringLiteral("<table>%1%2%3</table>")
          .arg(heading, state_row(data_.word("before"), step.before), state_row(data_.word("after"), step.after));
  html += QStringLiteral("<p>%1 %2 · <i>α</i> = %3%4 · <i>e</i><sup><i>s</i>−<i>m</i></sup> = %5</p>")
              .arg(data_.word("row"))
              .arg(step.row)
              .arg(number_text(step.alpha),
                   step.rescaled ? QStringLiteral(" <b>(%1)</b>").arg(data_.word("rescaled")) : QString(),
                   numbers_text(step.weights));
  return html + QStringLiteral("<p>%1: %2</p>").arg(data_.word("values_of_block"), values_text(step));
}

QString SoftmaxPicture::values_text(const lesson::OnlineStep& step) const {
  QStringList rows;
  for (std::size_t column = step.first; column < step.last; ++column) {
    const auto first = rows_.values.begin() + static_cast<std::ptrdiff_t>(column * rows_.d);
    rows << QStringLiteral("(%1)").arg(numbers_text({first, first + static_cast<std::ptrdiff_t>(rows_.d)}));
  }
  return rows.join(QStringLiteral(" "));
}

bool SoftmaxPicture::fault_sleeps() const {
  const bool of_masks =
      trace_.fault == lesson::SoftmaxFault::mask_after_maximum || trace_.fault == lesson::SoftmaxFault::mask_after_sum;
  return of_masks && std::ranges::count(rows_.hidden, true) == 0;
}

QString SoftmaxPicture::result_html() const {
  const bool right = trace_.largest_error < exact_enough;
  const PlotColors colors = plot_colors(palette());
  const QColor color = disposition_color(right ? Disposition::ok : Disposition::incorrect, colors.dark);
  const lesson::RescaleCount& count = trace_.count;
  const QString error = QStringLiteral("%1: %2").arg(data_.word("error"), number_text(trace_.largest_error));
  return QStringLiteral("<p style='color:%1'><b>%2: %3</b> · %4: %5 · %6</p><p>%7: %8 · %9: %10 · %11: %12</p>%13")
      .arg(color.name(), data_.word("output"), numbers_text(trace_.output), data_.word("exact"),
           numbers_text(trace_.exact), error, data_.word("rescaled"))
      .arg(count.rows_rescaled)
      .arg(data_.word("divisions"))
      .arg(count.divisions)
      .arg(data_.word("through_memory"))
      .arg(count.rows_through_memory)
      .arg(fault_sleeps() ? data_.word("nothing_hidden") : merge_html());
}

QString SoftmaxPicture::merge_html() const {
  // Two halves of the first row as two tiles, two splits or two GPUs would have them.
  if (trace_.fault != lesson::SoftmaxFault::none || rows_.columns < 2) return {};
  const std::size_t half = rows_.columns / 2;
  const auto part = [&](std::size_t from, std::size_t to) {
    lesson::SoftmaxRows some{.rows = 1, .columns = to - from, .d = rows_.d};
    const auto at = [](std::size_t place) { return static_cast<std::ptrdiff_t>(place); };
    some.scores.assign(rows_.scores.begin() + at(from), rows_.scores.begin() + at(to));
    some.values.assign(rows_.values.begin() + at(from * rows_.d), rows_.values.begin() + at(to * rows_.d));
    for (std::size_t column = from; column < to; ++column) some.hidden.push_back(rows_.hides(0, column));
    return lesson::play_online(some, to - from, lesson::Rescaling::outer).ends.front();
  };
  const lesson::OnlineState left = part(0, half);
  const lesson::OnlineState right = part(half, rows_.columns);
  return QStringLiteral("<p>%1</p><table>%2%3%4</table>")
      .arg(data_.word("merge_halves"), state_row(QStringLiteral("A"), left), state_row(QStringLiteral("B"), right),
           state_row(QStringLiteral("A + B"), lesson::merge(left, right)));
}

void SoftmaxPicture::show_step(int step) {
  if (trace_.steps.empty()) return;
  const lesson::OnlineStep& now = trace_.steps[static_cast<std::size_t>(step)];
  strip_->show_step(rows_, now);
  state_->set_text(state_html(now));
  const bool last = step + 1 == transport_->frames();
  result_->set_text(last ? result_html() : QString());
}

}  // namespace attnscope::ui

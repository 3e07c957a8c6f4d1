// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/program_picture.h"

#include <QFontDatabase>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <cmath>
#include <set>

#include "profiler/analysis/lesson/stage.h"
#include "ui/lesson/frame_text.h"
#include "ui/lesson/transport.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t program_block = 2;
constexpr double program_right = 1e-9;

}  // namespace

ProgramPicture::ProgramPicture(const PictureOf& of, QWidget* parent) : LessonPicture(parent), data_(of.data) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  auto* listing = new QGridLayout;
  listing->setColumnStretch(3, 1);
  column->addLayout(listing);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPointSizeF(font().pointSizeF());
  for (std::size_t i = 0; i < lesson::faulty_program().size(); ++i) {
    auto* line = new QLabel(this);
    line->setTextFormat(Qt::PlainText);
    line->setFont(fixed);
    lines_.push_back(line);
    auto* mark = new QLabel(QStringLiteral("▶"), this);
    // A mark of one size: as it comes and goes, nothing is laid out again.
    mark->setFixedSize(mark->sizeHint());
    marks_.push_back(mark);
    auto* button = new QPushButton(data_.word("rewrite_line"), this);
    button->setFocusPolicy(Qt::NoFocus);
    listing->addWidget(line, static_cast<int>(i), 1);
    listing->addWidget(mark, static_cast<int>(i), 0);
    listing->addWidget(button, static_cast<int>(i), 2);
    connect(button, &QPushButton::clicked, this, [this, i] { rewrite(i); });
  }
  transport_ = new Transport(data_, this);
  column->addWidget(transport_);
  value_ = new FrameText(this);
  result_ = new QLabel(this);
  result_->setTextFormat(Qt::PlainText);
  result_->setObjectName(QStringLiteral("program-result"));
  value_->make_room({QStringLiteral("M<br>")});
  column->addWidget(value_);
  column->addWidget(result_);
  connect(transport_, &Transport::shown, this, &ProgramPicture::show_moment);
  run_again();
}

void ProgramPicture::rewrite(std::size_t line) {
  rewritten_ = rewritten_ == line ? std::nullopt : std::optional(line);
  run_again();
}

void ProgramPicture::run_again() {
  std::set<std::string_view> otherwise;
  if (rewritten_) otherwise.insert(lesson::faulty_program()[*rewritten_].id);
  run_ = lesson::run_program(lesson::softmax_examples().front().rows, program_block, otherwise);
  const bool right = run_.largest_error < program_right;
  result_->setText(
      QStringLiteral("%1 %2: %3")
          .arg(data_.word(right ? "mended" : "still_wrong"), data_.word("largest_error"),
               std::isfinite(run_.largest_error) ? QString::number(run_.largest_error, 'g', 4) : QStringLiteral("∞")));
  QPalette colors = palette();
  colors.setColor(QPalette::WindowText,
                  disposition_color(right ? Disposition::ok : Disposition::incorrect, plot_colors(palette()).dark));
  result_->setPalette(colors);
  transport_->set_frames(static_cast<int>(run_.moments.size()));
}

QString ProgramPicture::result() const {
  return result_->text();
}

void ProgramPicture::show_moment(int moment) {
  if (run_.moments.empty()) return;
  const lesson::ProgramMoment& now = run_.moments[static_cast<std::size_t>(moment)];
  const auto program = lesson::faulty_program();
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::string_view code = rewritten_ == i ? program[i].other : program[i].code;
    const QString text = to_qstring(code) + (rewritten_ == i ? QStringLiteral("   *") : QString());
    if (lines_[i]->text() != text) lines_[i]->setText(text);
    const QString mark = i == now.line ? QStringLiteral("▶") : QString();
    if (marks_[i]->text() != mark) marks_[i]->setText(mark);
  }
  QStringList values;
  for (const double value : now.value) values << QString::number(value, 'g', 6);
  value_->set_text(QStringLiteral("%1 %2 · %3 %4 · %5 = %6")
                       .arg(data_.word("row"))
                       .arg(now.row)
                       .arg(data_.word("block_size"))
                       .arg(now.block)
                       .arg(to_qstring(program[now.line].result).toHtmlEscaped(), values.join(QStringLiteral(", "))));
}

}  // namespace attnscope::ui

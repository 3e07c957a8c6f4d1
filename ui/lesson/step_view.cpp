// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/step_view.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <string>

#include "kernels/registry.h"
#include "ui/lesson/transport.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

constexpr double widest_prose = 68;  ///< lines' heights

QString found_right(const QString& title, int right, const QString& of, std::size_t all) {
  return QStringLiteral("<p><b>%1: %2 %3 %4</b></p>")
      .arg(title.toHtmlEscaped())
      .arg(right)
      .arg(of.toHtmlEscaped())
      .arg(all);
}

}  // namespace

LessonPage::LessonPage(QWidget* parent) : QScrollArea(parent) {
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  auto* outside = new QWidget(this);
  auto* middle = new QHBoxLayout(outside);
  content_ = new QWidget(outside);
  middle->addStretch(1);
  middle->addWidget(content_, 100);
  middle->addStretch(1);
  column_ = new QVBoxLayout(content_);
  column_->setSpacing(10);
  setWidget(outside);
}

void LessonPage::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  content_->setMaximumWidth(static_cast<int>(widest_prose * QFontMetricsF(font()).height()));
  for (LessonPicture* picture : pictures_) picture->set_room(viewport()->size());
}

void LessonPage::add_picture(LessonPicture* picture) {
  pictures_.push_back(picture);
  column_->addWidget(picture);
}

PageState LessonPage::state() const {
  PageState state;
  for (const QComboBox* box : content_->findChildren<QComboBox*>()) state.boxes << box->currentIndex();
  for (const QLineEdit* field : content_->findChildren<QLineEdit*>()) state.fields << field->text();
  for (const Transport* each : content_->findChildren<Transport*>()) {
    if (each->playing()) state.playing = static_cast<int>(state.frames.size());
    state.frames << each->frame();
  }
  return state;
}

void LessonPage::restore(const PageState& state) {
  // What is written decides what the boxes have, and both how many frames there are.
  const auto fields = content_->findChildren<QLineEdit*>();
  for (qsizetype i = 0; i < std::min(fields.size(), state.fields.size()); ++i) {
    if (fields[i]->text() == state.fields[i]) continue;
    fields[i]->setText(state.fields[i]);
    emit fields[i]->editingFinished();
  }
  const auto boxes = content_->findChildren<QComboBox*>();
  for (qsizetype i = 0; i < std::min(boxes.size(), state.boxes.size()); ++i) {
    if (state.boxes[i] < boxes[i]->count()) boxes[i]->setCurrentIndex(state.boxes[i]);
  }
  const auto transports = content_->findChildren<Transport*>();
  for (qsizetype i = 0; i < std::min(transports.size(), state.frames.size()); ++i) {
    if (state.frames[i] > 0) transports[i]->show_frame(state.frames[i]);
    if (state.playing == i) transports[i]->toggle();
  }
}

void LessonPage::bring(const Transport* transport) {
  for (const LessonPicture* picture : pictures_) {
    if (picture->transport() != transport) continue;
    const int top = picture->mapTo(widget(), QPoint(0, 0)).y();
    const int bottom = top + picture->height();
    const int seen = verticalScrollBar()->value();
    const int high = viewport()->height();
    const bool whole = top >= seen && bottom <= seen + high;
    // Of one that is taller, with its notes, its beginning; who has scrolled into it stays there.
    if (!whole && (picture->height() <= high || top > seen)) verticalScrollBar()->setValue(top);
  }
}

Transport* LessonPage::transport() const {
  Transport* first = nullptr;
  for (const LessonPicture* picture : pictures_) {
    if (picture->transport() == nullptr) continue;
    if (!picture->visibleRegion().isEmpty()) return picture->transport();
    if (first == nullptr) first = picture->transport();
  }
  return first;
}

StepView::StepView(const LessonData& about, LessonAnswers& answers, const lesson::Step& step, QWidget* parent)
    : LessonPage(parent), setting_(lesson::setting_of(step.document.front)) {
  for (const lesson::Block& block : step.document.blocks) {
    if (block.kind == lesson::Block::Kind::picture) {
      if (LessonPicture* picture = make_lesson_picture(block.text, {about, step, setting_, answers}, content())) {
        add_picture(picture);
      }
    } else if (block.kind == lesson::Block::Kind::question) {
      if (lesson::asks_what_is_there(block.question, setting_, about.evidence())) {
        column().addWidget(new QuestionCard(about, answers, setting_, block.question, content()));
      } else {
        auto* left_out = new QLabel(about.word("left_out"), content());
        left_out->setWordWrap(true);
        mute(*left_out);
        column().addWidget(left_out);
      }
    } else if (QWidget* text = text_block(about, setting_, block, content())) {
      column().addWidget(text);
    }
  }
  add_explore(about, step);
  column().addStretch(1);
}

void StepView::add_explore(const LessonData& about, const lesson::Step& step) {
  const lesson::Evidence& evidence = about.evidence();
  const Algorithm* algorithm = evidence.registry.find(step.document.front.text("explore"));
  if (algorithm == nullptr) return;
  PointSpec spec{.algorithm = std::string(algorithm->name()), .problem = setting_.one_head()};
  spec.problem.heads_q = spec.problem.heads_kv = setting_.heads;
  if (!invalid_reason(spec.problem).empty()) return;
  spec.set_config(algorithm->default_config(spec.problem, evidence.gpu));
  auto* button = new QPushButton(about.word("explorer"), content());
  button->setObjectName(QStringLiteral("explore"));
  column().addWidget(button, 0, Qt::AlignLeft);
  connect(button, &QPushButton::clicked, this,
          [this, spec, gpu = to_qstring(evidence.gpu.name)] { emit explore_wanted(spec, gpu); });
}

ClaimsView::ClaimsView(const LessonData& about, LessonAnswers& answers, QWidget* parent) : LessonPage(parent) {
  auto* title = new QLabel(about.word("claims"), content());
  title->setFont(scaled_font(*this, 1.65));
  column().addWidget(title);
  for (const lesson::ClaimCard& card : about.texts().claims) {
    column().addWidget(new ClaimView(about, answers, card, content()));
  }
  column().addStretch(1);
}

ResultsView::ResultsView(const LessonData& about, LessonAnswers& answers, QWidget* parent)
    : LessonPage(parent), data_(about), answers_(answers) {
  auto* title = new QLabel(about.word("results"), content());
  title->setFont(scaled_font(*this, 1.65));
  column().addWidget(title);
  table_ = new QLabel(content());
  table_->setTextFormat(Qt::RichText);
  table_->setWordWrap(true);
  column().addWidget(table_);
  auto* again = new QPushButton(about.word("start_again"), content());
  again->setObjectName(QStringLiteral("forget"));
  column().addWidget(again, 0, Qt::AlignLeft);
  column().addStretch(1);
  find_asked();
  connect(again, &QPushButton::clicked, this, [this] { answers_.forget(); });
  connect(&answers_, &LessonAnswers::changed, this, &ResultsView::refresh);
  refresh();
}

void ResultsView::find_asked() {
  for (const lesson::Step& step : data_.texts().steps) {
    const lesson::Setting setting = lesson::setting_of(step.document.front);
    for (const lesson::Block& block : step.document.blocks) {
      if (block.kind != lesson::Block::Kind::question) continue;
      if (!lesson::asks_what_is_there(block.question, setting, data_.evidence())) continue;
      const auto& choices = block.question.choices;
      const auto right = std::ranges::find_if(choices, &lesson::Choice::right) - choices.begin();
      asked_.push_back({to_qstring(block.question.id), line_rich(data_, setting, block.question.prompt, *this),
                        QString::number(right)});
    }
  }
  for (const lesson::ClaimCard& card : data_.texts().claims) {
    const lesson::Outcome outcome = lesson::judge(card.document.front, data_.evidence()).outcome;
    asked_.push_back({claim_answer_id(card), QString::fromStdString(card.title).toHtmlEscaped(),
                      to_qstring(lesson::to_string(outcome)), true});
  }
}

void ResultsView::refresh() {
  int right[2] = {0, 0};
  std::size_t all[2] = {0, 0};
  QString rows;
  for (const Asked& asked : asked_) {
    const Answer given = answers_.answer(asked.id);
    const bool good = given.revealed && given.value == asked.right;
    ++all[asked.claim ? 1 : 0];
    if (good) ++right[asked.claim ? 1 : 0];
    const QString mark = !given.revealed ? data_.word("not_answered")
                         : asked.claim   ? data_.word(good ? "agreed" : "disagreed")
                                         : data_.word(good ? "right" : "wrong");
    rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;&nbsp;</td><td>%2</td></tr>").arg(asked.title, mark.toHtmlEscaped());
  }
  table_->setText(found_right(data_.word("correct_answers"), right[0], data_.word("of"), all[0]) +
                  found_right(data_.word("verdicts_foreseen"), right[1], data_.word("of"), all[1]) +
                  QStringLiteral("<table cellpadding='3'>%1</table>").arg(rows));
}

QString ResultsView::text() const {
  return table_->text();
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/asked_card.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t most_named_points = 12;

QLabel* rich_label(const QString& html, QWidget* parent) {
  auto* label = new QLabel(html, parent);
  label->setTextFormat(Qt::RichText);
  label->setWordWrap(true);
  return label;
}

}  // namespace

AskedCard::AskedCard(const LessonData& about, LessonAnswers& answers, const QString& id, QWidget* parent)
    : QFrame(parent), data_(about), answers_(answers), id_(id), group_(new QButtonGroup(this)) {
  setObjectName(QStringLiteral("asked"));
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  new QVBoxLayout(this);
}

QVBoxLayout& AskedCard::column() const {
  return *static_cast<QVBoxLayout*>(layout());
}

void AskedCard::add_choice(const QString& value, bool right, const QString& text, const QString& because) {
  auto* line = new QWidget(this);
  auto* row = new QHBoxLayout(line);
  row->setContentsMargins(0, 0, 0, 0);
  auto* button = new QRadioButton(line);
  button->setFocusPolicy(Qt::NoFocus);
  if (const PlotColors drawn = plot_colors(palette()); drawn.dark) {
    // The style draws the ring darker than the card: on a dark one only its inside is to be seen.
    QPalette colors = button->palette();
    colors.setColor(QPalette::Base, drawn.muted.darker(170));
    button->setPalette(colors);
  }
  group_->addButton(button, static_cast<int>(values_.size()));
  row->addWidget(button, 0, Qt::AlignTop);
  auto* words = new QWidget(line);
  auto* lines = new QVBoxLayout(words);
  lines->setContentsMargins(0, 0, 0, 0);
  QLabel* label = rich_label(text, words);
  lines->addWidget(label);
  QLabel* why = rich_label(because, words);
  why->setObjectName(QStringLiteral("because"));
  why->setVisible(false);
  lines->addWidget(why);
  row->addWidget(words, 1);
  column().addWidget(line);
  if (right) right_ = value;
  values_.push_back(value);
  because_.push_back(why);
  connect(button, &QRadioButton::clicked, this, [this, value] { answers_.choose(id_, value); });
}

void AskedCard::finish(const QString& yes, const QString& no, QWidget* shown_then) {
  yes_ = yes;
  no_ = no;
  shown_then_ = shown_then;
  auto* line = new QWidget(this);
  auto* row = new QHBoxLayout(line);
  row->setContentsMargins(0, 0, 0, 0);
  lock_ = new QPushButton(data_.word("lock"), line);
  lock_->setObjectName(QStringLiteral("lock"));
  reveal_ = new QPushButton(data_.word("reveal"), line);
  reveal_->setObjectName(QStringLiteral("reveal"));
  note_ = new QLabel(line);
  note_->setObjectName(QStringLiteral("note"));
  note_->setWordWrap(true);
  row->addWidget(lock_);
  row->addWidget(reveal_);
  row->addWidget(note_, 1);
  column().addWidget(line);
  if (shown_then_ != nullptr) column().addWidget(shown_then_);
  connect(lock_, &QPushButton::clicked, this, [this] { answers_.lock(id_); });
  connect(reveal_, &QPushButton::clicked, this, [this] { answers_.reveal(id_); });
  connect(&answers_, &LessonAnswers::changed, this, [this](const QString& id) {
    if (id.isEmpty() || id == id_) refresh();
  });
  refresh();
}

void AskedCard::refresh() {
  const Answer given = answers_.answer(id_);
  group_->setExclusive(false);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    QAbstractButton* button = group_->button(static_cast<int>(i));
    button->setChecked(values_[i] == given.value);
    button->setEnabled(!given.locked);
    const bool tells = given.revealed && (values_[i] == given.value || values_[i] == right_);
    because_[i]->setVisible(tells && !because_[i]->text().isEmpty());
  }
  group_->setExclusive(true);
  lock_->setEnabled(!given.value.isEmpty() && !given.locked);
  reveal_->setEnabled(given.locked && !given.revealed);
  const bool good = given.value == right_;
  note_->setText(given.revealed ? (good ? yes_ : no_) : given.locked ? data_.word("locked") : QString());
  if (shown_then_ != nullptr) shown_then_->setVisible(given.revealed);
}

QuestionCard::QuestionCard(const LessonData& about, LessonAnswers& answers, const lesson::Setting& setting,
                           const lesson::Question& question, QWidget* parent)
    : AskedCard(about, answers, to_qstring(question.id), parent) {
  auto* head = new QLabel(about.word("predict"), this);
  mute(*head);
  column().addWidget(head);
  column().addWidget(new LessonText(about, setting, question.prompt, this));
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    const lesson::Choice& choice = question.choices[i];
    const QColor mark = choice.right ? disposition_color(Disposition::ok, plot_colors(palette()).dark) : QColor();
    QString because = line_rich(about, setting, choice.because, *this);
    because.prepend(choice.right ? QStringLiteral("<b style='color:%1'>✓ %2</b> ").arg(mark.name(), about.word("right"))
                                 : QStringLiteral("<b>✗ %1</b> ").arg(about.word("wrong").toHtmlEscaped()));
    add_choice(QString::number(i), choice.right, line_rich(about, setting, choice.text, *this), because);
  }
  QLabel* hint = nullptr;
  if (!question.hint.empty()) {
    auto* show = new QPushButton(about.word("show_hint"), this);
    show->setFlat(true);
    show->setFocusPolicy(Qt::NoFocus);
    hint = new LessonText(about, setting, question.hint, this);
    hint->setVisible(false);
    column().addWidget(show, 0, Qt::AlignLeft);
    column().addWidget(hint);
    connect(show, &QPushButton::clicked, hint, [hint] { hint->setVisible(!hint->isVisible()); });
  }
  finish(about.word("right"), about.word("wrong"));
}

QString claim_answer_id(const lesson::ClaimCard& card) {
  return QStringLiteral("claim-") + QString::fromStdString(card.id);
}

ClaimView::ClaimView(const LessonData& about, LessonAnswers& answers, const lesson::ClaimCard& card, QWidget* parent)
    : AskedCard(about, answers, claim_answer_id(card), parent),
      verdict_(lesson::judge(card.document.front, about.evidence())) {
  auto* title = new QLabel(QString::fromStdString(card.title), this);
  title->setTextFormat(Qt::PlainText);
  title->setWordWrap(true);
  QFont font = scaled_font(*this, 1.1);
  font.setBold(true);
  title->setFont(font);
  column().addWidget(title);
  auto* source =
      new QLabel(QStringLiteral("%1: %2").arg(about.word("source"), QString::fromStdString(card.source)), this);
  source->setTextFormat(Qt::PlainText);
  source->setWordWrap(true);
  mute(*source);
  column().addWidget(source);
  const lesson::Setting setting = lesson::setting_of(card.document.front);
  for (const lesson::Block& block : card.document.blocks) {
    if (QWidget* text = text_block(about, setting, block, this)) column().addWidget(text);
  }
  auto* ask = new QLabel(about.word("your_outcome"), this);
  mute(*ask);
  column().addWidget(ask);
  for (const lesson::Outcome outcome : lesson::outcomes) {
    const std::string_view word = lesson::to_string(outcome);
    add_choice(to_qstring(word), outcome == verdict_.outcome, about.word(word).toHtmlEscaped(), {});
  }
  QLabel* shown = rich_label(verdict_html(), this);
  shown->setObjectName(QStringLiteral("verdict"));
  finish(about.word("agreed"), about.word("disagreed"), shown);
}

QString ClaimView::verdict_html() const {
  const LessonData& words = data();
  QString html =
      QStringLiteral("<p><b>%1</b></p>").arg(words.word(lesson::to_string(verdict_.outcome)).toHtmlEscaped());
  const QString because = verdict_.because.empty() ? QString() : words.word(verdict_.because) + QLatin1Char(' ');
  if (!because.isEmpty() || !verdict_.detail.empty()) {
    html += QStringLiteral("<p>%1</p>").arg((because + QString::fromStdString(verdict_.detail)).toHtmlEscaped());
  }
  QString rows;
  for (const lesson::ClaimFigure& figure : verdict_.figures) {
    rows +=
        QStringLiteral(
            "<tr><td>%1&nbsp;&nbsp;</td><td align='right'><b>%2</b>&nbsp;&nbsp;</td><td>%3&nbsp;&nbsp;"
            "</td><td><small>%4</small></td></tr>")
            .arg(words.word(figure.label).toHtmlEscaped(),
                 QString::fromStdString(lesson::figure_text(figure.value, figure.unit)).toHtmlEscaped(),
                 QString::fromStdString(figure.of).toHtmlEscaped(), words.word(lesson::origin(figure)).toHtmlEscaped());
  }
  if (!rows.isEmpty()) html += QStringLiteral("<table>%1</table>").arg(rows);
  if (verdict_.points.empty()) return html;
  std::vector<Row> points = verdict_.points;
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  QStringList named;
  for (std::size_t i = 0; i < std::min(points.size(), most_named_points); ++i) {
    named << QString::fromStdString(describe(words.evidence().points.spec(points[i]))).toHtmlEscaped();
  }
  if (points.size() > most_named_points) named << QStringLiteral("…");
  return html + QStringLiteral("<p><small>%1 %2: %3</small></p>")
                    .arg(points.size())
                    .arg(words.word("points_used").toHtmlEscaped(), named.join(QStringLiteral("; ")));
}

}  // namespace attnscope::ui

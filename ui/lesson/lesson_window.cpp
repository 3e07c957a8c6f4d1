// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/lesson_window.h"

#include <QApplication>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QLocale>
#include <QResizeEvent>
#include <QScreen>
#include <QSettings>
#include <QShortcut>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolBar>
#include <QVBoxLayout>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "storage/lesson_texts.h"
#include "ui/lesson/lesson_text.h"
#include "ui/lesson/transport.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {
namespace {

constexpr double lesson_scale_step = 1.15;
constexpr double least_lesson_scale = 0.75;
constexpr double most_lesson_scale = 4;  ///< a 4K projector, read from the last row
constexpr auto rebuild_delay = std::chrono::milliseconds(250);

QString language_key() {
  return QStringLiteral("lesson/language");
}
QString scale_key() {
  return QStringLiteral("lesson/text");
}
QString page_key() {
  return QStringLiteral("lesson/page");
}

QStringList languages_there() {
  QStringList all;
  for (const std::string& language : lesson::lesson_languages()) all << QString::fromStdString(language);
  return all;
}

QString preferred_language(bool remember) {
  const QStringList all = languages_there();
  const QString system = QLocale::system().name().section(QLatin1Char('_'), 0, 0);
  const QString kept = remember ? QSettings().value(language_key()).toString() : QString();
  for (const QString& wanted : {kept, system}) {
    if (all.contains(wanted)) return wanted;
  }
  return QStringLiteral("en");
}

std::vector<StoredCeilings> ceilings_in(const Workspace& workspace) {
  std::vector<StoredCeilings> all;
  all.reserve(workspace.ceilings().size());
  for (const FileCeilings& each : workspace.ceilings()) all.push_back(each.set);
  return all;
}

}  // namespace

QStringList lesson_page_ids() {
  QStringList ids;
  for (const lesson::Step& step : lesson::load_lesson("en", own_lesson_texts()).steps) {
    ids << QString::fromStdString(step.slug);
  }
  return ids << QStringLiteral("claims") << QStringLiteral("results");
}

QStringList lesson_samples() {
  const QString sample = recorded_sample();
  if (sample.isEmpty()) return {};
  QStringList samples{sample};
  // Exponents come of the law's points, bandwidths and latencies of what was measured with the maps of tiles.
  for (const char* name : {"/h200-law.attnscope", "/h200-tiles.attnscope"}) {
    const QString beside = QFileInfo(sample).path() + QString::fromLatin1(name);
    if (QFileInfo(beside).isFile()) samples << beside;
  }
  return samples;
}

LessonWindow::LessonWindow(Workspace& workspace, bool remember, QWidget* parent)
    : QMainWindow(parent),
      workspace_(workspace),
      remember_(remember),
      answers_(remember),
      language_(preferred_language(remember)),
      own_size_(QApplication::font().pointSizeF()) {
  build_bar();
  auto* central = new QWidget(this);
  auto* column = new QVBoxLayout(central);
  column->setContentsMargins(0, 0, 0, 0);
  problems_ = new QLabel(central);
  problems_->setObjectName(QStringLiteral("problems"));
  problems_->setTextFormat(Qt::PlainText);
  problems_->setWordWrap(true);
  problems_->setContentsMargins(8, 4, 8, 4);
  column->addWidget(problems_);
  auto* row = new QHBoxLayout;
  column->addLayout(row, 1);
  list_ = new QListWidget(central);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setWordWrap(true);
  list_->setFrameShape(QFrame::NoFrame);
  row->addWidget(list_);
  pages_ = new QStackedWidget(central);
  row->addWidget(pages_, 1);
  setCentralWidget(central);
  resize(1280, 800);
  add_keys();
  soon_.setSingleShot(true);
  connect(&soon_, &QTimer::timeout, this, &LessonWindow::rebuild);
  const auto later = [this] { soon_.start(rebuild_delay); };
  connect(&workspace_, &Workspace::points_changed, this, later);
  connect(&workspace_, &Workspace::ceilings_changed, this, later);
  connect(list_, &QListWidget::currentRowChanged, this, &LessonWindow::turn_to);
  if (remember_)
    scale_ = std::clamp(QSettings().value(scale_key(), scale_).toDouble(), least_lesson_scale, most_lesson_scale);
  rebuild();
  if (remember_) show_page(QSettings().value(page_key()).toString());
}

void LessonWindow::build_bar() {
  bar_ = addToolBar(QStringLiteral("lesson"));
  bar_->setMovable(false);
  bar_->setContextMenuPolicy(Qt::PreventContextMenu);
  languages_ = new QComboBox(bar_);
  languages_->setFocusPolicy(Qt::NoFocus);
  languages_->addItems(languages_there());
  languages_->setCurrentText(language_);
  connect(languages_, &QComboBox::currentTextChanged, this, &LessonWindow::set_language);
  bar_->addWidget(languages_);
  const auto add = [this](const QString& text, auto act) {
    QAction* action = bar_->addAction(text, this, act);
    if (QWidget* button = bar_->widgetForAction(action)) button->setFocusPolicy(Qt::NoFocus);
    return action;
  };
  add(QStringLiteral("A−"), [this] { set_text_scale(scale_ / lesson_scale_step); });
  add(QStringLiteral("A+"), [this] { set_text_scale(scale_ * lesson_scale_step); });
  present_ = add({}, [this] { set_presenting(true); });
  keys_ = new ElidedLabel(bar_);
  keys_->setTextFormat(Qt::PlainText);
  keys_->setContentsMargins(12, 0, 0, 0);
  bar_->addWidget(keys_);
}

void LessonWindow::add_keys() {
  const auto on = [this](const QList<QKeySequence>& keys, auto act) {
    for (const QKeySequence& key : keys) connect(new QShortcut(key, this), &QShortcut::activated, this, act);
  };
  const auto step = [this](int by) {
    Transport* moved = page() == nullptr ? nullptr : page()->transport();
    if (moved != nullptr) {
      page()->bring(moved);
      moved->step(by);
    } else {
      go(by);
    }
  };
  on({Qt::Key_Right}, [step] { step(1); });
  on({Qt::Key_Left}, [step] { step(-1); });
  on({Qt::Key_PageDown}, [this] { go(1); });
  on({Qt::Key_PageUp}, [this] { go(-1); });
  on({Qt::Key_F11}, [this] { set_presenting(!presenting_); });
  on({Qt::Key_Escape}, [this] { set_presenting(false); });
  on({QKeySequence::ZoomIn, QKeySequence(QStringLiteral("Ctrl+="))},
     [this] { set_text_scale(scale_ * lesson_scale_step); });
  on({QKeySequence::ZoomOut}, [this] { set_text_scale(scale_ / lesson_scale_step); });
}

void LessonWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space) {
    if (Transport* moved = page() == nullptr ? nullptr : page()->transport()) {
      page()->bring(moved);
      return moved->toggle();
    }
  }
  if (event->key() >= Qt::Key_1 && event->key() <= Qt::Key_9 && event->modifiers() == Qt::NoModifier) {
    return turn_to(event->key() - Qt::Key_1);
  }
  QMainWindow::keyPressEvent(event);
}

void LessonWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  // Formulas are pictures in the colours of the day.
  if (event->type() == QEvent::PaletteChange && data_ != nullptr) soon_.start(0);
}

void LessonWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (data_ != nullptr && window_scale() != built_scale_) rebuild();
}

double LessonWindow::window_scale() const {
  // In front of a room the screen decides alone (set_presenting()).
  if (presenting_) return 1;
  const double whole = std::min(width() / 1920.0, height() / 1080.0);
  return std::max(1.0, std::floor(whole * 4) / 4);
}

void LessonWindow::rebuild() {
  const QString here = page_id();
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if (made_[i] != nullptr) kept_[ids_[i]] = made_[i]->state();
  }
  lesson::LessonTexts texts = lesson::load_lesson(language_.toStdString(), own_lesson_texts());
  while (pages_->count() > 0) delete pages_->widget(0);
  made_.clear();
  ids_.clear();
  data_ = std::make_unique<LessonData>(workspace_.ticked(), ceilings_in(workspace_), std::move(texts));
  QFont letters = QApplication::font();
  built_scale_ = window_scale();
  letters.setPointSizeF(own_size_ * built_scale_);
  bar_->setFont(letters);
  letters.setPointSizeF(own_size_ * scale_ * built_scale_);
  centralWidget()->setFont(letters);
  setWindowTitle(QStringLiteral("%1 – Attnscope").arg(data_->word("lesson")));
  const QSignalBlocker quiet(list_);
  list_->clear();
  int number = 0;
  for (const lesson::Step& step : data_->texts().steps) {
    ids_.push_back(QString::fromStdString(step.slug));
    list_->addItem(QStringLiteral("%1  %2").arg(++number).arg(QString::fromStdString(step.title)));
  }
  for (const char* id : {"claims", "results"}) {
    ids_.push_back(QString::fromLatin1(id));
    list_->addItem(data_->word(id));
  }
  made_.resize(ids_.size());
  list_->setFixedWidth(std::min(list_->sizeHintForColumn(0) + 24, width() / 3));  // a title may be long
  present_->setText(data_->word("present"));
  keys_->setText(data_->word("window_keys"));
  keys_->setPalette(palette());
  mute(*keys_);
  problems_->setText(problems());
  problems_->setVisible(!problems_->text().isEmpty());
  if (!show_page(here)) turn_to(0);
}

QString LessonWindow::problems() const {
  QStringList lines;
  for (const lesson::TextProblem& problem : data_->texts().problems) {
    lines << one_line(QString::fromStdString(attnscope::text(words_of(problem))));
  }
  // A whole folder of strange files leaves room for the lesson.
  constexpr qsizetype most_lines = 8;
  const qsizetype more = lines.size() - most_lines;
  if (more > 0) {
    lines = lines.mid(0, most_lines) << QStringLiteral("… %1 %2").arg(more).arg(data_->word("more_problems"));
  }
  if (!lines.isEmpty()) lines.prepend(data_->word("problems"));
  return lines.join(QLatin1Char('\n'));
}

void LessonWindow::make_page(int place) {
  const auto index = static_cast<std::size_t>(place);
  if (made_[index] != nullptr) return;
  const auto& steps = data_->texts().steps;
  if (index < steps.size()) {
    auto* view = new StepView(*data_, answers_, steps[index], pages_);
    connect(view, &StepView::explore_wanted, this, &LessonWindow::explore_wanted);
    made_[index] = view;
  } else if (ids_[index] == QLatin1String("claims")) {
    made_[index] = new ClaimsView(*data_, answers_, pages_);
  } else {
    made_[index] = new ResultsView(*data_, answers_, pages_);
  }
  pages_->addWidget(made_[index]);
  if (const auto kept = kept_.find(ids_[index]); kept != kept_.end()) {
    made_[index]->restore(kept->second);
    kept_.erase(kept);
  }
}

void LessonWindow::turn_to(int place) {
  if (place < 0 || place >= static_cast<int>(ids_.size())) return;
  const QSignalBlocker quiet(list_);
  list_->setCurrentRow(place);
  make_page(place);
  LessonPage* shown = made_[static_cast<std::size_t>(place)];
  pages_->setCurrentWidget(shown);
  shown->setFocus();
  if (remember_) QSettings().setValue(page_key(), page_id());
}

void LessonWindow::go(int by) {
  turn_to(std::clamp(list_->currentRow() + by, 0, static_cast<int>(ids_.size()) - 1));
}

bool LessonWindow::show_page(const QString& id) {
  const auto found = std::ranges::find(ids_, id);
  bool number = false;
  const int place = id.toInt(&number) - 1;
  if (found == ids_.end() && (!number || place < 0 || place >= static_cast<int>(ids_.size()))) return false;
  turn_to(found == ids_.end() ? place : static_cast<int>(found - ids_.begin()));
  return true;
}

QString LessonWindow::page_id() const {
  const int place = list_->currentRow();
  return place < 0 || place >= static_cast<int>(ids_.size()) ? QString() : ids_[static_cast<std::size_t>(place)];
}

LessonPage* LessonWindow::page() const {
  return static_cast<LessonPage*>(pages_->currentWidget());
}

void LessonWindow::set_language(const QString& language) {
  if (language == language_ || !languages_there().contains(language)) return;
  language_ = language;
  languages_->setCurrentText(language);
  if (remember_) QSettings().setValue(language_key(), language);
  soon_.stop();
  rebuild();
}

void LessonWindow::set_text_scale(double scale) {
  scale_ = std::clamp(scale, least_lesson_scale, most_lesson_scale);
  if (remember_ && !presenting_) QSettings().setValue(scale_key(), scale_);
  rebuild();
}

void LessonWindow::set_presenting(bool on) {
  if (on == presenting_) return;
  presenting_ = on;
  bar_->setVisible(!on);
  list_->setVisible(!on);
  setWindowState(on ? windowState() | Qt::WindowFullScreen : windowState() & ~Qt::WindowFullScreen);
  // Readable from the last row: so many lines of letters a screen, whatever its pixels.
  constexpr double lines_of_screen = 40;
  if (on) {
    own_scale_ = scale_;
    const double points = screen()->size().height() / lines_of_screen * 72 / screen()->logicalDotsPerInchY();
    set_text_scale(std::max(scale_, points / own_size_));
  } else {
    set_text_scale(own_scale_);
  }
}

}  // namespace attnscope::ui

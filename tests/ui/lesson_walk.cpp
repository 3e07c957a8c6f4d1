// SPDX-License-Identifier: GPL-3.0-or-later
// A walk through the lesson on a real display, as a student alone and as a lecturer: ui_lesson_walk SIZE THEME FOLDER.
// Each step waits for what it has to see, and leaves a picture; the first that does not see it ends the walk with 1.
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QScreen>
#include <QScrollBar>
#include <QStandardPaths>
#include <QTest>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>

#include "tests/ui/window_test.h"
#include "ui/lesson/asked_card.h"
#include "ui/lesson/lesson_window.h"
#include "ui/lesson/softmax_picture.h"
#include "ui/lesson/tiles_picture.h"
#include "ui/lesson/transport.h"
#include "ui/pages/explorer_page.h"
#include "ui/window/application.h"

namespace {

using namespace attnscope;
using namespace attnscope::ui;

constexpr int lesson_patience_ms = 60'000;

class LessonWalk {
 public:
  LessonWalk(const QSize& size, ThemeChoice theme, QString folder)
      : size_(size), folder_(std::move(folder)), main_(false) {
    main_.set_theme(theme);
    main_.resize(size);
    for (const QString& sample : lesson_samples()) main_.workspace().open_now(sample);
    open();
    lesson_->answers().forget();
  }

  /// Alone: a wrong answer on purpose, and what is said of that very answer.
  void answer_wrongly() {
    turn_to("ledger");
    auto* card = lesson_->page()->findChild<QuestionCard*>();
    check("a question", card != nullptr);
    const auto choices = card->findChildren<QRadioButton*>();
    int wrong = 0;
    while (card->values()[static_cast<std::size_t>(wrong)] == card->right()) ++wrong;
    lesson_->page()->ensureWidgetVisible(card);
    settle();
    QTest::mouseClick(choices[wrong], Qt::LeftButton, {}, {8, choices[wrong]->height() / 2});
    press(*card, "lock");
    check("nothing is told before it is revealed", told(*card).isEmpty());
    press(*card, "reveal");
    const QStringList words = told(*card);
    check("the chosen one and the right one are explained", words.size() == 2);
    check("the chosen one's is that of a wrong answer",
          words[0].contains(lesson_->data().word("wrong").toHtmlEscaped()));
    lesson_->page()->ensureWidgetVisible(card);
    picture("answered-wrongly");
    open();  // again, as after a restart
    turn_to("ledger");
    card = lesson_->page()->findChild<QuestionCard*>();
    check("the answer is kept from one start to the next", told(*card) == words);
  }

  void play_ones_own_scores() {
    turn_to("online-softmax");
    auto* softmax = lesson_->page()->findChild<SoftmaxPicture*>();
    auto* own = softmax->findChild<QLineEdit*>(QStringLiteral("own"));
    own->setFocus();
    QTest::keyClicks(own, QStringLiteral("3, 1, 4, 1, 5"));
    QTest::keyClick(own, Qt::Key_Return);
    wait("the own scores", [&] { return softmax->trace().ends.size() == 1 && softmax->trace().ends[0].m == 5; });
    softmax->transport()->step(softmax->transport()->frames());
    check("they come out exact", softmax->trace().largest_error < 1e-12);
    lesson_->page()->ensureWidgetVisible(softmax);
    picture("own-scores");
  }

  void change_tiles() {
    turn_to("tiling");
    auto* tiles = lesson_->page()->findChild<TilesPicture*>();
    const auto dram = [&] { return tiles->stages().back()->player().total().dram_read_bytes; };
    choose(*tiles, "heads", QStringLiteral("4"));
    choose(*tiles, "L2", QStringLiteral("128 KiB"));
    const std::int64_t before = dram();
    choose(*tiles, "raster", QStringLiteral("heads_fastest"));
    check("another order of the blocks, other misses", dram() != before);
    choose(*tiles, "M", QStringLiteral("16,384"));
    check("M decides the tile", tiles->stages()[1]->player().config().tile.bc == 64);
    tiles->transport()->step(tiles->transport()->frames());
    for (const TileStage* stage : tiles->stages()) check("the closed form is met", stage->meets_closed_form());
    lesson_->page()->ensureWidgetVisible(tiles);
    picture("tiles-changed");
  }

  void show_in_the_explorer() {
    turn_to("tiling");
    lesson_->page()->findChild<QPushButton*>(QStringLiteral("explore"))->click();
    main_.show_lesson().hide();
    main_.show();
    auto& explorer = page_of<ExplorerPage>(main_);
    wait("the explorer with the step's problem", [&] {
      return explorer.chosen().choices.point.spec.algorithm == "fa1" &&
             explorer.chosen().choices.point.spec.problem.n_q == 4096;
    });
  }

  /// In front of a room: full screen, keys, any step, and letters for the last row.
  void present() {
    main_.show_lesson().hide();
    main_.hide();
    lesson_->raise();
    lesson_->activateWindow();
    wait("the lesson in front", [&] { return lesson_->isActiveWindow(); });
    QTest::keyClick(lesson_.get(), Qt::Key_F11);
    wait("the whole screen", [&] { return lesson_->presenting() && lesson_->isFullScreen(); });
    for (int digit = 1; digit <= 7; ++digit) {
      QTest::keyClick(lesson_.get(), static_cast<Qt::Key>(Qt::Key_0 + digit));
      settle();
      check("a digit turns to its step", lesson_->page_id() == lesson_page_ids()[digit - 1]);
      if (Transport* transport = lesson_->page()->transport()) {
        const int frame = transport->frame();
        QTest::keyClick(lesson_.get(), Qt::Key_Right);
        check("the arrow steps", transport->frame() == std::min(frame + 1, transport->frames() - 1));
      }
      const double lines = lesson_->height() / QFontMetricsF(lesson_->page()->font()).height();
      check("at most 40 lines on the screen", lines <= 40);
      picture(qPrintable(QStringLiteral("room-%1").arg(lesson_->page_id())));
    }
    QTest::keyClick(lesson_.get(), Qt::Key_Escape);
    wait("a window again", [&] { return !lesson_->isFullScreen(); });
  }

  void look_at_all(const QString& language) {
    lesson_->set_language(language);
    for (const QString& id : lesson_page_ids()) {
      turn_to(qPrintable(id));
      check("nothing is cut off at the side", lesson_->page()->horizontalScrollBar()->maximum() == 0);
      picture(qPrintable(language + QLatin1Char('-') + id));
    }
  }

 private:
  static void check(const char* what, bool holds) {
    if (!holds) throw std::runtime_error(std::string("not so: ") + what);
  }
  static void wait(const char* what, const std::function<bool()>& holds) {
    if (!QTest::qWaitFor(holds, lesson_patience_ms))
      throw std::runtime_error(std::string("waited in vain for ") + what);
  }
  void open() {
    lesson_ = std::make_unique<LessonWindow>(main_.workspace(), true);
    lesson_->set_language(QStringLiteral("en"));
    QObject::connect(lesson_.get(), &LessonWindow::explore_wanted, &main_, [this](const PointSpec&, const QString&) {
      // The window's own lesson says it to the window.
      main_.show_lesson().show_page(lesson_->page_id());
      main_.show_lesson().page()->findChild<QPushButton*>(QStringLiteral("explore"))->click();
    });
    lesson_->setGeometry(QRect(QPoint(0, 0), size_));
    lesson_->show();
    if (!QTest::qWaitForWindowExposed(lesson_.get())) throw std::runtime_error("no window comes on the display");
    settle();
  }
  void turn_to(const char* page) {
    if (!lesson_->show_page(QString::fromLatin1(page))) throw std::runtime_error(std::string("no page ") + page);
    settle();
  }
  static QStringList told(const QWidget& card) {
    QStringList words;
    for (const QLabel* label : card.findChildren<QLabel*>(QStringLiteral("because"))) {
      if (!label->isHidden()) words << label->text();
    }
    return words;
  }
  static void press(const QWidget& card, const char* name) {
    auto* button = card.findChild<QPushButton*>(QString::fromLatin1(name));
    check("the button can be pressed", button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
    settle();
  }
  static void choose(const QWidget& picture, const char* name, const QString& value) {
    auto* box = picture.findChild<QComboBox*>(QString::fromLatin1(name));
    if (box == nullptr || box->findText(value) < 0) throw std::runtime_error(std::string("no choice ") + name);
    box->setCurrentIndex(box->findText(value));
    settle();
  }
  void picture(const char* name) {
    settle();
    QTest::qWait(50);
    const QPixmap shown = lesson_->grab();
    const QString file = QStringLiteral("%1/%2-%3.png")
                             .arg(folder_)
                             .arg(++step_, 2, 10, QLatin1Char('0'))
                             .arg(QString::fromLatin1(name));
    if (shown.isNull() || !shown.save(file)) throw std::runtime_error("no picture: " + file.toStdString());
    std::printf("%s\n", qPrintable(file));
  }

  QSize size_;
  QString folder_;
  MainWindow main_;
  std::unique_ptr<LessonWindow> lesson_;
  int step_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "ui_lesson_walk SIZE THEME FOLDER\n");
    return 2;
  }
  QStandardPaths::setTestModeEnabled(true);
  Application application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("attnscope-lesson-walk"));
  initialize_style();
  const QStringList extents = QString::fromLocal8Bit(argv[1]).split(QLatin1Char('x'));
  const QSize size(extents.value(0).toInt(), extents.value(1).toInt());
  try {
    LessonWalk walk(size, parse_theme(QString::fromLocal8Bit(argv[2])), QString::fromLocal8Bit(argv[3]));
    walk.answer_wrongly();
    walk.play_ones_own_scores();
    walk.change_tiles();
    walk.show_in_the_explorer();
    // A language a theme: all of them when walk.sh is asked for all.
    const bool dark = parse_theme(QString::fromLocal8Bit(argv[2])) == ThemeChoice::dark;
    walk.look_at_all(dark ? QStringLiteral("zh") : QStringLiteral("en"));
    walk.present();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ui_lesson_walk: %s\n", error.what());
    return 1;
  }
  return 0;
}

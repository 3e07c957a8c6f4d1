// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson's window as a learner and as a lecturer use it.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTest>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.h"
#include "tests/ui/window_test.h"
#include "ui/lesson/formula_picture.h"
#include "ui/lesson/frame_text.h"
#include "ui/lesson/hierarchy_picture.h"
#include "ui/lesson/lesson_window.h"
#include "ui/lesson/occupancy_picture.h"
#include "ui/lesson/program_picture.h"
#include "ui/lesson/scale_picture.h"
#include "ui/lesson/softmax_picture.h"
#include "ui/lesson/theory_picture.h"
#include "ui/lesson/tiles_picture.h"
#include "ui/lesson/transport.h"
#include "ui/pages/explorer_page.h"

namespace attnscope::ui {
namespace {

/// On the recorded samples, as somebody has it who opens the lesson alone.
class LessonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const QString& sample : lesson_samples()) EXPECT_EQ(workspace.open_now(sample), QString());
  }
  /// The window on that page.
  LessonWindow& at(const char* page) {
    if (window_ == nullptr) {
      window_ = std::make_unique<LessonWindow>(workspace, false);
      window_->set_language(QStringLiteral("en"));
      window_->resize(1280, 800);
      window_->show();
    }
    EXPECT_TRUE(window_->show_page(QString::fromLatin1(page))) << page;
    settle();
    return *window_;
  }
  template <class Picture>
  Picture& picture(const char* page) {
    auto* found = at(page).page()->findChild<Picture*>();
    if (found == nullptr) throw std::runtime_error("no such picture");
    return *found;
  }
  Workspace workspace;

 private:
  std::unique_ptr<LessonWindow> window_;
};

int shown_labels(const QWidget& card, const char* name) {
  int shown = 0;
  for (const QLabel* label : card.findChildren<QLabel*>(QString::fromLatin1(name))) shown += label->isHidden() ? 0 : 1;
  return shown;
}

TEST_F(LessonTest, EveryPageOfEitherLanguageIsMade) {
  for (const char* language : {"en", "zh"}) {
    for (const QString& id : lesson_page_ids()) {
      LessonWindow& window = at("ledger");
      window.set_language(QString::fromLatin1(language));
      ASSERT_TRUE(window.show_page(id));
      settle();
      EXPECT_EQ(window.page_id(), id);
      EXPECT_EQ(window.problems(), QString());
      for (const QLabel* label : window.findChildren<QLabel*>()) {
        // "[key]" is what a word is that nobody wrote.
        EXPECT_FALSE(label->text().contains(QLatin1String("[side")) || label->text().contains(QLatin1String("{{")))
            << label->text().toStdString();
      }
    }
  }
}

TEST_F(LessonTest, AnAnswerIsLockedBeforeItIsRevealed) {
  LessonWindow& window = at("ledger");
  auto* card = window.page()->findChild<QuestionCard*>();
  ASSERT_NE(card, nullptr);
  auto* lock = card->findChild<QPushButton*>(QStringLiteral("lock"));
  auto* reveal = card->findChild<QPushButton*>(QStringLiteral("reveal"));
  const auto choices = card->findChildren<QRadioButton*>();
  ASSERT_EQ(choices.size(), 3);
  EXPECT_FALSE(lock->isEnabled());
  EXPECT_FALSE(reveal->isEnabled());
  EXPECT_EQ(shown_labels(*card, "because"), 0);
  choices[0]->click();
  EXPECT_TRUE(lock->isEnabled());
  EXPECT_FALSE(reveal->isEnabled());
  choices[2]->click();
  lock->click();
  EXPECT_FALSE(choices[0]->isEnabled());
  EXPECT_TRUE(reveal->isEnabled());
  EXPECT_EQ(shown_labels(*card, "because"), 0);
  reveal->click();
  // The wrong one that was chosen, and the right one.
  EXPECT_EQ(shown_labels(*card, "because"), 2);
  EXPECT_EQ(card->findChild<QLabel*>(QStringLiteral("note"))->text(), window.data().word("wrong"));
  EXPECT_EQ(window.answers().answer(card->id()).value, QStringLiteral("2"));
}

TEST(LessonAnswers, NothingIsRevealedThatWasNotLocked) {
  LessonAnswers answers(false);
  const QString id = QStringLiteral("q");
  answers.reveal(id);
  answers.lock(id);
  EXPECT_FALSE(answers.answer(id).locked || answers.answer(id).revealed);
  answers.choose(id, QStringLiteral("1"));
  answers.reveal(id);
  EXPECT_FALSE(answers.answer(id).revealed);
  answers.lock(id);
  answers.choose(id, QStringLiteral("0"));
  EXPECT_EQ(answers.answer(id).value, QStringLiteral("1"));
  answers.reveal(id);
  EXPECT_TRUE(answers.answer(id).revealed);
}

TEST(LessonAnswers, AreKeptFromOneStartToTheNext) {
  const QString id = QStringLiteral("kept/with a slash");
  {
    LessonAnswers answers(true);
    answers.forget();
    answers.choose(id, QStringLiteral("2"));
    answers.lock(id);
  }
  LessonAnswers again(true);
  EXPECT_TRUE(again.answer(id).locked);
  EXPECT_EQ(again.answer(id).value, QStringLiteral("2"));
  again.forget();
  EXPECT_EQ(LessonAnswers(true).answer(id).value, QString());
}

TEST_F(LessonTest, TilesStepSideBySideToTheClosedForm) {
  auto& tiles = picture<TilesPicture>("tiling");
  ASSERT_EQ(tiles.stages().size(), 3U);
  Transport& transport = *tiles.transport();
  transport.step(1);
  transport.step(1);
  transport.step(-1);
  EXPECT_EQ(transport.frame(), 1);
  for (const TileStage* stage : tiles.stages()) {
    EXPECT_EQ(stage->frame().index, 1U);
    EXPECT_FALSE(stage->meets_closed_form());
    EXPECT_FALSE(stage->lit().empty());
  }
  transport.step(transport.frames());
  for (const TileStage* stage : tiles.stages()) {
    EXPECT_TRUE(stage->meets_closed_form());
    const auto tally = stage->tally();
    // SM <-> L2 in the last line but two, the closed form in the last: the same bytes.
    EXPECT_EQ(tally[tally.size() - 3].mid(1), tally.back().mid(1));
    EXPECT_TRUE(stage->notes().contains(QLatin1String("%"))) << "the counters' deviation is said";
    // What is dirty at the end is written: O at the least, 512 x 64 of fp16.
    const lesson::Tally& total = stage->frame().so_far;
    EXPECT_GE(total.dram_write_bytes, 512 * 64 * 2);
    EXPECT_EQ(tally[tally.size() - 2].last(), QString::fromStdString(lesson::figure_text(
                                                  static_cast<double>(total.dram_write_bytes), lesson::Unit::bytes)));
  }
}

TEST_F(LessonTest, WhatTheMaskLeavesOutIsNeverSeen) {
  auto& tiles = picture<TilesPicture>("tiling");
  const auto seen = [&] {
    tiles.transport()->step(tiles.transport()->frames());
    const QImage& pairs = tiles.stages().back()->pairs();
    int count = 0;
    for (int y = 0; y < pairs.height(); ++y) {
      for (int x = 0; x < pairs.width(); ++x) count += pairs.pixelColor(x, y) != plot_colors(tiles.palette()).grid;
    }
    return count;
  };
  EXPECT_EQ(seen(), 64);  // 8 x 8 tiles of 64 at N 512
  tiles.findChild<QComboBox*>(QStringLiteral("mask"))->setCurrentIndex(1);
  settle();
  EXPECT_EQ(seen(), 36);  // on and below the diagonal
}

TEST_F(LessonTest, EachKernelsOrderOfLoadsIsSaid) {
  const QString notes = picture<TilesPicture>("three-kernels").stages().front()->notes();
  EXPECT_TRUE(notes.contains(QStringLiteral("qk, softmax: ") + at("three-kernels").data().word("in_order")))
      << notes.toStdString();
  EXPECT_TRUE(notes.contains(QStringLiteral("pv: ") + at("three-kernels").data().word("runs_ahead")));
}

TEST_F(LessonTest, WhatIsWatchedTogetherIsSeenTogether) {
  LessonWindow& window = at("tiling");
  for (const QSize& size : {QSize(1280, 800), QSize(1920, 1080)}) {
    for (const double scale : {1.15, 1.5}) {
      window.resize(size);
      window.set_text_scale(scale);
      settle();
      auto& tiles = picture<TilesPicture>("tiling");
      const TileStage& stage = *tiles.stages().front();
      const QWidget& choices = *tiles.findChild<QComboBox*>(QStringLiteral("mask"));
      const int from = choices.mapTo(&tiles, QPoint(0, 0)).y();
      const int to = stage.mapTo(&tiles, QPoint(0, 0)).y() + stage.height();
      EXPECT_LE(to - from, window.page()->viewport()->height()) << size.width() << ' ' << scale;
      EXPECT_LE(stage.details().bottom(), stage.height());
      window.page()->bring(tiles.transport());
      settle();
      EXPECT_GE(tiles.mapTo(window.page()->viewport(), QPoint(0, 0)).y(), -8);
    }
  }
}

TEST_F(LessonTest, OtherTilesArePlayedAgain) {
  auto& tiles = picture<TilesPicture>("tiling");
  const auto fa1_bytes = [&] { return tiles.stages()[1]->player().closed_form().sm_l2().total(); };
  const std::int64_t before = fa1_bytes();
  auto* bc = tiles.findChild<QComboBox*>(QStringLiteral("Bc"));
  bc->setCurrentIndex(bc->findText(QStringLiteral("128")));
  settle();
  EXPECT_EQ(tiles.stages()[1]->player().config().tile.bc, 128);
  EXPECT_LT(static_cast<double>(fa1_bytes()), 0.6 * static_cast<double>(before));
}

TEST_F(LessonTest, MAndTheKnobsThatTheTextNamesDecideWhatIsPlayed) {
  auto& tiles = picture<TilesPicture>("tiling");
  const auto choose = [&](const char* name, const char* value) {
    auto* box = tiles.findChild<QComboBox*>(QString::fromLatin1(name));
    ASSERT_NE(box, nullptr) << name;
    ASSERT_GE(box->findText(QString::fromUtf8(value)), 0) << name << ' ' << value;
    box->setCurrentIndex(box->findText(QString::fromUtf8(value)));
    settle();
  };
  // By the rule, M/4d keys for the one that passes over Q, M/4d rows for the one that passes over K.
  choose("M", "16,384");
  EXPECT_EQ(tiles.stages()[1]->player().config().tile.bc, 64);
  EXPECT_EQ(tiles.stages()[2]->player().config().tile.br, 64);
  choose("M", "8192");
  EXPECT_EQ(tiles.stages()[1]->player().config().tile.bc, 32);
  EXPECT_EQ(tiles.stages()[2]->player().config().tile.br, 32);
  choose("M", "as the text has it");
  choose("heads", "4");
  EXPECT_EQ(tiles.stages()[2]->player().problem().heads_q, 4);
  const auto second_head = [&] {
    for (std::size_t i = 0; i < tiles.stages()[2]->player().frames(); ++i) {
      if (tiles.stages()[2]->player().accesses(i).front().instance == 1) return i;
    }
    return std::size_t{0};
  };
  const std::size_t one_after_the_other = second_head();
  EXPECT_EQ(tiles.stages()[2]->player().config().knobs.find("raster"), nullptr);
  choose("raster", "heads_fastest");
  EXPECT_LT(second_head(), one_after_the_other) << "heads take turns";
  tiles.transport()->step(tiles.transport()->frames());
  for (const TileStage* stage : tiles.stages()) {
    EXPECT_TRUE(stage->meets_closed_form());
    // A head below the other: 4 heads of 8 x 8 tiles.
    EXPECT_EQ(stage->pairs().size(), QSize(8, 32));
  }
}

TEST_F(LessonTest, TheLedgerDoublesN) {
  auto& ledger = picture<LedgerPicture>("ledger");
  const auto scores = [&] { return ledger.findChildren<ScaledSquares*>().front()->sizes().front().bytes; };
  const double before = scores();
  const int height = ledger.height();
  ledger.transport()->step(1);
  EXPECT_EQ(scores(), 4 * before);
  settle();
  EXPECT_EQ(ledger.height(), height) << "nothing is laid out again";
}

TEST_F(LessonTest, PaddingChangesOccupancyAlone) {
  const auto& shown = picture<OccupancyPicture>("theory").shown();
  ASSERT_TRUE(shown);
  ASSERT_GE(shown->steps.size(), 2U);
  for (std::size_t i = 1; i < shown->steps.size(); ++i) {
    EXPECT_LT(shown->steps[i].blocks_per_sm, shown->steps[i - 1].blocks_per_sm);
    EXPECT_LT(shown->steps[i].warps_pct, shown->steps[i - 1].warps_pct);
    EXPECT_GT(shown->steps[i].padding_bytes, shown->steps[i - 1].padding_bytes);
    EXPECT_EQ(shown->steps[i].sm_l2_bytes, shown->steps[0].sm_l2_bytes);
  }
  EXPECT_EQ(shown->steps.back().blocks_per_sm, 1);
}

TEST_F(LessonTest, AFrameLaysNothingOutAgain) {
  for (const char* page : {"online-softmax", "three-kernels", "tiling", "ledger"}) {
    Transport& transport = *at(page).page()->transport();
    transport.show_frame(0);
    settle();
    std::vector<QRect> before;
    const auto places = [&] {
      std::vector<QRect> all;
      for (const QWidget* widget : at(page).page()->findChildren<QWidget*>()) all.push_back(widget->geometry());
      return all;
    };
    before = places();
    transport.show_frame(transport.frames() - 1);
    settle();
    EXPECT_EQ(places().size(), before.size()) << page;
    // The handle of the slider moves; its widget does not.
    EXPECT_TRUE(places() == before) << page;
  }
}

/// Of the WCAG: 4.5 is what letters need.
double contrast(const QColor& a, const QColor& b) {
  const auto light = [](const QColor& color) {
    const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF()) + 0.05;
  };
  return std::max(light(a), light(b)) / std::min(light(a), light(b));
}

TEST_F(LessonTest, WhatIsSaidBesideIsLegible) {
  LessonWindow& window = at("ledger");
  for (const QString& id : lesson_page_ids()) {
    ASSERT_TRUE(window.show_page(id));
    settle();
    for (const QLabel* label : window.findChildren<QLabel*>()) {
      const QPalette colors = label->palette();
      EXPECT_TRUE(label->isEnabled()) << label->text().toStdString();
      EXPECT_GE(contrast(colors.color(QPalette::WindowText), colors.color(QPalette::Window)), 4.5)
          << label->text().toStdString();
    }
  }
}

TEST_F(LessonTest, PlaysByItselfAndStopsAtTheEnd) {
  auto& softmax = picture<SoftmaxPicture>("online-softmax");
  Transport& transport = *softmax.transport();
  transport.findChild<QComboBox*>()->setCurrentIndex(5);
  QSignalSpy shown(&transport, &Transport::shown);
  transport.toggle();
  EXPECT_TRUE(transport.playing());
  while (transport.playing() && shown.wait(2000)) {
  }
  EXPECT_EQ(transport.frame(), transport.frames() - 1);
}

TEST_F(LessonTest, FaultsOfTheOnlineSoftmaxShowTheirError) {
  auto& softmax = picture<SoftmaxPicture>("online-softmax");
  auto* result = softmax.findChild<FrameText*>(QStringLiteral("result"));
  EXPECT_EQ(result->text(), QString());
  softmax.transport()->step(100);
  EXPECT_LT(softmax.trace().largest_error, 1e-12);
  EXPECT_TRUE(result->text().contains(softmax.trace().output.empty() ? QStringLiteral("?") : QStringLiteral("A + B")));
  softmax.findChild<QComboBox*>(QStringLiteral("fault"))->setCurrentIndex(1);
  softmax.transport()->step(100);
  EXPECT_GT(softmax.trace().largest_error, 0.01);
}

TEST_F(LessonTest, OnesOwnScores) {
  auto& softmax = picture<SoftmaxPicture>("online-softmax");
  softmax.play_own(QStringLiteral("0, 1; 2 3"));
  ASSERT_EQ(softmax.trace().steps.size(), 4U);
  EXPECT_NEAR(softmax.trace().ends.front().m, 3, 0);
  EXPECT_NEAR(softmax.trace().ends.front().l, 1 + std::exp(-1) + std::exp(-2) + std::exp(-3), 1e-12);
  const auto* pick = softmax.findChild<QComboBox*>();
  EXPECT_EQ(pick->currentText(), at("online-softmax").data().word("own"));
  softmax.play_own(QStringLiteral("1, two"));
  EXPECT_EQ(softmax.trace().steps.size(), 4U) << "what was there stays";
  softmax.play_own(QString());
  EXPECT_EQ(pick->currentText(), QStringLiteral("4 x 2"));
  EXPECT_TRUE(parse_scores(QStringLiteral("1e999")).empty());
  EXPECT_EQ(parse_scores(QStringLiteral("1，-2.5")).size(), 2U);
}

TEST_F(LessonTest, OneLineMendsTheProgram) {
  auto& program = picture<ProgramPicture>("online-softmax");
  EXPECT_GT(program.run().largest_error, 0.01);
  program.rewrite(0);
  EXPECT_GT(program.run().largest_error, 0.01);
  program.rewrite(5);
  EXPECT_LT(program.run().largest_error, 1e-12);
  EXPECT_TRUE(program.result().startsWith(at("online-softmax").data().word("mended")));
}

TEST_F(LessonTest, AFactorIsDraggedLockedAndThenCompared) {
  auto& theory = picture<TheoryPicture>("theory");
  ASSERT_GE(theory.lines().size(), 4U);
  FactorLine& line = *theory.lines().front();
  const QPoint there(static_cast<int>(line.place_of(4)), line.height() / 3);
  QTest::mousePress(&line, Qt::LeftButton, {}, there);
  QTest::mouseRelease(&line, Qt::LeftButton, {}, there);
  EXPECT_NEAR(line.factor(), 4, 0.1);
  auto* note = theory.findChild<FrameText*>(QStringLiteral("theory-note"));
  const auto buttons = theory.findChildren<QPushButton*>();
  buttons[0]->click();
  QTest::mousePress(&line, Qt::LeftButton, {}, {5, 5});
  EXPECT_NEAR(line.factor(), 4, 0.1) << "locked";
  EXPECT_FALSE(note->text().contains(at("theory").data().word("modelled")));
  buttons[1]->click();
  EXPECT_TRUE(note->text().contains(at("theory").data().word("modelled"))) << note->text().toStdString();
}

TEST_F(LessonTest, TheLedgersSquaresAreToScale) {
  auto& ledger = picture<LedgerPicture>("ledger");
  const auto pictures = ledger.findChildren<ScaledSquares*>();
  ASSERT_EQ(pictures.size(), 2);
  for (const ScaledSquares* squares : pictures) {
    const auto rects = squares->squares();
    const auto& sizes = squares->sizes();
    for (std::size_t i = 1; i < rects.size(); ++i) {
      if (rects[i].width() <= 1 || rects[0].width() <= 1) continue;
      EXPECT_NEAR(rects[i].width() * rects[i].width() / (rects[0].width() * rects[0].width()),
                  sizes[i].bytes / sizes[0].bytes, 1e-6);
    }
  }
  // 8192 x 8192 in fp16.
  EXPECT_EQ(pictures[0]->sizes()[0].bytes, 134217728);
}

TEST_F(LessonTest, TheHierarchySaysWhereItsFiguresComeFrom) {
  const auto rows = picture<HierarchyPicture>("hierarchy").cells();
  ASSERT_EQ(rows.size(), 6U);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (qsizetype j = 1; j < rows[i].size(); ++j) {
      EXPECT_TRUE(rows[i][j] == at("hierarchy").data().word("no_data") || rows[i][j].contains(QLatin1Char('\n')))
          << rows[i][j].toStdString();
    }
  }
}

/// A GPU whose DRAM gives 1 TB/s after 500 ns and whose L2 4 TB/s after 250 ns.
class FlowingLanes : public ::testing::Test {
 protected:
  FlowingLanes() {
    for (const auto& [key, value] : {std::pair("dram_read", 1e12), std::pair("latency_dram", 500.0),
                                     std::pair("l2_read", 4e12), std::pair("latency_l2", 250.0)}) {
      ceilings_.push_back({.name = key, .value = value, .unit = {}});
    }
    hierarchy_ = lesson::hierarchy_of(attnscope::known_gpus().front(), ceilings_);
    flow_ = lesson::hierarchy_flow(hierarchy_, 100);
  }
  static constexpr std::size_t l2 = 2;
  static constexpr std::size_t dram = 3;
  std::vector<attnscope::Ceiling> ceilings_;
  lesson::Hierarchy hierarchy_;
  lesson::HierarchyFlow flow_;
  Workspace workspace_;
  LessonWindow window_{workspace_, false};
};

TEST_F(FlowingLanes, LoadsMoveAtTheirSpeedAndPipesFill) {
  FlowLanes lanes(window_.data(), hierarchy_, flow_, nullptr);
  lanes.resize(1000, lanes.sizeHint().height());
  // Half of DRAM's latency: one way of the L2.
  const auto half = static_cast<std::size_t>(std::lround(250 / flow_.frame_ns));
  lanes.show_frame(half);
  const double way = lanes.pipe(dram).width();
  EXPECT_NEAR((lanes.waited_for(dram)->x() - lanes.pipe(dram).left()) / way, *flow_.frames[half].trips[dram], 1e-9);
  EXPECT_NEAR(*flow_.frames[half].trips[l2], 2 * *flow_.frames[half].trips[dram], 1e-9);
  EXPECT_FALSE(lanes.waited_for(0)) << "nobody measured a register's latency";
  EXPECT_TRUE(lanes.under_way(0).empty());
  // Cross-sections are as bandwidths.
  EXPECT_NEAR(std::pow(lanes.pipe(l2).height() / lanes.pipe(dram).height(), 2), 4, 1e-6);
  const auto filled = [&](std::size_t lane) {
    double width = 0;
    for (const QRectF& packet : lanes.under_way(lane)) width += packet.width();
    return width / way;
  };
  for (std::size_t load = 0; load < flow_.loads.size(); ++load) {
    for (const std::size_t frame : {std::size_t{0}, half, flow_.frames.size() - 1}) {
      lanes.show_load(load);
      lanes.show_frame(frame);
      EXPECT_NEAR(filled(dram), flow_.loads[load].rungs[dram]->share, 1e-9) << load << ' ' << frame;
      EXPECT_NEAR(filled(l2), flow_.loads[load].rungs[l2]->share, 1e-9) << load << ' ' << frame;
    }
  }
  EXPECT_EQ(lanes.texts(dram), QStringList({QStringLiteral("1 TB/s of 1 TB/s (100%)"),
                                            QStringLiteral("back, one waited for after the other: 1")}));
  lanes.show_load(0);
  EXPECT_EQ(lanes.texts(dram).front(), QStringLiteral("25.6 GB/s of 1 TB/s (3%)"));
  // What is drawn changes with the frame and with the load.
  const QImage last = lanes.grab().toImage();
  lanes.show_frame(half);
  const QImage before = lanes.grab().toImage();
  EXPECT_NE(last, before);
  lanes.show_load(9);
  EXPECT_NE(lanes.grab().toImage(), before);
}

TEST(LessonLetters, GrowWithTheWindow) {
  Workspace workspace;
  LessonWindow window(workspace, false);
  const auto letters = [&](int width, int height) {
    window.resize(width, height);
    window.show();
    QApplication::processEvents();
    return window.page()->font().pointSizeF();
  };
  const double own = letters(1280, 800);
  EXPECT_DOUBLE_EQ(letters(1920, 1080), own);
  EXPECT_DOUBLE_EQ(letters(3840, 2160), 2 * own);
  EXPECT_DOUBLE_EQ(letters(3840, 1080), own);
  EXPECT_DOUBLE_EQ(letters(2560, 1440), 1.25 * own);
}

TEST_F(LessonTest, ClaimsAreForeseenAndCounted) {
  LessonWindow& window = at("claims");
  const auto cards = window.page()->findChildren<ClaimView*>();
  EXPECT_GE(cards.size(), 24);
  ClaimView& first = *cards.front();
  EXPECT_EQ(shown_labels(first, "verdict"), 0);
  for (QRadioButton* choice : first.findChildren<QRadioButton*>()) choice->setChecked(false);
  window.answers().choose(first.id(), first.right());
  first.findChild<QPushButton*>(QStringLiteral("lock"))->click();
  first.findChild<QPushButton*>(QStringLiteral("reveal"))->click();
  EXPECT_EQ(shown_labels(first, "verdict"), 1);
  ASSERT_TRUE(window.show_page(QStringLiteral("results")));
  auto* results = window.findChild<ResultsView*>();
  EXPECT_TRUE(results->text().contains(QStringLiteral("1 %1 %2").arg(window.data().word("of")).arg(cards.size())))
      << results->text().left(300).toStdString();
}

TEST_F(LessonTest, KeysStepTurnAndPresent) {
  LessonWindow& window = at("tiling");
  window.activateWindow();
  Transport& transport = *window.page()->transport();
  QTest::keyClick(&window, Qt::Key_Right);
  QTest::keyClick(&window, Qt::Key_Right);
  QTest::keyClick(&window, Qt::Key_Left);
  EXPECT_EQ(transport.frame(), 1);
  const auto bc = [&] { return window.page()->findChild<QComboBox*>(QStringLiteral("Bc")); };
  bc()->setCurrentIndex(3);
  window.page()->transport()->show_frame(7);
  QTest::keyClick(&window, Qt::Key_F11);
  EXPECT_EQ(window.page()->transport()->frame(), 7) << "going in";
  EXPECT_EQ(bc()->currentIndex(), 3);
  QTest::keyClick(&window, Qt::Key_Escape);
  EXPECT_EQ(window.page()->transport()->frame(), 7) << "coming out";
  EXPECT_EQ(bc()->currentIndex(), 3);
  QTest::keyClick(&window, Qt::Key_Space);
  EXPECT_TRUE(window.page()->transport()->playing());
  QTest::keyClick(&window, Qt::Key_PageDown);
  EXPECT_EQ(window.page_id(), QStringLiteral("theory"));
  QTest::keyClick(&window, Qt::Key_2);
  EXPECT_EQ(window.page_id(), QStringLiteral("hierarchy"));
  const double scale = window.text_scale();
  QTest::keyClick(&window, Qt::Key_F11);
  EXPECT_TRUE(window.presenting());
  EXPECT_GE(window.text_scale(), scale);
  QTest::keyClick(&window, Qt::Key_Escape);
  EXPECT_FALSE(window.presenting());
  EXPECT_DOUBLE_EQ(window.text_scale(), scale);
}

TEST_F(LessonTest, AStepIsShownInTheExplorer) {
  MainWindow main(false);
  main.workspace().open_now(lesson_samples().constFirst());
  LessonWindow& window = main.show_lesson();
  window.show_page(QStringLiteral("tiling"));
  settle();
  window.page()->findChild<QPushButton*>(QStringLiteral("explore"))->click();
  settle();
  EXPECT_TRUE(main.isVisible());
  const auto& explorer = page_of<ExplorerPage>(main);
  EXPECT_TRUE(explorer.isVisible());
  EXPECT_EQ(explorer.chosen().choices.point.spec.algorithm, "fa1");
  EXPECT_EQ(explorer.chosen().choices.point.spec.problem.n_q, 4096);
}

TEST(LessonWithoutPoints, SaysSoInItsPlace) {
  Workspace workspace;
  LessonWindow window(workspace, false);
  window.set_language(QStringLiteral("en"));
  window.show();
  for (const QString& id : lesson_page_ids()) {
    ASSERT_TRUE(window.show_page(id));
    settle();
  }
  ASSERT_TRUE(window.show_page(QStringLiteral("theory")));
  bool said_so = false;
  for (const QLabel* label : window.page()->findChildren<QLabel*>()) {
    said_so = said_so || label->text().contains(window.data().word("no_data"));
  }
  EXPECT_TRUE(said_so);
  EXPECT_EQ(window.page()->findChildren<QuestionCard*>().size(), 0) << "each asks of what was counted";
}

TEST(LessonTextsOfATeacher, AreAddedAndABrokenOneIsNamed) {
  const attnscope::testing::TemporaryFolder home;
  const QByteArray before = qgetenv("XDG_DATA_HOME");
  qputenv("XDG_DATA_HOME", QByteArray::fromStdString(home.path().string()));
  const std::filesystem::path texts = home.path() / "attnscope/lesson/en";
  std::filesystem::create_directories(texts);
  std::ofstream(texts / "step-8-own.md")
      << "---\ntitle: My own\nslug: own\norder: 8\n---\nOf *me*: $\\frac{N^2}{2}$.\n";
  std::ofstream(texts / "step-2-hierarchy.md") << "---\ntitle: broken\n---\n";
  Workspace workspace;
  LessonWindow window(workspace, false);
  window.set_language(QStringLiteral("zh"));
  window.set_language(QStringLiteral("en"));
  EXPECT_TRUE(window.show_page(QStringLiteral("own")));
  EXPECT_FALSE(window.show_page(QStringLiteral("hierarchy")));
  EXPECT_TRUE(window.show_page(QStringLiteral("tiling")));
  EXPECT_TRUE(window.problems().contains(QStringLiteral("en/step-2-hierarchy.md:1: the front matter lacks 'slug'")))
      << window.problems().toStdString();
  qputenv("XDG_DATA_HOME", before);
  if (before.isEmpty()) qunsetenv("XDG_DATA_HOME");
}

TEST(FormulaPicture, StandsInABookWay) {
  const auto parsed = [](const char* text) { return std::move(lesson::parse_formula(text)).value(); };
  const QFont font = QApplication::font();
  const auto size = [&](const char* text) { return FormulaPicture(parsed(text), font).size(); };
  EXPECT_GT(size("\\frac{a}{b}").height(), 1.5 * size("a").height());
  EXPECT_GT(size("\\sqrt{a}").width(), size("a").width());
  EXPECT_GT(size("a^{2}").width(), size("a").width());
  EXPECT_LT(size("a^{2}").width(), size("a2").width() + 2);
  EXPECT_EQ(flat_formula(parsed("N^2")), QStringLiteral("<i>N</i><sup>2</sup>"));
  EXPECT_EQ(flat_formula(parsed("\\frac{a}{b}")), std::nullopt);
  // Something is drawn, and in the ink that is asked for.
  const QImage drawn = FormulaPicture(parsed("\\frac{N^2 d^2}{M}"), font).image(Qt::red, 2);
  int inked = 0;
  for (int y = 0; y < drawn.height(); ++y) {
    for (int x = 0; x < drawn.width(); ++x) inked += drawn.pixelColor(x, y).alpha() > 128 ? 1 : 0;
  }
  EXPECT_GT(inked, 50);
}

}  // namespace
}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QFile>
#include <QTest>

#include "tests/ui/window_test.h"

namespace attnscope::ui {
namespace {

constexpr int patience_ms = 20'000;

class FileWatchTest : public WindowTest {
 protected:
  void open() {
    window.show();
    ASSERT_EQ(window.workspace().open_now(file), QString());
    settle();
    points = window.workspace().visible()->size();
  }
  [[nodiscard]] bool comes_to_show(Row wanted) {
    return QTest::qWaitFor([&] { return window.workspace().visible()->size() == wanted; }, patience_ms);
  }
  [[nodiscard]] bool comes_to_say(const char* words) {
    return QTest::qWaitFor([&] { return window.banner().text().contains(QLatin1String(words)); }, patience_ms);
  }
  MainWindow window{false};
  Row points = 0;
};

TEST_F(FileWatchTest, WhatAnotherProgramAddsIsShown) {
  ASSERT_NO_FATAL_FAILURE(open());
  fixtures::write_at_once(file, {"more", {fixtures::ok_point(fixtures::spec("fa2", 32768))}, false});
  EXPECT_TRUE(comes_to_show(points + 1)) << window.workspace().visible()->size();
}

TEST_F(FileWatchTest, AFileThatGoesIsToldOfAndWhatWasReadStays) {
  ASSERT_NO_FATAL_FAILURE(open());
  const QString away = folder.filePath("away.attnscope");
  ASSERT_TRUE(QFile::rename(file, away));
  EXPECT_TRUE(comes_to_say("no longer in its place")) << window.banner().text().toStdString();
  EXPECT_EQ(window.workspace().visible()->size(), points);
  ASSERT_TRUE(QFile::rename(away, file));
  EXPECT_TRUE(QTest::qWaitFor([&] { return window.banner().text().isEmpty(); }, patience_ms));
}

TEST_F(FileWatchTest, AnotherFileInItsPlaceIsReadAnew) {
  ASSERT_NO_FATAL_FAILURE(open());
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"other", {fixtures::ok_point(fixtures::spec("fa2", 1024))}, false}});
  ASSERT_EQ(std::rename(other.toUtf8().constData(), file.toUtf8().constData()), 0);
  EXPECT_TRUE(comes_to_show(1)) << window.workspace().visible()->size();
  EXPECT_NE(window.banner().text(), QString());
}

TEST_F(FileWatchTest, WordsWrittenOverItAreNoMeasurements) {
  ASSERT_NO_FATAL_FAILURE(open());
  QFile out(file);
  ASSERT_TRUE(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
  out.write("no measurements\n");
  out.close();
  EXPECT_TRUE(comes_to_say("sample.attnscope")) << window.banner().text().toStdString();
  EXPECT_TRUE(QTest::qWaitFor([&] { return window.workspace().files().isEmpty(); }, patience_ms));
}

}  // namespace
}  // namespace attnscope::ui

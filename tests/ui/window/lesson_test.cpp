// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson from the window: a page of what is open there, handed to the browser.
#include <gtest/gtest.h>

#include <QAction>
#include <QDesktopServices>
#include <QFile>
#include <QFileInfo>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <filesystem>
#include <fstream>

#include "messages/window.h"
#include "tests/temporary_folder.h"
#include "tests/ui/window_test.h"
#include "ui/text/qtext.h"
#include "ui/window/lesson.h"

namespace attnscope::ui {
namespace {

/// Takes what would go to a browser.
class Browser : public QTextBrowser {
 public:
  Browser() { QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "setSource"); }
  ~Browser() override { QDesktopServices::unsetUrlHandler(QStringLiteral("file")); }
  QList<QUrl> asked;

 protected:
  void doSetSource(const QUrl& name, QTextDocument::ResourceType /*type*/) override { asked << name; }
};

QString text_of(const QString& file) {
  QFile page(file);
  return page.open(QIODevice::ReadOnly) ? QString::fromUtf8(page.readAll()) : QString();
}

class LessonInTheBrowser : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    EXPECT_EQ(window_.workspace().open_now(file), QString());
  }
  void ask() {
    for (QAction* action : window_.findChildren<QAction*>()) {
      if (action->text() == qtext(say::window::lesson{})) action->trigger();
    }
  }

  MainWindow window_{false};
};

TEST_F(LessonInTheBrowser, IsAPageOfWhatIsOpen) {
  const Browser browser;
  ask();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !browser.asked.empty(); }, 60'000));
  EXPECT_EQ(browser.asked.size(), 1);
  ASSERT_TRUE(browser.asked[0].isLocalFile());
  const QFileInfo page(browser.asked[0].toLocalFile());
  EXPECT_EQ(page.fileName(), "index.html");
  const QString text = text_of(page.filePath());
  EXPECT_TRUE(text.contains("content=\"attnscope lesson\""));
  EXPECT_TRUE(text.contains("sample.attnscope")) << "names what it stands on";
  EXPECT_TRUE(text.contains("data-start=\"\"")) << "where the reader was";
  const QString other = lesson_language() == QLatin1String("en") ? "zh.html" : "en.html";
  EXPECT_TRUE(text.contains(QStringLiteral("href=\"%1\"").arg(other)));
  EXPECT_TRUE(text_of(page.dir().filePath(other)).contains("href=\"index.html\""));
  EXPECT_EQ(window_.banner().text(), QString());
}

TEST_F(LessonInTheBrowser, WithoutABrowserItsPlaceIsSaidAndAnotherOffered) {
  ask();  // the off-screen platform opens nothing
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.banner().text().isEmpty(); }, 60'000));
  EXPECT_TRUE(window_.banner().text().contains("/attnscope/lesson/index.html"))
      << window_.banner().text().toStdString();
  const auto* offered = window_.banner().findChild<QToolButton*>(QStringLiteral("action"));
  EXPECT_FALSE(offered->isHidden());
  EXPECT_EQ(offered->text(), qtext(say::window::save_lesson{}));
}

TEST_F(LessonInTheBrowser, BeginsWhereItIsAskedTo) {
  const QString here = folder.filePath(QStringLiteral("lesson"));
  const LessonPoints points = lesson_points(window_.workspace());
  const LessonFile written =
      write_lesson_file(points, {.page = QStringLiteral("5"), .language = QStringLiteral("zh")}, here);
  EXPECT_EQ(written.error, QString());
  EXPECT_EQ(written.path, here + QStringLiteral("/index.html"));
  const QString text = text_of(written.path);
  EXPECT_TRUE(text.contains("<html lang=\"zh\">"));
  EXPECT_TRUE(text.contains("data-start=\"tiling\""));
  const LessonFile refused = write_lesson_file(points, {.page = {}, .language = QStringLiteral("en")}, file);
  EXPECT_TRUE(refused.error.contains(file)) << "a file is no folder: " << refused.error.toStdString();
}

TEST_F(LessonInTheBrowser, ATeachersOwnTextThatCannotBeReadIsNamed) {
  const attnscope::testing::TemporaryFolder home;
  const QByteArray before = qgetenv("XDG_DATA_HOME");
  qputenv("XDG_DATA_HOME", QByteArray::fromStdString(home.path().string()));
  const std::filesystem::path texts = home.path() / "attnscope/lesson/en";
  std::filesystem::create_directories(texts);
  std::ofstream(texts / "step-2-hierarchy.md") << "---\ntitle: broken\n---\n";
  const LessonFile written = write_lesson_file(lesson_points(window_.workspace()),
                                               {.page = {}, .language = QStringLiteral("en")}, folder.path());
  qputenv("XDG_DATA_HOME", before);
  EXPECT_EQ(written.problems, (QStringList{"en/step-2-hierarchy.md:1: the front matter lacks 'slug'",
                                           "en/step-2-hierarchy.md:1: the front matter lacks 'order'"}));
}

TEST(LessonLanguage, IsTheOneAskedForTheLastTime) {
  remember_lesson_language(QStringLiteral("zh"));
  EXPECT_EQ(LessonRequest().language, "zh");
  remember_lesson_language(QStringLiteral("xx"));
  EXPECT_TRUE(lesson_languages().contains(LessonRequest().language)) << "the lesson has none such";
}

}  // namespace
}  // namespace attnscope::ui

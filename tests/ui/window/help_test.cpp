// SPDX-License-Identifier: GPL-3.0-or-later
// Help in the window: F1, Help > Documentation and all links in it; the lesson opens in the browser.
#include <gtest/gtest.h>

#include <QAction>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileInfo>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextDocument>
#include <QToolButton>
#include <QUrl>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "kernels/model/device_limits.h"
#include "messages/help.h"
#include "messages/window.h"
#include "tests/temporary_folder.h"
#include "tests/ui/window_test.h"
#include "ui/text/qtext.h"
#include "ui/window/help.h"
#include "ui/window/lesson.h"

namespace attnscope::ui {
namespace {

/// First line of a document.
QString first_line(const QTextDocument& document) {
  return document.firstBlock().text();
}
QString first_line(const QString& name) {
  QFile file(QStringLiteral(":/docs/") + name);
  EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << name.toStdString();
  QTextDocument document;
  document.setMarkdown(QString::fromUtf8(file.readAll()));
  return first_line(document);
}

TEST_F(WindowTest, F1OpensTheExplanation) {
  MainWindow window(false);
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->shortcut() == QKeySequence(QKeySequence::HelpContents)) action->trigger();
  }
  const auto* text = window.findChild<QTextBrowser*>(QStringLiteral("document"));
  ASSERT_NE(text, nullptr);
  // The numbers are those of an H200.
  const double m = static_cast<double>(find_gpu("H200")->sram_elements(2));
  EXPECT_EQ(first_line(*text->document()), first_line("explanation.md"));
  const QString plain_text = text->toPlainText();
  for (const QString& figure :
       {QStringLiteral("%L1").arg(m, 0, 'f', 0), QStringLiteral("1/%1").arg(m / 4096, 0, 'f', 0),
        QStringLiteral("1/%1").arg(m / 16384, 0, 'f', 0), QStringLiteral("%1").arg(m / (3 * 4096), 0, 'f', 0),
        QStringLiteral("%1").arg(m / (3 * 16384), 0, 'f', 1)}) {
    const QRegularExpression whole(QStringLiteral("\\b%1\\b").arg(QRegularExpression::escape(figure)));
    EXPECT_TRUE(plain_text.contains(whole)) << figure.toStdString();
  }
}

TEST_F(WindowTest, OpensTheDocumentationAndFollowsLinks) {
  MainWindow window(false);
  window.resize(1280, 800);
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == qtext(msg::window::documentation{})) action->trigger();
  }
  auto* text = window.findChild<QTextBrowser*>(QStringLiteral("document"));
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(first_line(*text->document()), first_line("tutorial.md"));
  EXPECT_FALSE(text->toPlainText().contains("SPDX"));
  const auto* back = text->window()->findChild<QDialogButtonBox*>()->buttons().back();
  EXPECT_FALSE(back->isEnabled());
  text->setSource(QUrl(QStringLiteral("reference.md#metrics")));
  EXPECT_EQ(first_line(*text->document()), first_line("reference.md"));
  EXPECT_TRUE(text->toPlainText().contains("dram__bytes_read.sum"));
  EXPECT_GT(text->verticalScrollBar()->value(), 0) << "at the heading";
  ASSERT_TRUE(back->isEnabled());
  text->backward();
  EXPECT_EQ(first_line(*text->document()), first_line("tutorial.md"));
  EXPECT_FALSE(back->isEnabled());
}

// Each link of each document leads to a document and, if given, to one of its headings.
TEST_F(WindowTest, DocumentLinksAreValid) {
  MainWindow window(false);
  show_document(&window, QStringLiteral("install"));
  auto* text = window.findChild<QTextBrowser*>(QStringLiteral("document"));
  const auto each_format = [&](const auto& visit) {
    for (QTextBlock block = text->document()->begin(); block.isValid(); block = block.next()) {
      for (auto part = block.begin(); !part.atEnd(); ++part) visit(part.fragment().charFormat());
    }
  };
  int links = 0;
  for (const char* topic : {"install", "tutorial", "reference", "explanation", "measurements"}) {
    const QUrl document(QStringLiteral("%1.md").arg(QLatin1String(topic)));
    text->setSource(document);
    std::vector<QUrl> targets;
    each_format([&](const QTextCharFormat& format) {
      if (format.isAnchor() && !format.anchorHref().isEmpty()) targets.push_back(QUrl(format.anchorHref()));
    });
    for (const QUrl& target : targets) {
      if (target.scheme() == "https") continue;
      text->setSource(target.path().isEmpty() ? QUrl(document.path() + target.toString()) : target);
      EXPECT_FALSE(text->document()->isEmpty()) << topic << ": " << target.toString().toStdString();
      bool named = !target.hasFragment();
      each_format([&](const QTextCharFormat& format) { named |= format.anchorNames().contains(target.fragment()); });
      EXPECT_TRUE(named) << topic << ": " << target.toString().toStdString();
      ++links;
    }
  }
  EXPECT_GT(links, 15);
}

QString text_of(const QString& file) {
  QFile page(file);
  return page.open(QIODevice::ReadOnly) ? QString::fromUtf8(page.readAll()) : QString();
}

class BrowserLessonTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    EXPECT_EQ(window_.workspace().open_blocking(file), QString());
  }
  void ask() {
    for (QAction* action : window_.findChildren<QAction*>()) {
      if (action->text() == qtext(msg::window::lesson{})) action->trigger();
    }
  }

  MainWindow window_{false};
};

TEST_F(BrowserLessonTest, ShowsTheOpenFiles) {
  const UrlReceiver browser;
  ask();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !browser.asked.empty(); }, 60'000));
  EXPECT_EQ(browser.asked.size(), 1);
  ASSERT_TRUE(browser.asked[0].isLocalFile());
  const QFileInfo page(browser.asked[0].toLocalFile());
  EXPECT_EQ(page.fileName(), "index.html");
  const QString text = text_of(page.filePath());
  EXPECT_TRUE(text.contains("content=\"attnscope lesson\""));
  EXPECT_TRUE(text.contains("sample.attnscope")) << "the source of its data";
  EXPECT_TRUE(text.contains("data-start=\"\"")) << "no section was requested";
  const QString other = lesson_language() == QLatin1String("en") ? "zh.html" : "en.html";
  EXPECT_TRUE(text.contains(QStringLiteral("href=\"%1\"").arg(other)));
  EXPECT_TRUE(text_of(page.dir().filePath(other)).contains("href=\"index.html\""));
  EXPECT_EQ(window_.banner().text(), QString());
}

TEST_F(BrowserLessonTest, WithoutABrowserShowsThePath) {
  ask();  // The offscreen platform opens no browser.
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_.banner().text().isEmpty(); }, 60'000));
  EXPECT_TRUE(window_.banner().text().contains("/attnscope/lesson/index.html"))
      << window_.banner().text().toStdString();
  const auto* offered = window_.banner().findChild<QToolButton*>(QStringLiteral("action"));
  EXPECT_FALSE(offered->isHidden());
  EXPECT_EQ(offered->text(), qtext(msg::window::save_lesson{}));
}

TEST_F(BrowserLessonTest, StartsAtTheRequestedSection) {
  const QString here = folder.filePath(QStringLiteral("lesson"));
  const LessonData points = collect_lesson_data(window_.workspace());
  const LessonFile written =
      write_lesson_file(points, {.page = QStringLiteral("5"), .language = QStringLiteral("zh"), .folder = here});
  EXPECT_EQ(written.error, QString());
  EXPECT_EQ(written.path, here + QStringLiteral("/index.html"));
  const QString text = text_of(written.path);
  EXPECT_TRUE(text.contains("<html lang=\"zh\">"));
  EXPECT_TRUE(text.contains("data-start=\"tiling\""));
  const LessonFile refused = write_lesson_file(points, {.page = {}, .language = QStringLiteral("en"), .folder = file});
  EXPECT_TRUE(refused.error.contains(file)) << "not a folder: " << refused.error.toStdString();
}

TEST_F(BrowserLessonTest, ReportsAnUnreadableTeacherText) {
  const attnscope::testing::TemporaryFolder home;
  const QByteArray before = qgetenv("XDG_DATA_HOME");
  qputenv("XDG_DATA_HOME", QByteArray::fromStdString(home.path().string()));
  const std::filesystem::path texts = home.path() / "attnscope/lesson/screens";
  std::filesystem::create_directories(texts);
  std::ofstream(texts / "size.json") << R"({"title": "broken", "colour": 1})";
  const LessonFile written = write_lesson_file(collect_lesson_data(window_.workspace()),
                                               {.page = {}, .language = QStringLiteral("en"), .folder = folder.path()});
  qputenv("XDG_DATA_HOME", before);
  ASSERT_EQ(written.problems.size(), 2);
  for (const auto& [index, key] : {std::pair(0, "\"steps\""), std::pair(1, "\"colour\"")}) {
    EXPECT_TRUE(written.problems[index].startsWith("screens/size.json: ")) << key;
    EXPECT_TRUE(written.problems[index].contains(key)) << key;
  }
}

TEST(LessonLanguage, UsesTheLastRequestedLanguage) {
  remember_lesson_language(QStringLiteral("zh"));
  EXPECT_EQ(LessonRequest().language, "zh");
  remember_lesson_language(QStringLiteral("xx"));
  EXPECT_TRUE(lesson_languages().contains(LessonRequest().language)) << "the lesson has no such language";
}

}  // namespace
}  // namespace attnscope::ui

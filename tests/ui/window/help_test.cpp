// SPDX-License-Identifier: GPL-3.0-or-later
// The window's documents: F1, Help > Documentation, and that every link in them leads somewhere.
#include <gtest/gtest.h>

#include <QAction>
#include <QDialogButtonBox>
#include <QPushButton>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <vector>

#include "kernels/model/device_limits.h"
#include "messages/help.h"
#include "messages/window.h"
#include "tests/ui/window_test.h"
#include "ui/text/qtext.h"
#include "ui/window/help.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, F1ExplainsWhyTilesWin) {
  MainWindow window(false);
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->shortcut() == QKeySequence(QKeySequence::HelpContents)) action->trigger();
  }
  const auto* text = window.findChild<QTextBrowser*>(QStringLiteral("document"));
  ASSERT_NE(text, nullptr);
  // Its figures are those of an H200.
  const double m = static_cast<double>(find_gpu("H200")->sram_elements(2));
  const QString said = text->toPlainText();
  for (const QString& figure :
       {QStringLiteral("%L1").arg(m, 0, 'f', 0), QStringLiteral("1/%1 for d 64").arg(m / 4096, 0, 'f', 0),
        QStringLiteral("1/%1 for d 128").arg(m / 16384, 0, 'f', 0),
        QStringLiteral("%1 times less for d 64").arg(m / (3 * 4096), 0, 'f', 0),
        QStringLiteral("%1 times for d 128").arg(m / (3 * 16384), 0, 'f', 1)}) {
    EXPECT_TRUE(said.contains(figure)) << figure.toStdString();
  }
  for (const char* heading : {"The backward pass", "Decoding"}) EXPECT_TRUE(said.contains(heading)) << heading;
}

TEST_F(WindowTest, DocumentationOpensTheDocumentsAndTheirLinksLeadOn) {
  MainWindow window(false);
  window.resize(1280, 800);
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == qtext(say::window::documentation{})) action->trigger();
  }
  auto* text = window.findChild<QTextBrowser*>(QStringLiteral("document"));
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->document()->firstBlock().text(), "Tutorial: three walks of ten minutes");
  EXPECT_FALSE(text->toPlainText().contains("SPDX"));
  const auto* back = text->window()->findChild<QDialogButtonBox*>()->buttons().back();
  EXPECT_FALSE(back->isEnabled());
  text->setSource(QUrl(QStringLiteral("reference.md#metrics")));
  EXPECT_EQ(text->document()->firstBlock().text(), "Reference");
  EXPECT_TRUE(text->toPlainText().contains("dram__bytes_read.sum"));
  EXPECT_GT(text->verticalScrollBar()->value(), 0) << "at the heading";
  ASSERT_TRUE(back->isEnabled());
  text->backward();
  EXPECT_EQ(text->document()->firstBlock().text(), "Tutorial: three walks of ten minutes");
  EXPECT_FALSE(back->isEnabled());
}

// Every link of every document leads to a document and, where it names one, to a heading of it.
TEST_F(WindowTest, TheDocumentsLinksLeadSomewhere) {
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

}  // namespace
}  // namespace attnscope::ui

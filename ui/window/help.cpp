// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/help.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QMessageBox>
#include <QPushButton>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextDocument>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "messages/help.h"
#include "messages/language.h"
#include "profiler/measure/device.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

/// Returns the anchor of a heading: lowercase letters and digits, hyphens for spaces.
QString anchor_of(const QString& heading) {
  QString anchor;
  for (const QChar c : heading.toLower()) {
    if (c.isLetterOrNumber() || c == u'-' || c == u'_') anchor += c;
    if (c == u' ') anchor += u'-';
  }
  return anchor;
}

/// Qt's Markdown import does not create anchors for headings.
void add_heading_anchors(QTextDocument* document) {
  QTextCursor cursor(document);
  for (QTextBlock block = document->begin(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() == 0) continue;
    QTextCharFormat format;
    format.setAnchor(true);
    format.setAnchorNames({anchor_of(block.text())});
    cursor.setPosition(block.position());
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    cursor.mergeCharFormat(format);
  }
}

/// Text browser that parses a document before showing it, because QTextBrowser lays it out again for each fragment.
/// Keeps its own history therefore.
class DocumentView : public QTextBrowser {
 public:
  using QTextBrowser::QTextBrowser;

  void backward() override {
    if (visited_.size() < 2) return;
    visited_.pop_back();
    show_last();
  }

 protected:
  void doSetSource(const QUrl& name, QTextDocument::ResourceType /*type*/) override {
    QUrl target = name;
    if (name.path().isEmpty() && !visited_.empty()) target.setPath(visited_.back().path());
    visited_.push_back(target);
    show_last();
  }

 private:
  void show_last() {
    const QUrl& target = visited_.back();
    QFile file(QStringLiteral(":/docs/") + target.fileName());
    QString translated = file.fileName();
    // inserts the language before "md"
    translated.insert(translated.size() - 2, qtext(msg::language::code{}) + QLatin1Char('.'));
    if (QFile::exists(translated)) file.setFileName(translated);
    auto* read = new QTextDocument(this);
    if (file.open(QIODevice::ReadOnly)) read->setMarkdown(QString::fromUtf8(file.readAll()));
    add_heading_anchors(read);
    read->setDocumentMargin(10);
    setDocument(read);  // deletes the initial empty document
    delete std::exchange(read_, read);
    if (target.hasFragment()) scrollToAnchor(target.fragment());
    emit backwardAvailable(visited_.size() > 1);
  }

  std::vector<QUrl> visited_;
  QTextDocument* read_ = nullptr;
};

}  // namespace

void show_document(QWidget* window, const QString& topic, const QString& heading) {
  auto* dialog = new QDialog(window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(qtext(msg::help::document{}));
  auto* text = new DocumentView(dialog);
  text->setObjectName(QStringLiteral("document"));
  text->setFrameShape(QFrame::NoFrame);
  text->setOpenExternalLinks(true);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  auto* back = buttons->addButton(qtext(msg::help::back{}), QDialogButtonBox::ActionRole);
  QObject::connect(back, &QPushButton::clicked, text, &QTextBrowser::backward);
  QObject::connect(text, &QTextBrowser::backwardAvailable, back, &QPushButton::setEnabled);
  text->setSource(QUrl(topic + QStringLiteral(".md")));
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(text);
  column->addWidget(buttons);
  dialog->resize(QSize(760, 640).boundedTo(window->size()));
  dialog->show();
  if (!heading.isEmpty()) text->scrollToAnchor(heading);  // needs the layout of the shown dialog
}

void show_shortcuts(QWidget* window, const std::vector<std::pair<QString, QString>>& keys) {
  auto* dialog = new QDialog(window);
  dialog->setObjectName(QStringLiteral("shortcuts"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(qtext(msg::help::shortcuts{}));
  auto* text = new QTextBrowser(dialog);
  text->setFrameShape(QFrame::NoFrame);
  text->setAccessibleName(dialog->windowTitle());
  // Two columns, because one would be too high for small screens.
  const std::size_t half = (keys.size() + 1) / 2;
  QString rows;
  const auto cells = [&](std::size_t place) {
    if (place >= keys.size()) return QString();
    return QStringLiteral("<td style='padding-right:10px'><b>%1</b></td><td style='padding-right:18px'>%2</td>")
        .arg(keys[place].first.toHtmlEscaped(), keys[place].second.toHtmlEscaped());
  };
  for (std::size_t i = 0; i < half; ++i) {
    rows += QStringLiteral("<tr>%1</tr>").arg(cells(i) + cells(half + i));
  }
  text->setHtml(QStringLiteral("<table cellpadding='1'>%1</table>").arg(rows));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(8, 8, 8, 8);
  column->addWidget(text);
  column->addWidget(buttons);
  constexpr QSize small_screen(1000, 560);  // 1024x600 without title bar
  text->document()->setTextWidth(small_screen.width() - 40);
  const int height = static_cast<int>(text->document()->size().height()) + buttons->sizeHint().height() + 40;
  dialog->resize(small_screen.width(), std::min(height, small_screen.height()));
  dialog->open();
}

void show_about(QWidget* window) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, qtext(msg::help::about{}), {}, QMessageBox::Ok, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::RichText);
  box->setIconPixmap(window->windowIcon().pixmap(64, 64));
  box->setText(QStringLiteral("<h3>Attnscope %1</h3><p>%2</p><p>%3</p>")
                   .arg(QString::fromLatin1(program_version()), qtext(msg::help::purpose{}).toHtmlEscaped(),
                        qtext(msg::help::licence{.version = qVersion()}).toHtmlEscaped()));
  box->open();
}

}  // namespace attnscope::ui

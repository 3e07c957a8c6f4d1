// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "messages/help.h"
#include "ui/said.h"

namespace attnscope::ui {

void show_explanation(QWidget* window) {
  auto* dialog = new QDialog(window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(said(say::help::explanation{}));
  auto* text = new QTextBrowser(dialog);
  text->setObjectName(QStringLiteral("explanation"));
  text->setFrameShape(QFrame::NoFrame);
  text->document()->setDocumentMargin(10);
  QFile page(QStringLiteral(":/help/explanation.html"));
  if (page.open(QIODevice::ReadOnly)) text->setHtml(QString::fromUtf8(page.readAll()));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(text);
  column->addWidget(buttons);
  dialog->resize(QSize(660, 640).boundedTo(window->size()));
  dialog->show();
}

void show_shortcuts(QWidget* window, const std::vector<std::pair<QString, QString>>& keys) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, said(say::help::shortcuts{}), {}, QMessageBox::Close, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::RichText);
  QString rows;
  for (const auto& [key, meaning] : keys) {
    rows += QStringLiteral("<tr><td style='padding-right:18px'><b>%1</b></td><td>%2</td></tr>")
                .arg(key.toHtmlEscaped(), meaning.toHtmlEscaped());
  }
  box->setText(QStringLiteral("<table cellpadding='3'>%1</table>").arg(rows));
  box->open();
}

void show_about(QWidget* window) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, said(say::help::about{}), {}, QMessageBox::Ok, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::RichText);
  box->setIconPixmap(window->windowIcon().pixmap(64, 64));
  box->setText(QStringLiteral("<h3>Attnscope %1</h3><p>%2</p><p>%3</p>")
                   .arg(QStringLiteral(ATTNSCOPE_VERSION), said(say::help::purpose{}).toHtmlEscaped(),
                        said(say::help::licence{.version = qVersion()}).toHtmlEscaped()));
  box->open();
}

}  // namespace attnscope::ui

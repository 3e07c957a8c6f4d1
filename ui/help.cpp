// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help.h"

#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace attnscope::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("Help", text);
}

}  // namespace

void show_explanation(QWidget* window) {
  auto* dialog = new QDialog(window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("What am I looking at?"));
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
  auto* box = new QMessageBox(QMessageBox::NoIcon, tr("Keyboard shortcuts"), {}, QMessageBox::Close, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::RichText);
  QString rows;
  for (const auto& [key, meaning] : keys) {
    rows += QStringLiteral("<tr><td style='padding-right:18px'><b>%1</b></td><td>%2</td></tr>").arg(key, meaning);
  }
  box->setText(QStringLiteral("<table cellpadding='3'>%1</table>").arg(rows));
  box->open();
}

void show_about(QWidget* window) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, tr("About Attnscope"), {}, QMessageBox::Ok, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::RichText);
  box->setIconPixmap(window->windowIcon().pixmap(64, 64));
  box->setText(
      tr("<h3>Attnscope %1</h3><p>Shows what attention kernels do to GPU memory, beside what theory says they must "
         "do.</p><p>The window is free software under the GNU General Public License, version 3 or later; the "
         "kernels, the profiler and the command line are under the Apache License 2.0. Drawn with QCustomPlot and "
         "Qt %2.</p>")
          .arg(QStringLiteral(ATTNSCOPE_VERSION), QString::fromLatin1(qVersion())));
  box->open();
}

}  // namespace attnscope::ui

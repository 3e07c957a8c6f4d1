// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/run_words_menu.h"

#include <QInputDialog>
#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "messages/run_list.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

QString without_ellipsis(const Message& label) {
  return qtext(label).remove(QLatin1Char('&')).remove(QStringLiteral("…"));
}

/// `--name=TEXT`, in one word, so that a text may begin with a dash; `--no-name` for none.
QStringList words_for(const QString& option, const QString& before, const QString& text) {
  if (text == before) return {};
  if (text.isEmpty()) return {QStringLiteral("--no-") + option};
  return {QStringLiteral("--%1=%2").arg(option, text)};
}

}  // namespace

QStringList words_for_tags(const std::vector<std::string>& before, const QString& line) {
  static const QRegularExpression between(QStringLiteral("[\\s,]+"));
  QStringList had;
  for (const std::string& tag : before) had << QString::fromStdString(tag);
  const QStringList wanted = line.split(between, Qt::SkipEmptyParts);
  QStringList words;
  for (const QString& tag : wanted) {
    if (!had.contains(tag)) words << QStringLiteral("--tag=") + tag;
  }
  for (const QString& tag : had) {
    if (!wanted.contains(tag)) words << QStringLiteral("--untag=") + tag;
  }
  return words;
}

QStringList words_back(const QStringList& words, const RunWords& before) {
  const auto as_before = [](const QString& option, const std::string& text) {
    if (text.empty()) return QStringLiteral("--no-") + option;
    return QStringLiteral("--%1=%2").arg(option, QString::fromStdString(text));
  };
  QStringList back;
  for (const QString& word : words) {
    const QString option = word.section(QLatin1Char('='), 0, 0);
    const QString value = word.section(QLatin1Char('='), 1);
    if (option == QLatin1String("--run")) back << word;
    if (option == QLatin1String("--name") || option == QLatin1String("--no-name")) {
      back << as_before(QStringLiteral("name"), before.name);
    }
    if (option == QLatin1String("--note") || option == QLatin1String("--no-note")) {
      back << as_before(QStringLiteral("note"), before.note);
    }
    if (option == QLatin1String("--tag")) back << QStringLiteral("--untag=") + value;
    if (option == QLatin1String("--untag")) back << QStringLiteral("--tag=") + value;
    if (option == QLatin1String("--hide")) back << QStringLiteral("--show");
    if (option == QLatin1String("--show")) back << QStringLiteral("--hide");
    if (option == QLatin1String("--delete")) back << QStringLiteral("--restore");
  }
  return back;
}

void add_run_words(QMenu& menu, const RunSummary& run, std::function<void(const QStringList&)> edit) {
  QWidget* parent = menu.parentWidget();
  const auto change = [run = QStringLiteral("--run=%1").arg(run.id), edit = std::move(edit)](const QStringList& words) {
    if (!words.isEmpty()) edit(QStringList{run} + words);
  };
  menu.addAction(qtext(say::run_list::rename{}), parent, [parent, change, name = run.words.name] {
    bool said = false;
    const QString before = QString::fromStdString(name);
    const QString now = QInputDialog::getText(parent, without_ellipsis(say::run_list::rename{}),
                                              qtext(say::run_list::name_of_run{}), QLineEdit::Normal, before, &said);
    if (said) change(words_for(QStringLiteral("name"), before, now.trimmed()));
  });
  menu.addAction(qtext(say::run_list::tags{}), parent, [parent, change, tags = run.words.tags] {
    bool said = false;
    QStringList before;
    for (const std::string& tag : tags) before << QString::fromStdString(tag);
    const QString now =
        QInputDialog::getText(parent, without_ellipsis(say::run_list::tags{}), qtext(say::run_list::tags_of_run{}),
                              QLineEdit::Normal, before.join(QLatin1Char(' ')), &said);
    if (said) change(words_for_tags(tags, now));
  });
  menu.addAction(qtext(say::run_list::note{}), parent, [parent, change, note = run.words.note] {
    bool said = false;
    const QString before = QString::fromStdString(note);
    const QString now = QInputDialog::getMultiLineText(parent, without_ellipsis(say::run_list::note{}),
                                                       qtext(say::run_list::note_of_run{}), before, &said);
    if (said) change(words_for(QStringLiteral("note"), before, now.trimmed()));
  });
  if (run.words.hidden) {
    menu.addAction(qtext(say::run_list::unhide{}), parent, [change] { change({QStringLiteral("--show")}); });
  } else {
    menu.addAction(qtext(say::run_list::hide{}), parent, [change] { change({QStringLiteral("--hide")}); });
  }
  menu.addAction(qtext(say::run_list::remove{}), parent, [change] { change({QStringLiteral("--delete")}); });
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/application.h"

#include <QActionGroup>
#include <QApplication>
#include <QFontMetrics>
#include <QLibraryInfo>
#include <QLocale>
#include <QMenu>
#include <QPointer>
#include <QSettings>
#include <QTranslator>
#include <algorithm>
#include <exception>
#include <new>

#include "messages/embedded.h"
#include "messages/language.h"
#include "messages/window.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

bool Application::notify(QObject* receiver, QEvent* event) {
  if (!report_) return QApplication::notify(receiver, event);
  try {
    return QApplication::notify(receiver, event);
  } catch (const std::bad_alloc&) {
    report_(QStringLiteral("Out of host memory (close open files or other programs)"));
  } catch (const std::exception& error) {
    report_(QString::fromUtf8(error.what()));
  }
  return false;
}

namespace {

QString chosen_language_key() {
  return QStringLiteral("window/language");
}

QString own_name(std::string_view language) {
  const auto catalog = Catalog::parse(embedded_messages(language));
  return catalog ? to_qstring(catalog->text(msg::language::own_name{})) : to_qstring(language);
}

}  // namespace

QString remembered_language() {
  return QSettings().value(chosen_language_key()).toString();
}

void add_language_menu(QMenu& view, bool remember, std::function<void()> changed) {
  QMenu* menu = view.addMenu(qtext(msg::window::language{}));
  auto* choices = new QActionGroup(menu);
  const QString chosen = remember ? remembered_language() : QString();
  const auto add = [&](const QString& language, const QString& name) {
    QAction* action = menu->addAction(name, menu, [remember, language, changed] {
      if (remember) QSettings().setValue(chosen_language_key(), language);
      if (language != qtext(msg::language::code{})) changed();
    });
    action->setCheckable(true);
    action->setChecked(language == chosen);
    choices->addAction(action);
  };
  add({}, qtext(msg::window::system_language{}));
  for (const std::string_view language : message_languages()) add(to_qstring(language), own_name(language));
}

bool can_display_language() {
  const QFontMetrics metrics(QApplication::font());
  const QList<uint> characters = qtext(msg::language::own_name{}).toUcs4();
  return std::ranges::all_of(characters, [&](uint each) { return metrics.inFontUcs4(each); });
}

void translate_qt() {
  static QPointer<QTranslator> translator;
  delete translator;  // translates to the previous language
  translator = new QTranslator(QCoreApplication::instance());
  if (translator->load(QLocale(qtext(msg::language::code{})), QStringLiteral("qtbase"), QStringLiteral("_"),
                       QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
    QCoreApplication::installTranslator(translator);
  }
}

}  // namespace attnscope::ui

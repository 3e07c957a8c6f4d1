// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/source_note.h"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>

#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

QString device_words(const RunSummary& run) {
  QString name = device_title(run);
  if (run.provenance == Provenance::measured) return name;
  const QString origin = to_qstring(run.provenance);
  return name.isEmpty() ? origin : QStringLiteral("%1 %2").arg(origin, name);
}

QString day_of(const std::string& iso) {
  const QDateTime time = QDateTime::fromString(QString::fromStdString(iso), Qt::ISODate);
  return time.isValid() ? time.toLocalTime().date().toString(Qt::ISODate) : QString::fromStdString(iso);
}

QString first_few(const QStringList& words) {
  constexpr qsizetype most = 3;
  QString text = words.mid(0, most).join(QStringLiteral(", "));
  if (words.size() > most) text += QStringLiteral(", …");
  return text;
}

}  // namespace

QString source_note(const std::vector<RunPtr>& runs) {
  QStringList devices;
  QStringList days;
  QStringList files;
  for (const RunPtr& run : runs) {
    devices << device_words(run->summary);
    days << day_of(run->summary.started_at);
    files << one_line(QFileInfo(run->file).fileName());
  }
  devices.removeDuplicates();
  files.removeDuplicates();
  days.removeDuplicates();
  days.sort();
  const QString when = days.size() < 2 ? days.value(0) : days.first() + QStringLiteral(" – ") + days.last();
  QStringList parts{first_few(devices), when, first_few(files)};
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

}  // namespace attnscope::ui

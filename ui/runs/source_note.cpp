// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/source_note.h"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>

#include "profiler/measure/host_environment.h"
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

QString joined(QStringList parts) {
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

QString first_few(const QStringList& words) {
  constexpr qsizetype most = 3;
  QString text = words.mid(0, most).join(QStringLiteral(", "));
  if (words.size() > most) text += QStringLiteral(", …");
  return text;
}

}  // namespace

SourceParts source_parts(const std::vector<RunPtr>& runs) {
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
  return {first_few(devices), when, first_few(files)};
}

QString footer_words(const std::vector<RunPtr>& runs, const QString& note) {
  QStringList parts;
  for (const RunPtr& run : runs) parts << to_qstring(run->summary.provenance);
  parts.removeDuplicates();
  parts << source_parts(runs).files << QStringLiteral("Attnscope ") + QLatin1String(program_version()) << note;
  return joined(parts);
}

QString source_note(const std::vector<RunPtr>& runs) {
  const SourceParts parts = source_parts(runs);
  return joined({parts.devices, parts.days, parts.files});
}

}  // namespace attnscope::ui

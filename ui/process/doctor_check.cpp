// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/doctor_check.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "messages/collect_panel.h"
#include "ui/process/collector_process.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr qsizetype most_bytes = 1 << 20;  ///< of what a program says: findings are a few

}  // namespace

void DoctorCheck::look(const QString& gpu) {
  stop();
  process_ = std::make_unique<QProcess>();
  connect(process_.get(), &QProcess::finished, this, &DoctorCheck::read);
  const auto not_started = [this] {
    if (process_ != nullptr && process_->error() == QProcess::FailedToStart) read();
  };
  connect(process_.get(), &QProcess::errorOccurred, this, not_started, Qt::QueuedConnection);
  QStringList words{QStringLiteral("doctor"), QStringLiteral("--json"), QStringLiteral("--device"), gpu};
  process_->start(find_collector(), words + words_for_language());
}

void DoctorCheck::stop() {
  if (process_ == nullptr) return;
  process_->disconnect(this);
  process_->kill();
  process_->waitForFinished(1000);
  process_.reset();
}

void DoctorCheck::finish() {
  constexpr int patience_ms = 30'000;
  if (process_ != nullptr) process_->waitForFinished(patience_ms);
}

void DoctorCheck::read() {
  if (process_ == nullptr) return;
  QProcess* const ended = process_.release();  // which is telling it
  ended->deleteLater();
  if (ended->error() == QProcess::FailedToStart) return emit failed(qtext(say::collect_panel::no_collector{}));
  std::vector<Finding> findings;
  const bool well = ended->exitStatus() == QProcess::NormalExit && ended->exitCode() == 0;
  const QByteArray output = ended->readAllStandardOutput();
  const QJsonArray rows =
      QJsonDocument::fromJson(well && output.size() < most_bytes ? output : QByteArray())[QLatin1String("rows")]
          .toArray();
  for (const auto& row : rows) {
    const auto word = [&](const char* key) { return row[QLatin1String(key)].toString(); };
    findings.push_back({.item = word("item"),
                        .status = word("status"),
                        .detail = word("detail"),
                        .fix = word("fix"),
                        .command = word("command"),
                        .still_works = word("still_works")});
  }
  if (!findings.empty()) return emit found(findings);
  const QString said = QString::fromUtf8(ended->readAllStandardError().trimmed());
  emit failed(said.isEmpty() ? qtext(say::collect_panel::ended_with_code{.code = ended->exitCode()})
                             : said.mid(said.lastIndexOf(QLatin1Char('\n')) + 1));
}

}  // namespace attnscope::ui

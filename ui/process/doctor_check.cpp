// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/doctor_check.h"

#include <QJsonArray>
#include <algorithm>

#include "messages/doctor_page.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr qsizetype most_findings = 100;
constexpr qsizetype longest_word = 4000;  ///< characters: a label of more blocks the window

}  // namespace

DoctorCheck::DoctorCheck(QObject* parent) : QObject(parent) {
  connect(&program_, &JsonProgram::ended, this, &DoctorCheck::read);
}

void DoctorCheck::look(const QString& gpu) {
  program_.start({QStringLiteral("doctor"), QStringLiteral("--json"), QStringLiteral("--device"), gpu});
}

void DoctorCheck::read(const QJsonObject& said, const QString& why) {
  if (!why.isEmpty()) return emit failed(why.left(longest_word));
  const QJsonArray rows = said[QLatin1String("rows")].toArray();
  if (rows.isEmpty() || rows.size() > most_findings) return emit failed(qtext(say::doctor_page::not_understood{}));
  std::vector<Finding> findings;
  for (const auto& row : rows) {
    const auto word = [&](const char* key) { return row[QLatin1String(key)].toString().left(longest_word); };
    findings.push_back({.item = word("item"),
                        .title = word("title"),
                        .status = word("status"),
                        .detail = word("detail"),
                        .fix = word("fix"),
                        .command = word("command"),
                        .still_works = word("still_works")});
  }
  emit found(findings);
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/kernel_build.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QRegularExpression>
#include <QStringList>
#include <utility>

#include "profiler/plan/command_text.h"

namespace attnscope::ui {
namespace {

BuildReport report_of(const QJsonObject& json) {
  const auto number = [&](const char* name) { return json[QLatin1String(name)].toInteger(); };
  BuildReport report;
  report.compiled = json[QLatin1String("registers")].isDouble();
  report.kernel = json[QLatin1String("kernel")].toString().toStdString();
  report.registers = static_cast<int>(number("registers"));
  report.static_shared_bytes = number("static_shared_bytes");
  report.dynamic_shared_bytes = number("dynamic_shared_bytes");
  report.local_bytes = number("local_bytes");
  report.spill_store_bytes = number("spill_store_bytes");
  report.spill_load_bytes = number("spill_load_bytes");
  report.error = Message::verbatim(json[QLatin1String("error")].toString().toStdString());
  return report;
}

}  // namespace

std::vector<CompilerMessage> compiler_messages(const QString& log, const QDir& folder) {
  static const QRegularExpression head(QStringLiteral(R"(^(.+?)\((\d+)\): (.+)$)"));
  static const QRegularExpression carets(QStringLiteral(R"(^\s*[\^~]+\s*$)"));
  std::vector<CompilerMessage> messages;
  QStringList below;  // the indented lines after a message's first; others are remarks and counts
  const auto end_message = [&] {
    if (!messages.empty() && !below.isEmpty()) messages.back().text += QLatin1Char(' ') + below.join(QLatin1Char(' '));
    below.clear();
  };
  const QStringList lines = log.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  for (const QString& line : lines) {
    if (const auto found = head.match(line); found.hasMatch()) {
      end_message();
      const QString within = folder.relativeFilePath(found.captured(1));
      const QString& file = within.startsWith(QLatin1String("..")) ? found.captured(1) : within;
      messages.push_back({file + QLatin1Char(':') + found.captured(2), found.captured(3).trimmed()});
    } else if (carets.match(line).hasMatch()) {
      if (!below.isEmpty()) below.removeLast();  // the line that they point into
    } else if (!messages.empty() && line.front().isSpace() && !line.trimmed().isEmpty()) {
      below << line.trimmed();
    }
  }
  end_message();
  if (!messages.empty()) return messages;
  for (const QString& line : lines) messages.push_back({.place = {}, .text = line.trimmed()});
  return messages;
}

KernelBuild::KernelBuild(QObject* parent) : QObject(parent) {
  connect(&program_, &JsonProgram::ended, this, &KernelBuild::read);
}

void KernelBuild::start(const PointSpec& spec, const QString& arch, const QString& gpu) {
  QStringList words{QStringLiteral("kernels"), QStringLiteral("build"), QStringLiteral("--json"),
                    QStringLiteral("--arch"), arch};
  if (!gpu.isEmpty()) words << QStringLiteral("--gpu") << gpu;
  for (const std::string& axis : axis_texts(spec)) words << QStringLiteral("-a") << QString::fromStdString(axis);
  program_.start(words);  // which kernels there are, it is told as this process was
}

void KernelBuild::read(const QJsonObject& said, const QString& why) {
  std::vector<BuildReport> kernels;
  for (const auto& row : said[QLatin1String("rows")].toArray()) kernels.push_back(report_of(row.toObject()));
  // Sources that do not compile are a failure too, of which each kernel says its part.
  kernels.empty() ? emit failed(why) : emit built(kernels);
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/simulation_errors.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QStandardPaths>
#include <algorithm>
#include <csignal>
#include <utility>

#include "messages/collect_panel.h"
#include "messages/prediction.h"
#include "profiler/analysis/prediction_error.h"
#include "ui/process/collector_process.h"
#include "ui/runs/samples.h"
#include "ui/runs/workspace.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Answers of other programs and samples: the last ones stay.
constexpr qsizetype most_kept = 8;
constexpr int below_the_window = 10;

QDir cache_folder() {
  return QDir(QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) +
              QStringLiteral("/attnscope/predictions"));
}

/// Of the bytes of these files; empty where one cannot be read.
QString digest_of(const QStringList& files) {
  QCryptographicHash hash(QCryptographicHash::Blake2b_256);
  for (const QString& name : files) {
    QFile file(name);
    if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file)) return {};
  }
  return QString::fromLatin1(hash.result().toHex());
}

QByteArray read_whole(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Not kept where that fails: it is computed again the next time.
void keep(const QString& path, const QByteArray& answer) {
  const QDir folder = QFileInfo(path).absoluteDir();
  if (!folder.mkpath(QStringLiteral("."))) return;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(answer) != answer.size() || !file.commit()) return;
  const QFileInfoList all = folder.entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time);
  for (qsizetype i = most_kept; i < all.size(); ++i) QFile::remove(all[i].absoluteFilePath());
}

std::optional<double> number(const QJsonObject& row, const char* name) {
  const QJsonValue value = row[QLatin1String(name)];
  return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
}

QString last_line(const QByteArray& text) {
  const QList<QByteArray> lines = text.split('\n');
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->trimmed().isEmpty()) return QString::fromUtf8(line->trimmed());
  }
  return {};
}

}  // namespace

const PredictionRow* PredictionTable::figures(const QString& algorithm, const QString& pass,
                                              const QString& quantity) const {
  for (const analysis::Half half : {analysis::Half::held_out, analysis::Half::fitted}) {
    const QString word = to_qstring(to_string(half));
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const PredictionRow& each) {
      return each.algorithm == algorithm && each.pass == pass && each.quantity == quantity && each.half == word;
    });
    if (row != rows.end() && row->median) return &*row;
  }
  return nullptr;
}

std::optional<PredictionTable> parse_prediction_table(const QByteArray& json) {
  const QJsonDocument document = QJsonDocument::fromJson(json);
  if (!document.isArray() || document.array().isEmpty()) return {};
  PredictionTable table;
  for (const auto& each : document.array()) {
    const QJsonObject object = each.toObject();
    const auto word = [&object](const char* name) { return object[QLatin1String(name)].toString(); };
    PredictionRow row{.algorithm = word("algorithm"),
                      .pass = word("pass"),
                      .half = word("half"),
                      .quantity = word("quantity"),
                      .problem = word("problem"),
                      .points = object[QStringLiteral("points")].toInteger(),
                      .problems = object[QStringLiteral("problems")].toInteger(),
                      .median = number(object, "median_error"),
                      .p95 = number(object, "p95_error"),
                      .worst_factor = number(object, "worst_factor"),
                      .ratio = number(object, "median_ratio"),
                      .spearman = number(object, "spearman"),
                      .chosen_over = number(object, "chosen_over_fastest")};
    if (row.algorithm.isEmpty() || row.quantity.isEmpty()) return {};
    table.rows.push_back(std::move(row));
    table.devices << word("devices").split(QStringLiteral(", "), Qt::SkipEmptyParts);
  }
  table.devices.removeDuplicates();
  return table;
}

SimulationErrors::SimulationErrors(QObject* parent) : QObject(parent) {
  // It has all processors, and the window goes first; a window that is killed has no time to end it.
  process_.setChildProcessModifier([] {
    (void)::nice(below_the_window);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  });
  connect(&process_, &QProcess::finished, this, &SimulationErrors::process_ended);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) set_unknown(process_.errorString());
  });
}

SimulationErrors::~SimulationErrors() {
  disconnect(&process_, nullptr, this, nullptr);
  if (process_.state() == QProcess::NotRunning) return;
  process_.kill();
  process_.waitForFinished(1000);
}

void SimulationErrors::want() {
  if (state_ != State::unasked) return;
  state_ = State::computing;
  begin();
}

void SimulationErrors::begin() {
  const QString sample = sample_.value_or(recorded_sample());
  if (sample.isEmpty()) return set_unknown(qtext(say::prediction::no_sample{}));
  const QString program = find_collector();
  if (program.isEmpty()) return set_unknown(qtext(say::collect_panel::no_collector{}));
  const QString digest = digest_of({program, sample});
  kept_in_ = digest.isEmpty() ? QString() : cache_folder().filePath(digest + QStringLiteral(".json"));
  if (!kept_in_.isEmpty()) {
    if (auto table = parse_prediction_table(read_whole(kept_in_))) return set_known(std::move(*table));
  }
  process_.setStandardInputFile(QProcess::nullDevice());
  process_.start(program, {QStringLiteral("model"), QStringLiteral("--against"), sample, QStringLiteral("--json")});
}

void SimulationErrors::wait(std::chrono::milliseconds limit) {
  if (state_ == State::computing) process_.waitForFinished(static_cast<int>(limit.count()));
}

void SimulationErrors::process_ended(int exit_code, QProcess::ExitStatus status) {
  const QByteArray answer = process_.readAllStandardOutput();
  auto table = parse_prediction_table(answer);
  if (status == QProcess::NormalExit && exit_code == 0 && table) {
    if (!kept_in_.isEmpty()) keep(kept_in_, answer);
    return set_known(std::move(*table));
  }
  const QString complaint = last_line(process_.readAllStandardError());
  set_unknown(complaint.isEmpty() ? qtext(say::collect_panel::ended_with_code{.code = exit_code}) : complaint);
}

void SimulationErrors::set_known(PredictionTable table) {
  table_ = std::move(table);
  state_ = State::known;
  emit changed();
}

void SimulationErrors::set_unknown(const QString& why) {
  why_unknown_ = why;
  state_ = State::unknown;
  emit changed();
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace attnscope::ui {

namespace {

QString shipped(const QString& name) {
  const QDir beside(QCoreApplication::applicationDirPath());
  for (const QString& folder :
       {beside.filePath(QStringLiteral("../share/attnscope/samples")), QStringLiteral(ATTNSCOPE_SAMPLES_INSTALLED),
        QStringLiteral(ATTNSCOPE_SAMPLES_SOURCE)}) {
    const QFileInfo sample(folder + QLatin1Char('/') + name);
    if (sample.isFile()) return sample.canonicalFilePath();
  }
  return {};
}

}  // namespace

QString recorded_sample() {
  return shipped(QStringLiteral("h200.attnscope"));
}

QString second_sample() {
  return shipped(QStringLiteral("h100.attnscope"));
}

QStringList recorded_samples() {
  QStringList files{recorded_sample()};
  if (files.front().isEmpty()) return {};
  const QFileInfo ceilings(QFileInfo(files.front()).dir(), QStringLiteral("h200-ceilings.attnscope"));
  if (ceilings.isFile()) files << ceilings.canonicalFilePath();
  return files;
}

}  // namespace attnscope::ui

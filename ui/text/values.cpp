// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/values.h"

#include <QLocale>
#include <QRegularExpression>

#include "profiler/units/csv.h"

namespace attnscope::ui {
namespace {

template <class Written>
QString join_lines(const ShownValues& values, const QString& between, Written written) {
  QStringList lines;
  const auto add = [&](const QStringList& cells) {
    QStringList out;
    for (const QString& cell : cells) {
      bool number = false;
      cell.toDouble(&number);
      out << (number ? cell : written(cell));
    }
    lines << out.join(between);
  };
  add(values.keys);
  for (const QStringList& line : values.lines) add(line);
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace

QString plain_number(double value) {
  return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString to_tsv(const ShownValues& values) {
  static const QRegularExpression breaks(QStringLiteral("[\\t\\r\\n]+"));
  return join_lines(values, QStringLiteral("\t"), [](QString cell) {
    return QString::fromStdString(escape_formula(cell.replace(breaks, QStringLiteral(" ")).toStdString()));
  });
}

QByteArray to_csv(const ShownValues& values) {
  return join_lines(values, QStringLiteral(","),
                    [](const QString& cell) { return QString::fromStdString(quote_csv_field(cell.toStdString())); })
      .toUtf8();
}

}  // namespace attnscope::ui

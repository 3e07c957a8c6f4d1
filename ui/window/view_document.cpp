// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_document.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QStringList>
#include <array>
#include <functional>
#include <utility>

#include "ui/pages/kept_zoom.h"
#include "ui/process/save_file.h"
#include "ui/runs/samples.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr auto format = "attnscope-view";
constexpr int version = 1;
constexpr qint64 largest = qint64{8} << 20;  ///< bytes: a view of a hundred files has some ten thousand

struct Entry {
  const char* key;
  QJsonValue::Type type;
};
constexpr auto entries = std::to_array<Entry>({{"files", QJsonValue::Array},
                                               {"page", QJsonValue::String},
                                               {"pages", QJsonValue::Object},
                                               {"filter", QJsonValue::String},
                                               {"unticked", QJsonValue::Array},
                                               {"ticked", QJsonValue::Array},
                                               {"selection", QJsonValue::Object},
                                               {"panels", QJsonValue::Object},
                                               {"window", QJsonValue::Object},
                                               {"collect", QJsonValue::Object}});

using OnPath = std::function<QString(const QString&)>;

QJsonObject with_file(QJsonObject object, const OnPath& path_of) {
  object[QLatin1String("file")] = path_of(object[QLatin1String("file")].toString());
  return object;
}

/// All paths that a view has.
void change_paths(QJsonObject& view, const OnPath& path_of) {
  if (view.contains(QLatin1String("files"))) {
    QJsonArray files;
    for (const auto& file : view[QLatin1String("files")].toArray()) files.append(path_of(file.toString()));
    view[QLatin1String("files")] = files;
  }
  for (const char* const key : {"unticked", "ticked"}) {
    if (!view.contains(QLatin1String(key))) continue;
    QJsonArray runs;
    for (const auto& run : view[QLatin1String(key)].toArray()) runs.append(with_file(run.toObject(), path_of));
    view[QLatin1String(key)] = runs;
  }
  if (view.contains(QLatin1String("selection"))) {
    view[QLatin1String("selection")] = with_file(view[QLatin1String("selection")].toObject(), path_of);
  }
}

/// Takes out what has a wrong type; the keys of that.
QStringList take_out_wrong(QJsonObject& view) {
  QStringList wrong;
  for (const Entry& entry : entries) {
    const QString key = QLatin1String(entry.key);
    const QJsonValue value = view.value(key);
    if (!view.contains(key) || value.type() == entry.type) continue;
    wrong << key;
    view.remove(key);
  }
  const QJsonArray named = view.value(QLatin1String("files")).toArray();
  QJsonArray files;
  for (const auto& file : named) {
    if (file.isString() && !file.toString().isEmpty()) files.append(file);
  }
  if (files.size() != named.size()) {
    wrong << QStringLiteral("files");
    view[QLatin1String("files")] = files;
  }
  return wrong;
}

}  // namespace

ViewDocument read_view(const QString& path) {
  const std::string name = path.isEmpty() ? "''" : path.toStdString();
  // A pipe would be waited for.
  if (const QFileInfo there(path); path.isEmpty() || (there.exists() && !there.isFile())) {
    return {{}, qtext("{} is no file: it is not read", name)};
  }
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    return {{}, qtext("{} cannot be read: {}", name, file.errorString().toStdString())};
  }
  const QByteArray bytes = file.read(largest + 1);
  if (bytes.size() > largest)
    return {{},
            qtext("{} is larger than {} MiB, which no view of this program is: it is not read", name, largest >> 20)};
  QJsonParseError error;
  QJsonObject view = QJsonDocument::fromJson(bytes, &error).object();
  if (error.error != QJsonParseError::NoError) {
    return {
        {},
        qtext("{} is damaged at byte {} ({}): it is not read", name, error.offset, error.errorString().toStdString())};
  }
  if (view.value(QLatin1String("format")).toString() != QLatin1String(format)) {
    return {{}, qtext("{} is no saved view: its \"format\" is not \"attnscope-view\"", name)};
  }
  if (const QJsonValue of = view.value(QLatin1String("version")); of.toInt() != version) {
    const QString words = of.isDouble() ? QString::number(of.toDouble()) : QStringLiteral("?");
    return {
        {},
        qtext("{} is a view of version {}, and this program reads version {}: open it with the version that wrote it",
              name, words.toStdString(), version)};
  }
  const QStringList wrong = take_out_wrong(view);
  const QDir folder = QFileInfo(path).absoluteDir();
  change_paths(view,
               [&](const QString& each) { return QDir::cleanPath(folder.absoluteFilePath(with_sample_folder(each))); });
  if (wrong.isEmpty()) return {view, {}};
  const std::string keys = wrong.join(QStringLiteral(", ")).toStdString();
  return {view, qtext("{}: left out is what has a wrong type: {}", name, keys)};
}

QString write_view(const QString& path, QJsonObject view) {
  // Links are looked through, as they are in the paths of open files.
  const QFileInfo folder_itself(QFileInfo(path).absolutePath());
  const QDir folder(folder_itself.exists() ? folder_itself.canonicalFilePath() : folder_itself.absoluteFilePath());
  change_paths(view, [&](const QString& each) {
    if (QString word = without_sample_folder(each); word != each) return word;
    const QString relative = folder.relativeFilePath(each);
    return relative.startsWith(QLatin1String("..")) ? each : relative;
  });
  view[QLatin1String("format")] = QLatin1String(format);
  view[QLatin1String("version")] = version;
  return save_file(path, [&](QIODevice& out) { return write_all(out, QJsonDocument(view).toJson()); });
}

QJsonObject without_files(QJsonObject view) {
  for (const char* key : {"files", "filter", "unticked", "ticked", "selection"}) view.remove(QLatin1String(key));
  QJsonObject pages = view.value(QLatin1String("pages")).toObject();
  for (const QString& id : pages.keys()) {
    QJsonObject page = pages[id].toObject();
    page.remove(zoom_key());
    pages[id] = page;
  }
  view[QLatin1String("pages")] = pages;
  return view;
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/save_file.h"

#include <QBuffer>
#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QSvgGenerator>

#include "storage/run_store.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QString save_file(const QString& path, const std::function<bool(QIODevice&)>& write, ExistingFile existing) {
  try {
    const std::filesystem::path target(QFile::encodeName(path).toStdString());
    OutputFile out(target, file_kind::for_file_name(target), existing);
    QFile file;
    if (file.open(out.descriptor(), QIODevice::WriteOnly) && write(file) && file.flush()) {
      out.commit();
      return {};
    }
    if (file.error() == QFileDevice::NoError) return qtext("cannot write {}", path.toStdString());
    return qtext("cannot write {} ({})", path.toStdString(), file.errorString().toStdString());
  } catch (const FileError& error) {
    return QString::fromLocal8Bit(error.what());
  }
}

QString default_path(const QString& name) {
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return QDir(!documents.isEmpty() && QDir(documents).exists() ? documents : QDir::homePath()).filePath(name);
}

bool write_all(QIODevice& out, const QByteArray& bytes) {
  return out.write(bytes) == bytes.size();
}

QString save_image(const QString& path, const QImage& image, const char* format, ExistingFile existing) {
  // Encode before writing: libpng would print errors to stderr.
  QBuffer encoded;
  encoded.open(QIODevice::WriteOnly);
  const bool known = image.save(&encoded, format);
  return save_file(
      path, [&](QIODevice& out) { return known && write_all(out, encoded.data()); }, existing);
}

void set_up_page(QPdfWriter& writer, const QSize& size, const QString& title) {
  writer.setTitle(title);
  writer.setResolution(96);
  writer.setPageSize(QPageSize(QSizeF(size) * 72.0 / 96.0, QPageSize::Point));
  writer.setPageMargins(QMarginsF());
}

void set_up_page(QSvgGenerator& generator, const QSize& size, const QString& title) {
  generator.setTitle(title);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
}

}  // namespace attnscope::ui

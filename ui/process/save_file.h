// SPDX-License-Identifier: GPL-3.0-or-later
// Atomic writing of files: the content goes to a temporary file that replaces the target when complete.
#pragma once

#include <QByteArray>
#include <QIODevice>
#include <QImage>
#include <QPdfWriter>
#include <QSize>
#include <QString>
#include <functional>

#include "profiler/files/output_file.h"

class QSvgGenerator;

namespace attnscope::ui {

/// Whether a file of another kind than the suffix implies may be replaced.
using ExistingFile = OutputFile::ExistingFile;

/// `write` fills the file and returns whether it succeeded. Returns one line with path and cause on error, otherwise
/// empty. After an error an existing file is unchanged. Devices and pipes are written to directly.
[[nodiscard]] QString save_file(const QString& path, const std::function<bool(QIODevice&)>& write,
                                ExistingFile existing = ExistingFile::any);

/// Returns the path of `name` in the user's documents folder, or in the home folder.
[[nodiscard]] QString default_path(const QString& name = {});

/// Returns false on a write error; see out.errorString().
[[nodiscard]] bool write_all(QIODevice& out, const QByteArray& bytes);
/// Like save_file(); an unknown format is an error.
[[nodiscard]] QString save_image(const QString& path, const QImage& image, const char* format,
                                 ExistingFile existing = ExistingFile::any);

/// Sets up one page of `size` pixels at 96 dpi without margins.
void set_up_page(QPdfWriter& writer, const QSize& size, const QString& title);
void set_up_page(QSvgGenerator& generator, const QSize& size, const QString& title);

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are whole or not there: what is written stands beside the old file until it is complete.
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

/// Whether a file of another kind than the path's suffix says is replaced: in a dialog the user was asked.
using Existing = OutputFile::Existing;

/// `write` fills the file and returns whether it could. Returns one line with the path and the cause, empty when the
/// file is in its place; an older file of that name stays as it was after an error. A device or a pipe is written to.
[[nodiscard]] QString save_file(const QString& path, const std::function<bool(QIODevice&)>& write,
                                Existing existing = Existing::any);

/// A name in the folder for documents, or in that of the user where there is none: one that exists.
[[nodiscard]] QString usual_place(const QString& name = {});

/// False when the device takes no more; it knows why.
[[nodiscard]] bool write_all(QIODevice& out, const QByteArray& bytes);
/// As save_file(); an unknown format is an error too.
[[nodiscard]] QString save_image(const QString& path, const QImage& image, const char* format,
                                 Existing existing = Existing::any);

/// One page of `size` pixels at 96 dpi, without margins.
void set_up_page(QPdfWriter& writer, const QSize& size, const QString& title);
void set_up_page(QSvgGenerator& generator, const QSize& size, const QString& title);

}  // namespace attnscope::ui

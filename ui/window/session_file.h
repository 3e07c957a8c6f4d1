// SPDX-License-Identifier: GPL-3.0-or-later
// Where a window's session is kept: a file of its own, which no other window has while this one is open.
#pragma once

#include <QLockFile>
#include <QString>
#include <memory>

#include "ui/window/view_document.h"

namespace attnscope::ui {

class SessionFile {
 public:
  enum class Begin {
    last_left,  ///< the session that was left last and no window has, however its window ended; else a new one
    anew
  };
  explicit SessionFile(Begin begin);

  /// What was left there; empty in a new one. One that cannot be read is put aside, and said.
  [[nodiscard]] ViewDocument read();
  /// The error, empty when it is kept.
  [[nodiscard]] QString write(const QJsonObject& view) const;

  static constexpr qsizetype most_kept = 8;

 private:
  bool take(const QString& path);
  void make(const QString& folder);

  QString path_;  ///< empty: there is none
  std::unique_ptr<QLockFile> lock_;
  QString problem_;  ///< why nothing can be kept
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps a window's session while it is worked with: what is on the screen stands in its file half a second later, and
// is there again after whatever end. Pages need not say that something was chosen: whoever chooses uses mouse or keys.
#pragma once

#include <QJsonObject>
#include <QLockFile>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>

namespace attnscope::ui {

struct ViewDocument {
  QJsonObject view;  ///< empty where the file is not read
  QString problem;   ///< why it is not, in one line
};

/// A document of another version is not read.
[[nodiscard]] ViewDocument read_view(const QString& path);
/// Recorded samples are written by their name: an AppImage has them at another path at each start. Returns one line
/// with path and cause, empty when the file is in its place; an older one stays whole after an error.
[[nodiscard]] QString write_view(const QString& path, QJsonObject view);
/// What of it holds with other files open, too.
[[nodiscard]] QJsonObject without_files(QJsonObject view);

/// Where a window's session is kept: a file of its own, which no other window has while this one is open.
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

class MainWindow;

class Session : public QObject {
  Q_OBJECT
 public:
  /// Both outlive it.
  Session(MainWindow& window, const SessionFile& file);
  /// Keeps what there is at the end.
  ~Session() override;

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void write();
  /// One more, in a process of its own, which begins with what this one shows.
  void open_window();
  /// In the banner, once.
  void say(const QString& problem);

  MainWindow& window_;
  const SessionFile& file_;
  QTimer due_;
  QJsonObject written_;
  bool said_ = false;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Saves a window's state to its session file half a second after user input, so that any end of the program loses
// little. Pages need not signal changes: all mouse and key events trigger a save.
#pragma once

#include <QJsonObject>
#include <QLockFile>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>

namespace attnscope::ui {

struct ViewDocument {
  QJsonObject view;  ///< empty on error
  QString problem;   ///< error, one line
};

/// Reads a view; other versions are rejected.
[[nodiscard]] ViewDocument read_view(const QString& path);
/// Writes a view atomically; recorded samples by name, because the path of an AppImage changes at each start. Returns
/// one line with path and cause on error, otherwise empty.
[[nodiscard]] QString write_view(const QString& path, QJsonObject view);
/// Returns the view without the state that depends on open files.
[[nodiscard]] QJsonObject remove_file_state(QJsonObject view);

/// Session file of a window; locked while the window is open.
class SessionFile {
 public:
  enum class SessionStart {
    most_recent,  ///< the most recent session that no window has open; a new one if there is none
    fresh
  };
  explicit SessionFile(SessionStart begin);

  /// Returns the saved view; empty for a new session. An unreadable file is renamed and reported.
  [[nodiscard]] ViewDocument read();
  [[nodiscard]] QString write(const QJsonObject& view) const;

  static constexpr qsizetype max_sessions = 8;

 private:
  bool try_lock(const QString& path);
  void make(const QString& folder);

  QString path_;  ///< empty: there is none
  std::unique_ptr<QLockFile> lock_;
  QString problem_;  ///< why the session cannot be saved
};

class MainWindow;

class Session : public QObject {
  Q_OBJECT
 public:
  /// `window` and `file` must outlive it.
  Session(MainWindow& window, const SessionFile& file);
  ~Session() override;

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void write();
  /// Starts another process whose window shows the same view.
  void open_window();
  /// Shows an error in the banner, once.
  void report_problem(const QString& problem);

  MainWindow& window_;
  const SessionFile& file_;
  QTimer due_;
  QJsonObject written_;
  bool said_ = false;
};

}  // namespace attnscope::ui

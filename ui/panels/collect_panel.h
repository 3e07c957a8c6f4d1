// SPDX-License-Identifier: GPL-3.0-or-later
// Panel to configure, start, watch and cancel a collection.
#pragma once

#include <QJsonObject>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QWidget>
#include <optional>

#include "ui/panels/collect_form.h"
#include "ui/process/collector_process.h"

namespace attnscope::ui {

/// Key of the collection that can be resumed, in CollectPanel::state().
inline QString unfinished_key() {
  return QStringLiteral("unfinished");
}

class CollectLog;

class CollectPanel : public QWidget {
  Q_OBJECT
 public:
  explicit CollectPanel(QWidget* parent = nullptr);

  [[nodiscard]] CollectorProcess& collector() { return collector_; }
  [[nodiscard]] CollectForm& form() { return *form_; }
  [[nodiscard]] bool is_running() const { return collector_.is_running(); }
  [[nodiscard]] QString progress_text() const { return progress_->format(); }
  /// Fields of the form, and the collection that can be resumed.
  [[nodiscard]] QJsonObject state() const;
  void restore(const QJsonObject& state);
  /// Continues the collection that was cancelled, failed or crashed.
  void resume();
  /// Stops after the current launch; measured points are kept.
  void cancel();
  /// Measures ceilings of a GPU. Does nothing while a collection runs.
  void measure(const CeilingsTask& work);

 signals:
  /// The collector started or finished writing this run; 0 if it created none.
  void collection_started(const QString& database, qint64 run);
  void points_stored(const QString& database);
  void collection_ended(const QString& database, qint64 run);
  void begin_requested();
  /// restore() found a collection that was running when the program ended. `words`: "Stopped at 48 of 87; all saved."
  void interruption_found(const QString& words);
  /// Requests an edit of this file's run: `attnscope edit` with these options.
  void edit_requested(const QString& database, const QStringList& words);
  /// Progress or result of a ceilings measurement.
  void ceilings_progressed(const QString& words);
  void ceilings_measured(const attnscope::ui::CeilingsTask& work);
  /// Error message, one line, for the window's banner.
  void error_occurred(const QString& message);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void add_buttons();
  void add_progress();
  void add_resume_row();
  void connect_progress();
  void connect_end();
  void show_plan(const PlanEvent& event);
  void show_point(const PointEvent& event);
  void start(const QStringList& arguments, const QString& database);
  void discard();
  /// Returns "Stopped at 48 of 87; all saved.", or `otherwise` if there is nothing to resume.
  [[nodiscard]] QString stop_text(bool cancelled, const QString& otherwise) const;
  void prepare_start(const QString& database);
  void show_progress(const ProgressEvent& event);
  void validate();
  void finish(const QString& summary);

  CollectorProcess collector_;
  QString database_in_use_;
  qint64 run_ = 0;
  QStringList arguments_;             ///< arguments of the last sweep
  std::optional<CeilingsTask> work_;  ///< current or last ceilings measurement; nullopt: a sweep
  QStringList said_;                  ///< log messages of that measurement
  bool stopping_ = false;             ///< cancelled, but not finished
  struct Unfinished {
    QStringList arguments;  ///< arguments of `attnscope`
    QString database;
    qint64 run = 0;
    std::size_t done = 0;
    std::size_t total = 0;
  };
  std::optional<Unfinished> unfinished_;  ///< the running collection, or the last one if it can be resumed

  CollectForm* form_ = nullptr;
  QLabel* plan_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QWidget* resume_row_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* in_flight_ = nullptr;
  CollectLog* log_ = nullptr;
};

}  // namespace attnscope::ui

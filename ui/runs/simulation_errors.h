// SPDX-License-Identifier: GPL-3.0-or-later
// How far simulations lie from what a GPU measured: the table of `attnscope model --against`, of the recorded sample.
// The program that simulates computes it, in the background and once: what it said is kept, by the digest of program
// and sample, so that another program or sample never stands behind these figures.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <chrono>
#include <optional>
#include <vector>

namespace attnscope::ui {

/// Errors of one quantity, algorithm, pass and half of the problems, or how the tiles of one problem are ranked.
struct PredictionRow {
  QString algorithm;  ///< "all" in sums
  QString pass;       ///< "all" in sums
  QString half;       ///< to_string(analysis::Half), "both" in sums
  QString quantity;   ///< "dram_bytes", "time", "tile_ranks"
  QString problem;    ///< of ranks
  qint64 points = 0;
  qint64 problems = 0;
  std::optional<double> median;  ///< of |predicted / measured - 1|, over problems; empty in ranks
  std::optional<double> p95;
  std::optional<double> worst_factor;
  std::optional<double> ratio;     ///< predicted / measured, the median
  std::optional<double> spearman;  ///< of ranks
  std::optional<double>
      chosen_over;  ///< of ranks: measured time of the tile predicted to be fastest over the fastest's
};
struct PredictionTable {
  QStringList devices;  ///< that the sample was recorded on
  std::vector<PredictionRow> rows;

  /// Of the half that no parameter was fitted to, of the other where that one has none; null where neither has.
  [[nodiscard]] const PredictionRow* figures(const QString& algorithm, const QString& pass,
                                             const QString& quantity) const;
};
/// What `model --against FILE --json` printed; nothing when it is no such table.
[[nodiscard]] std::optional<PredictionTable> parse_prediction_table(const QByteArray& json);

class SimulationErrors : public QObject {
  Q_OBJECT
 public:
  explicit SimulationErrors(QObject* parent = nullptr);
  ~SimulationErrors() override;

  enum class State { unasked, computing, known, unknown };
  /// Looks for the table, and has it computed where nobody did before; ends in changed(). Again, it does nothing.
  void want();
  /// Blocks until it is known or not to be had, for what is drawn once; up to `limit`.
  void wait(std::chrono::milliseconds limit);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const PredictionTable& table() const { return table_; }
  /// One sentence; empty unless it is unknown.
  [[nodiscard]] const QString& why_unknown() const { return why_unknown_; }

  /// Another sample than recorded_sample(), before it is wanted.
  void set_sample(const QString& file) { sample_ = file; }

 signals:
  void changed();

 private:
  void begin();
  void process_ended(int exit_code, QProcess::ExitStatus status);
  void set_known(PredictionTable table);
  void set_unknown(const QString& why);

  State state_ = State::unasked;
  std::optional<QString> sample_;
  PredictionTable table_;
  QString why_unknown_;
  QString kept_in_;  ///< where the answer goes
  QProcess process_;
};

}  // namespace attnscope::ui

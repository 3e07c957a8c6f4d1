// SPDX-License-Identifier: GPL-3.0-or-later
// Explores one configuration: the model's results follow each edit. Another configuration can be pinned for comparison.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QUndoStack>
#include <memory>
#include <vector>

#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/choices.h"
#include "ui/pages/page.h"
#include "ui/panels/point_summary.h"

namespace attnscope::ui {

class ChoiceEditors;
class ResultModel;
class MeasurementCard;
class OnChipMap;

class ExplorerPage : public Page {
  Q_OBJECT
 public:
  explicit ExplorerPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return findChild<QWidget*>(QStringLiteral("br")); }
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;
  /// Explores this point on the named GPU, without values that no known kernel supports. Returns false, and keeps the
  /// current GPU, if the GPU is unknown.
  bool explore(const PointSpec& spec, const QString& gpu);
  /// Pins this point instead of the pinned one. Returns false as explore() does.
  bool pin_point(const PointSpec& spec, const QString& gpu);
  /// Changes the algorithm; other choices stay as far as the algorithm supports them.
  void explore_algorithm(const std::string& name);
  /// Call after the sources of a user-defined kernel changed, but not its manifest.
  void handle_sources_saved();
  /// Pending measurements, which closing the window would cancel: "3 pending, output FILE"; empty: none.
  [[nodiscard]] QString pending_work_text() const;
  void cancel_work();

  struct State {
    ExplorerChoices choices;
    std::optional<ExplorerChoices> pin;
    bool operator==(const State&) const = default;
  };
  [[nodiscard]] const State& chosen_state() const { return chosen_; }
  /// Null until the first result (block masks take longer).
  [[nodiscard]] const ExplorerResult* shown() const { return shown_.get(); }
  /// Returns whether the results are older than the choices.
  [[nodiscard]] bool has_stale_results() const { return results_outdated_ || explored_.is_busy(); }
  /// The pinned configuration as measured, of this session or an open file; nullopt: none.
  [[nodiscard]] std::optional<PinnedPoint> pinned_point();
  [[nodiscard]] OnChipMap* on_chip() const { return on_chip_; }
  [[nodiscard]] BarList* time_bars() const { return time_bars_; }
  [[nodiscard]] BarList* operand_bars() const { return operand_bars_; }
  [[nodiscard]] FittedTable* figures() const { return figures_view_; }
  [[nodiscard]] MeasurementCard& measurement_card() const { return *measuring_; }

  /// Chooses the GPU of a file (profiler/files/gpu_file.h). Returns a one-line error; empty on success.
  [[nodiscard]] QString open_gpu(const QString& file);

  /// Arguments as for ChoiceEditors::edited().
  void edit(const QString& name, const QString& text, int gesture = -1);
  void pin();

 signals:
  void pin_changed();

 protected:
  void show_choices() override;
  void rebuild_page() override { show_recorded(); }
  void showEvent(QShowEvent* event) override;

 private:
  void register_choices();
  void build_bar();
  void update_device_list();
  /// Fills the list, including user-defined kernels of open files.
  void update_algorithm_list();
  void build_editors();
  /// Adds the line of the verdict, with the buttons of feasible tiles.
  void build_verdict();
  void build_cards();
  void choose_gpu_file();
  /// Chooses a GPU from an opened file, the table, or a recorded run. Returns false if the name is unknown.
  bool choose_gpu(ExplorerChoices& choices, const QString& name) const;
  /// Takes the values of the point that a known kernel supports. Returns false, and keeps the chosen GPU, if the GPU is
  /// unknown.
  bool apply_point(ExplorerChoices& choices, const PointSpec& spec, const QString& gpu) const;
  /// Measures the choices, by a function of the card.
  void measure(void (MeasurementCard::*how)());
  /// Sets the tile and its knobs instead of the rule's.
  void use_config(const Config& config, const QString& words);
  /// Pushes a change on the undo stack. Changes of one `gesture` are merged; negative: never merged.
  void change(State next, const QString& words, const QString& what = {}, int gesture = -1);
  void apply(const State& state);
  void recompute();
  struct Request {
    State state;
    std::shared_ptr<const ExplorerResult> pin;  ///< Known result of the pin; may be null or that of another one.
  };
  struct Results {
    std::shared_ptr<const ExplorerResult> shown;
    std::shared_ptr<const ExplorerResult> pin;  ///< Null: nothing is pinned.
  };
  [[nodiscard]] static Results compute(const Request& request, const StaleCheck& outdated);
  void show_results(Results results);
  void show_kernel_list();
  void show_kernel();
  /// Shows the prediction and its error above the bars, and the rest behind the (i) button.
  void show_time_title(const QString& note);
  /// Updates the parts that depend on measurements.
  void show_recorded();
  /// Returns the measurement of exactly this configuration: of this session, else of an open file; null: none.
  [[nodiscard]] std::shared_ptr<const PointRecord> measured(const ExplorerChoices& choices);
  void show_figures();
  void show_verdict();
  void show_pin();
  void show_measured();

  static constexpr int card_width = 400;
  static constexpr int max_columns = 3;
  class Change;
  Workspace& workspace_;
  std::vector<std::shared_ptr<const DeviceLimits>> opened_gpus_;
  State chosen_;
  std::shared_ptr<const ExplorerResult> shown_;
  bool results_outdated_ = false;
  bool queued_ = false;
  std::shared_ptr<const ExplorerResult> pin_result_;  ///< Null: nothing is pinned, or its rates changed.
  QUndoStack undo_{this};

  QComboBox* algorithm_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* kernel_ = nullptr;
  QPushButton* unpin_button_ = nullptr;
  QPushButton* nearest_button_ = nullptr;
  QPushButton* fastest_button_ = nullptr;
  MeasurementCard* measuring_ = nullptr;
  QLabel* verdict_ = nullptr;
  QLabel* occupancy_ = nullptr;
  CardTitle time_title_;
  CardTitle figures_title_;
  std::vector<QWidget*> result_cards_;  ///< Shown for a feasible configuration.
  ChoiceEditors* editors_ = nullptr;
  std::size_t editor_knob_count_ = 0;  ///< Number of knobs when the editors were built.
  QWidget* editor_area_ = nullptr;
  QScrollArea* card_area_ = nullptr;
  OnChipMap* on_chip_ = nullptr;
  BarList* time_bars_ = nullptr;
  BarList* operand_bars_ = nullptr;
  PointRecordReader records_;
  ResultModel* figures_ = nullptr;
  FittedTable* figures_view_ = nullptr;
  BackgroundTask<Request, Results> explored_;  ///< Models of block masks take longer than a frame.
};

}  // namespace attnscope::ui

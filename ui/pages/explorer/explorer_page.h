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
#include "ui/pages/explorer/recorded_points.h"
#include "ui/pages/explorer/unit_bars.h"
#include "ui/pages/page.h"
#include "ui/panels/point_summary.h"

namespace attnscope::ui {

class ChoiceEditors;
class ResultModel;
class MeasurementCard;
class OnChipMap;
class OperandBars;

class ExplorerPage : public Page {
  Q_OBJECT
 public:
  explicit ExplorerPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override;
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
  /// Whether the configuration runs, or why not.
  [[nodiscard]] QString verdict() const { return verdict_->text(); }
  /// Text behind the (i) button of the predicted time: rates, and published errors.
  [[nodiscard]] const QString& time_info() const { return time_title_.info->info(); }
  [[nodiscard]] QString time_heading() const { return time_title_.text->text(); }

  [[nodiscard]] ChoiceEditors* editors() const { return editors_; }
  [[nodiscard]] OnChipMap* on_chip() const { return on_chip_; }
  [[nodiscard]] UnitBars* unit_bars() const { return unit_bars_; }
  [[nodiscard]] FittedTable* figures() const { return figures_view_; }
  [[nodiscard]] OperandBars* operands() const { return operands_view_; }
  [[nodiscard]] MeasurementCard& measurement_card() const { return *measuring_; }
  [[nodiscard]] QUndoStack& undo_stack() { return undo_; }

  /// Chooses the GPU of a file (profiler/files/gpu_file.h). Returns a one-line error; empty on success.
  [[nodiscard]] QString open_gpu(const QString& file);

  // Slots.
  void edit(const QString& name, const QString& text, int gesture);
  void pin();
  void unpin();
  /// Chooses the tile of the table of tiles, else that of the algorithm's rule.
  void choose_default_tile();
  void choose_nearest_tile();
  void choose_fastest_tile();
  void measure();
  void sweep_around();

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
  void use_tile(const std::optional<Config>& tile, const QString& words);
  /// Adds algorithms, and editors for their knobs, that open files brought.
  void add_new_kernels();
  void choose_gpu_file();
  /// Chooses a GPU from an opened file, the table, or a recorded run. Returns false if the name is unknown.
  bool choose_gpu(ExplorerChoices& choices, const QString& name) const;
  /// Takes the values of the point that a known kernel supports. Returns false, and keeps the chosen GPU, if the GPU is
  /// unknown.
  bool apply_point(ExplorerChoices& choices, const PointSpec& spec, const QString& gpu) const;
  void connect_measurement_card();
  void build_cards();
  /// Pushes the change on the undo stack. Changes of one `gesture` are merged; negative: never merged.
  void change(State next, const QString& words, const QString& what = {}, int gesture = -1);
  void apply(const State& state);
  void recompute();
  void update_rates();
  void accept_result(std::shared_ptr<const ExplorerResult> explored);
  void show_explored();
  void show_kernel();
  /// Shows the prediction and its error above the bars, and the rest behind the (i) button.
  void show_time_title(const QString& note);
  /// Updates the parts that depend on measurements.
  void show_recorded();
  /// Returns the measurement of exactly this configuration: of this session, else of an open file; null: none. Valid
  /// until the next call.
  [[nodiscard]] const PointRecord* measured_record();
  void show_figures();
  void show_verdict();
  void show_pin();
  void show_measured();
  /// Computes the results of the pinned configuration unless they are known.
  void compute_pin();

  static constexpr int card_width = 400;
  static constexpr int max_columns = 3;
  class Change;
  Workspace& workspace_;
  std::vector<std::shared_ptr<const DeviceLimits>> opened_gpus_;
  State chosen_;
  std::shared_ptr<const ExplorerResult> shown_;
  bool results_outdated_ = false;
  bool scroll_to_result_ = false;  ///< Until the user scrolls or edits.
  bool queued_ = false;
  std::shared_ptr<const ExplorerResult> pin_result_;  ///< Null: nothing is pinned, or it is being computed.
  QUndoStack undo_;

  QComboBox* algorithm_ = nullptr;
  QComboBox* device_ = nullptr;
  QComboBox* kernel_ = nullptr;
  QPushButton* pin_button_ = nullptr;
  QPushButton* unpin_button_ = nullptr;
  QPushButton* nearest_button_ = nullptr;
  QPushButton* fastest_button_ = nullptr;
  MeasurementCard* measuring_ = nullptr;
  QLabel* verdict_ = nullptr;
  QLabel* occupancy_ = nullptr;
  CardTitle time_title_;
  CardTitle figures_title_;
  std::vector<QWidget*> result_cards_;  ///< Shown for a feasible configuration.
  QWidget* measured_card_ = nullptr;
  ChoiceEditors* editors_ = nullptr;
  std::size_t editor_knob_count_ = 0;  ///< Number of knobs when the editors were built.
  QWidget* editor_area_ = nullptr;
  QScrollArea* card_area_ = nullptr;
  OnChipMap* on_chip_ = nullptr;
  UnitBars* unit_bars_ = nullptr;
  PointRecordReader records_;
  std::shared_ptr<const PointRecord> file_record_;
  ResultModel* figures_ = nullptr;
  ResultModel* operands_ = nullptr;
  FittedTable* figures_view_ = nullptr;
  OperandBars* operands_view_ = nullptr;
  // Models of block masks take longer than a frame.
  BackgroundTask<ExplorerChoices, std::shared_ptr<const ExplorerResult>> explored_;
  BackgroundTask<ExplorerChoices, std::shared_ptr<const ExplorerResult>> explored_pin_;
};

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Explores one configuration: the model's results follow each edit. Another configuration can be pinned for comparison.
#pragma once

#include <QComboBox>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QUndoStack>
#include <QWidget>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "profiler/plan/fields.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/choices.h"
#include "ui/pages/page.h"
#include "ui/panels/point_summary.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/number_editor.h"

class QComboBox;

namespace attnscope::ui {

class ChoiceEditors : public QWidget {
  Q_OBJECT
 public:
  explicit ChoiceEditors(QWidget* parent = nullptr);

  /// Shows these choices; hides knobs that the algorithm does not declare.
  void show_choices(const ExplorerChoices& choices);
  /// Note of the tile rule below the editor of M; empty: none.
  void show_rule_text(const QString& words);
  void show_error(const QString& name, const QString& why);
  /// Groups whose rarely used editors are shown: {"problem": true, "tile": false}.
  [[nodiscard]] QJsonObject shown_groups() const;
  void show_groups(const QJsonObject& shown);

 signals:
  /// Arguments as for choose(). `gesture`: equal for all edits of one slider drag.
  void edited(const QString& name, const QString& text, int gesture);

 private:
  enum class Group { problem, tile };
  struct Row {
    QWidget* cell = nullptr;  ///< label, widgets and error
    QLabel* label = nullptr;
    std::vector<QWidget*> widgets;
    QLabel* error = nullptr;
    std::function<void(const ExplorerChoices&)> show;
    std::function<bool(const ExplorerChoices&)> is_changed = nullptr;  ///< from the default; null: never
    Group group = Group::problem;
    bool folded = false;     ///< Shown only with More.
    bool applicable = true;  ///< to the algorithm
  };
  /// Editors of a group in wrapped lines, those that are used rarely only with More.
  struct GroupBox {
    FlowLayout* flow = nullptr;
    QToolButton* more = nullptr;
  };

  void build_groups();
  void add_more(const QString& name, const Message& accessible_name);
  [[nodiscard]] GroupBox& box_of(Group group) { return boxes_[static_cast<std::size_t>(group)]; }
  /// Shows the editors that apply, and counts the folded ones that differ from their defaults.
  void show_rows(const ExplorerChoices* choices);
  void add_field(const Field& field);
  void add_integer_editor(const Field& field);
  void add_double_editor(const Field& field);
  /// Adds an editor of an amount of shared memory in KiB.
  NumberEditor* add_capacity(const QString& name, const Message& label, const Message& help);
  void add_m();
  void add_padding();
  void add_what_if();
  Row& add_row(const QString& name, const QString& label, const QString& help, std::vector<QWidget*> widgets);
  NumberEditor* add_number(const QString& name, const QString& label, const QString& help, int least, int most,
                           int step, std::vector<int> stops, int factor = 1);
  /// Adds a combo box; `free`: other values may be typed.
  QComboBox* add_combo_box(const QString& name, const QString& label, const QString& help, const QStringList& words,
                           bool free);
  void emit_edited(const QString& name, const QString& text, bool sliding);

  std::array<GroupBox, 2> boxes_;
  Group group_ = Group::problem;  ///< Group of the rows that are being added.
  bool folded_ = false;           ///< Whether the rows that are being added are folded.
  std::map<QString, Row> rows_;
  QLabel* rule_label_ = nullptr;
  int gesture_ = 0;
};

class ResultModel;
class MeasurementCard;

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
  [[nodiscard]] bool has_stale_results() const { return results_outdated_ || explored_.is_busy(); }
  [[nodiscard]] std::optional<PinnedPoint> pinned_point();
  [[nodiscard]] OnChipMap* on_chip() const { return on_chip_; }
  [[nodiscard]] BarList* time_bars() const { return time_bars_; }
  [[nodiscard]] BarList* operand_bars() const { return operand_bars_; }
  [[nodiscard]] FittedTable* figures() const { return figures_view_; }
  [[nodiscard]] MeasurementCard& measurement_card() const { return *measuring_; }

  /// Chooses the GPU of a file (profiler/files/gpu_file.h). Returns a one-line error; empty on success.
  [[nodiscard]] QString open_gpu(const QString& file);

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
  void update_algorithm_list();
  void build_editors();
  void build_verdict();
  void build_cards();
  void choose_gpu_file();
  /// Chooses a GPU from an opened file, the table, or a recorded run. Returns false if the name is unknown.
  bool choose_gpu(ExplorerChoices& choices, const QString& name) const;
  /// Takes the values of the point that a known kernel supports. Returns false, and keeps the chosen GPU, if the GPU is
  /// unknown.
  bool apply_point(ExplorerChoices& choices, const PointSpec& spec, const QString& gpu) const;
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

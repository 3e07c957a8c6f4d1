// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/ceilings/ceilings_page.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>
#include <set>

#include "messages/ceilings_page.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/metrics/point.h"
#include "profiler/roofline/roofline.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

CeilingsPage::CeilingsPage(Workspace& workspace, QWidget* parent) : Page(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  choice_ = new QComboBox(this);
  choice_->setAccessibleName(qtext(msg::ceilings_page::device{}));
  choice_->setToolTip(qtext(msg::ceilings_page::device_help{}));
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice_->setMinimumContentsLength(20);
  column->addWidget(choice_);
  choices().add("device", wanted_);
  progress_ = wrapped_label(this);
  progress_->hide();
  column->addWidget(progress_);
  note_ = wrapped_label(this);
  column->addWidget(note_);

  model_ = new ResultModel(this);
  show_ceilings({});  // Creates the columns; their widths are set below.
  table_ = new PlainTable(model_, qtext(msg::ceilings_page::title{}), this);
  // In a narrow window the label column shrinks, so that the source column stays visible.
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  add_content(*column, table_, workspace_);

  connect(choice_, &QComboBox::activated, this, [this](int place) {
    wanted_ = QString::fromStdString(sets_[static_cast<std::size_t>(place)].device_uuid);
    show_set();
  });
  connect(&workspace_, &Workspace::ceilings_changed, this, &CeilingsPage::refresh);
  connect(&workspace_, &Workspace::runs_changed, this, &CeilingsPage::refresh);
  refresh();
}

void CeilingsPage::choose(const QString& uuid) {
  wanted_ = uuid;
  refresh();
}

void CeilingsPage::show_progress(const QString& words, bool busy) {
  progress_->setText(busy ? words : QString());
  progress_->setVisible(!progress_->text().isEmpty());
}

void CeilingsPage::refresh() {
  sets_ = ceilings_of(workspace_);
  {
    const QSignalBlocker quiet(choice_);
    choice_->clear();
    for (const ShownCeilings& set : sets_) choice_->addItem(set.title);
    const auto wanted = std::find_if(sets_.begin(), sets_.end(), [this](const ShownCeilings& set) {
      return QString::fromStdString(set.device_uuid) == wanted_;
    });
    choice_->setCurrentIndex(wanted == sets_.end() ? (sets_.empty() ? -1 : 0)
                                                   : static_cast<int>(wanted - sets_.begin()));
  }
  choice_->setVisible(!sets_.empty());
  show_set();
}

void CeilingsPage::show_ceilings(std::span<const Ceiling> ceilings) {
  model_->set_table(std::make_shared<const analysis::Table>(analysis::ceiling_table(ceiling_rows(ceilings))));
}

void CeilingsPage::show_set() {
  const int place = choice_->currentIndex();
  if (place < 0) {
    note_->hide();
    show_ceilings({});
    return show_text(
        {qtext(msg::ceilings_page::none{}), qtext(msg::ceilings_page::none_help{}), attnscope::ceilings_sample});
  }
  const ShownCeilings& set = sets_[static_cast<std::size_t>(place)];
  note_->setText(set.measured ? QString() : qtext("{}: datasheet values, not measured.", set.device_name));
  note_->setVisible(!set.measured);
  show_ceilings(set.ceilings);
  show_content();
}

std::vector<ShownCeilings> ceilings_of(const Workspace& workspace) {
  std::vector<ShownCeilings> shown;
  std::set<std::string> uids;
  std::set<std::string> measured;
  std::vector<const FileCeilings*> sets;
  for (const FileCeilings& each : workspace.ceilings()) sets.push_back(&each);
  std::stable_sort(sets.begin(), sets.end(),
                   [](const auto* a, const auto* b) { return a->set.measured_at > b->set.measured_at; });
  for (const FileCeilings* each : sets) {
    const StoredCeilings& set = each->set;
    measured.insert(set.device_uuid);
    if (!uids.insert(set.uid).second) continue;
    shown.push_back({set.device_name, set.device_uuid,
                     QStringLiteral("%1 · %2 · %3")
                         .arg(QString::fromStdString(set.device_name), format_time(set.measured_at),
                              workspace.file_name(each->file)),
                     true, set.ceilings});
  }
  for (const LoadedRun& run : workspace.runs()) {
    const RunSummary& summary = run.info->summary;
    if (summary.provenance == Provenance::imported || !measured.insert(summary.device_uuid).second) continue;
    std::vector<Ceiling> datasheet = datasheet_ceilings(summary.limits);
    if (datasheet.empty()) continue;
    // A GPU and its simulation have the same name.
    std::string device = summary.device_name;
    if (summary.provenance == Provenance::simulated)
      device.append(" (").append(text(title(summary.provenance))).append(")");
    shown.push_back({summary.device_name, summary.device_uuid,
                     qtext(msg::ceilings_page::of_datasheet{.device = device}), false, std::move(datasheet)});
  }
  return shown;
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/ceilings/ceilings_page.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>

#include "messages/ceilings_page.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/roofline/roofline.h"
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
  progress_ = new QLabel(this);
  progress_->setTextFormat(Qt::PlainText);
  progress_->setWordWrap(true);
  progress_->hide();
  column->addWidget(progress_);
  note_ = new QLabel(this);
  note_->setTextFormat(Qt::PlainText);
  note_->setWordWrap(true);
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

}  // namespace attnscope::ui

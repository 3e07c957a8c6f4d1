// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/submissions_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QShowEvent>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "messages/submissions.h"
#include "ui/pages/empty_state.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {
namespace {

constexpr int between_looks_ms = 5000;  ///< a queue is asked by a program of the cluster: not more often

QString word(const QJsonValue& row, const char* key) {
  return row[QLatin1String(key)].toVariant().toString();
}

bool is_whole(const QJsonValue& row) {
  return word(row, "state") == QLatin1String("complete");
}

/// It runs, or will without anybody's doing: what becomes of it is worth a look.
bool is_at_work(const QJsonValue& row) {
  static const QStringList states{QStringLiteral("queued"),      QStringLiteral("pending"),
                                  QStringLiteral("configuring"), QStringLiteral("running"),
                                  QStringLiteral("completing"),  QStringLiteral("suspended"),
                                  QStringLiteral("requeued")};
  return states.contains(word(row, "state"));
}

/// A part a row, or of all submissions a submission.
ResultModel::TablePtr table_of(const QJsonArray& rows, bool of_one) {
  using enum analysis::ColumnKind;
  analysis::TableOf<QJsonValue> table({rows.begin(), rows.end()});
  const auto add = [&](const char* key, const Message& title, analysis::ColumnKind kind = text) {
    table.add({.key = key, .title = attnscope::text(title), .kind = kind},
              [key](const QJsonValue& row) { return word(row, key).toStdString(); });
  };
  if (!of_one) {
    table.add({.key = "file", .title = attnscope::text(say::submissions::file{})},
              [](const QJsonValue& row) { return QFileInfo(word(row, "file")).fileName().toStdString(); });
    table.table().columns.back().tip = table.of([](const QJsonValue& row) { return word(row, "file").toStdString(); });
  }
  add("shard", of_one ? Message(say::submissions::shard{}) : say::submissions::shards_whole{});
  add("state", say::submissions::state{});
  if (of_one) {
    add("job", say::submissions::job{});
    add("node", say::submissions::node{});
    add("note", say::submissions::note{}, sentence);
  } else {
    table.add({.key = "submitted_at", .title = attnscope::text(say::submissions::submitted_at{})},
              [](const QJsonValue& row) { return format_time(word(row, "submitted_at").toStdString()).toStdString(); });
  }
  add("points", say::submissions::points{}, number);
  add("ok", say::submissions::ok{}, number);
  auto made = std::make_shared<analysis::Table>(std::move(table).take());
  made->drop_empty_columns();
  return made;
}

}  // namespace

SubmissionsDialog::SubmissionsDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle(qtext(say::submissions::title{}));
  new QVBoxLayout(this);
  add_choice();
  add_table();
  add_buttons();
  again_.setObjectName(QStringLiteral("jobs-again"));
  again_.setSingleShot(true);
  again_.setInterval(between_looks_ms);
  connect(&again_, &QTimer::timeout, this, &SubmissionsDialog::refresh);
  connect(&jobs_, &JsonProgram::ended, this, &SubmissionsDialog::show_answer);
  connect(&action_, &JsonProgram::ended, this, [this](const QJsonObject& /*said*/, const QString& why) {
    said_ = why.isEmpty() ? one_line(action_.output()) : why;
    state_->setText(said_);
    refresh();
  });
  offer();
  resize(760, 440);
}

void SubmissionsDialog::add_choice() {
  auto* row = new QHBoxLayout;
  choice_ = new QComboBox(this);
  choice_->setObjectName(QStringLiteral("submission"));
  choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  choice_->addItem(qtext(say::submissions::all{}), QString());
  auto* label = new QLabel(qtext(say::submissions::submission{}), this);
  label->setBuddy(choice_);
  auto* browse = new QPushButton(qtext(say::submissions::choose{}), this);
  auto* refresh_now = new QPushButton(qtext(say::submissions::refresh{}), this);
  refresh_now->setObjectName(QStringLiteral("refresh"));
  for (QPushButton* button : {browse, refresh_now}) button->setAutoDefault(false);
  row->addWidget(label);
  row->addWidget(choice_, 1);
  row->addWidget(browse);
  row->addWidget(refresh_now);
  static_cast<QVBoxLayout*>(layout())->addLayout(row);
  connect(choice_, &QComboBox::activated, this, [this] { choose(file()); });
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString folder = QFileDialog::getExistingDirectory(this, qtext(say::submissions::choose_title{}),
                                                             QFileInfo(file()).absolutePath());
    if (!folder.isEmpty()) choose(folder);
  });
  connect(refresh_now, &QPushButton::clicked, this, [this] { choose(file()); });
}

void SubmissionsDialog::add_table() {
  model_ = new ResultModel(this);
  table_ = new PlainTable(model_, qtext(say::submissions::title{}), this);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->horizontalHeader()->setMinimumSectionSize(60);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  empty_ = new EmptyState(this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(table_);
  stack_->addWidget(empty_);
  static_cast<QVBoxLayout*>(layout())->addWidget(stack_, 1);
  state_ = new QLabel(this);
  state_->setTextFormat(Qt::PlainText);
  state_->setWordWrap(true);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  state_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  state_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  layout()->addWidget(state_);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &SubmissionsDialog::offer);
  connect(table_, &QAbstractItemView::activated, this, [this] {
    if (file().isEmpty()) choose(target());
  });
}

void SubmissionsDialog::add_buttons() {
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);  // Enter in the table shows a submission
  const auto add = [&](const Message& words, const char* name) {
    QPushButton* button = buttons->addButton(qtext(words), QDialogButtonBox::ActionRole);
    button->setObjectName(QLatin1String(name));
    button->setAutoDefault(false);
    return button;
  };
  open_ = add(say::submissions::open{}, "open-result");
  resubmit_ = add(say::submissions::resubmit{}, "resubmit");
  cancel_ = add(say::submissions::cancel{}, "cancel");
  layout()->addWidget(buttons);
  connect(open_, &QPushButton::clicked, this, [this] { emit open_wanted(target()); });
  connect(resubmit_, &QPushButton::clicked, this, [this] {
    ask_first(say::submissions::resubmit_title{},
              say::submissions::resubmit_question{.file = one_line(target()).toStdString()},
              QStringLiteral("--resubmit"));
  });
  connect(cancel_, &QPushButton::clicked, this, [this] {
    ask_first(say::submissions::cancel_title{},
              say::submissions::cancel_question{.file = one_line(target()).toStdString()}, QStringLiteral("--cancel"));
  });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void SubmissionsDialog::offer_files(const QStringList& files) {
  for (const QString& file : files) {
    if (choice_->findData(file) >= 0) continue;
    const QFileInfo info(file);
    choice_->addItem(qtext(say::submissions::name_in{.name = one_line(info.fileName()).toStdString(),
                                                     .folder = one_line(info.absolutePath()).toStdString()}),
                     file);
    choice_->setItemData(choice_->count() - 1, plain_tip(file), Qt::ToolTipRole);
  }
}

void SubmissionsDialog::look_beside(const QStringList& files) {
  QStringList found;
  for (const QString& file : files) {
    const QDir folder = QFileInfo(file).absoluteDir();
    for (const QFileInfo& shards : folder.entryInfoList({QStringLiteral("*.shards")}, QDir::Dirs, QDir::Time)) {
      if (QFileInfo::exists(shards.filePath() + QStringLiteral("/submission.json")))
        found << folder.filePath(shards.completeBaseName());
    }
  }
  found.removeDuplicates();
  offer_files(found);
  if (!chosen_ && !found.isEmpty()) choice_->setCurrentIndex(choice_->findData(found.front()));
}

void SubmissionsDialog::choose(const QString& name) {
  QString file = name.isEmpty() ? QString() : QFileInfo(name).absoluteFilePath();
  if (file.endsWith(QLatin1String(".shards"))) file.chop(7);
  chosen_ = true;
  rows_ = {};
  said_.clear();
  offer_files({file});
  choice_->setCurrentIndex(choice_->findData(file));
  refresh();
}

void SubmissionsDialog::refresh() {
  again_.stop();
  QStringList words{QStringLiteral("jobs"), QStringLiteral("--format"), QStringLiteral("json")};
  if (!file().isEmpty()) words << file();
  if (rows_.isEmpty()) state_->setText(qtext(say::submissions::asking{}));
  jobs_.start(words);
}

void SubmissionsDialog::show_answer(const QJsonObject& said, const QString& why) {
  const QJsonValue rows = said[QLatin1String("rows")];
  // Of what is not whole it says so by its exit code as well; of a queue that is silent in a warning.
  const QString warning =
      rows.isArray() ? jobs_.last_words() : qtext(say::submissions::failed{.why = one_line(why).toStdString()});
  state_->setText(warning.isEmpty() ? said_ : warning);
  empty_->set_words(
      {rows.isArray() ? qtext(say::submissions::none{}) : QString(), qtext(say::submissions::none_help{})});
  show_rows(rows.isArray() ? rows.toArray() : QJsonArray(rows_));  // one answer that fails takes nothing away
  if (isVisible() && std::ranges::any_of(rows_, is_at_work)) again_.start();
  emit refreshed();
}

void SubmissionsDialog::show_rows(const QJsonArray& rows) {
  // New submissions stand above older ones: what is chosen is known by its file.
  const QString chosen = file().isEmpty() ? target() : QString();
  int row = table_->currentIndex().row();
  const int scrolled = table_->verticalScrollBar()->value();
  rows_ = rows;
  for (int i = 0; !chosen.isEmpty() && i < rows_.size(); ++i) {
    if (word(rows_.at(i), "file") == chosen) row = i;
  }
  QStringList files;
  for (const auto& each : rows_) files << word(each, "file");
  if (file().isEmpty()) offer_files(files);
  model_->set_table(table_of(rows_, !file().isEmpty()));
  if (row >= 0 && row < model_->rowCount()) table_->choose_row(row);
  table_->verticalScrollBar()->setValue(scrolled);
  stack_->setCurrentIndex(rows_.isEmpty() ? 1 : 0);
  offer();
}

QString SubmissionsDialog::file() const {
  return choice_->currentData().toString();
}

QJsonArray SubmissionsDialog::rows_of_target() const {
  if (!file().isEmpty()) return rows_;
  const QModelIndexList selected = table_->selectionModel()->selectedRows();
  return selected.isEmpty() ? QJsonArray() : QJsonArray{rows_.at(selected.front().row())};
}

QString SubmissionsDialog::target() const {
  return file().isEmpty() ? word(rows_of_target().first(), "file") : file();
}

void SubmissionsDialog::offer() {
  const QJsonArray rows = rows_of_target();
  const bool free = !action_.running();
  const auto is_missing = [](const QJsonValue& row) { return !is_whole(row) && !is_at_work(row); };
  cancel_->setEnabled(free && std::ranges::any_of(rows, is_at_work));
  resubmit_->setEnabled(free && std::ranges::any_of(rows, is_missing));
  open_->setEnabled(!target().isEmpty() && QFileInfo(target()).isFile());
}

void SubmissionsDialog::ask_first(const Message& title, const Message& question, const QString& option) {
  auto* box = new QMessageBox(QMessageBox::Question, qtext(title), qtext(question), QMessageBox::NoButton, this);
  box->setObjectName(QStringLiteral("ask-first"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  const QPushButton* yes = box->addButton(qtext(title), QMessageBox::AcceptRole);
  box->setDefaultButton(box->addButton(qtext(say::submissions::leave{}), QMessageBox::RejectRole));
  connect(yes, &QPushButton::clicked, this, [this, file = target(), option] {
    action_.start({QStringLiteral("jobs"), file, option});
    said_ = qtext(say::submissions::asking{});
    state_->setText(said_);
    offer();
  });
  box->open();
}

QString SubmissionsDialog::state() const {
  return state_->text();
}

void SubmissionsDialog::showEvent(QShowEvent* event) {
  QDialog::showEvent(event);
  if (!event->spontaneous()) refresh();
}

void SubmissionsDialog::hideEvent(QHideEvent* event) {
  QDialog::hideEvent(event);
  again_.stop();
  jobs_.stop();
}

}  // namespace attnscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/report_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <exception>
#include <new>
#include <set>

#include "messages/report_dialog.h"
#include "profiler/measure/device.h"
#include "profiler/points/point_query.h"
#include "profiler/report/report.h"
#include "ui/process/save_file.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

/// Returns one sentence about skipped rows; empty if there are none.
QString damage_warning(const RunStore& store) {
  const std::vector<InvalidRow> rows = store.invalid_rows();
  if (rows.empty()) return {};
  const std::string file = store.file().filename().string();
  return qtext("{} is damaged; values in the report may be missing or wrong.", file);
}

ReportOutcome write_unchecked(const ReportOptions& report_options) {
  ReportOutcome outcome;
  LoadedRuns loaded = load_runs(report_options.sources, {.read =
                                                             [&](const RunStore& store) {
                                                               if (outcome.warning.isEmpty())
                                                                 outcome.warning = damage_warning(store);
                                                             },
                                                         .file_names_in_titles = true});
  for (const RunSource& source : report_options.sources) {
    const bool whole = std::ranges::all_of(source.runs, [&](std::int64_t run) {
      return loaded.places.contains({source.file, run});
    });
    if (!whole) return {qtext(msg::report_dialog::run_missing{.file = source.file.string()}), {}};
  }
  const std::size_t all = loaded.table.size();
  if (!report_options.filter.empty()) {
    const auto query = analysis::PointQuery::parse(report_options.filter, loaded.table);
    if (!query) return {qtext(query.error()), {}};
    loaded.keep(query->rows(loaded.table));
    if (loaded.table.empty() || (report_options.baseline && !loaded.places.contains(*report_options.baseline))) {
      return {qtext("no point matches the filter {}", report_options.filter), {}};
    }
  }
  report::Request request{.title = report_options.title};
  if (report_options.baseline) request.baseline = {loaded.places.at(*report_options.baseline)};
  const report::Input input = report_input(std::move(loaded), program_version(), report_options.filter, all);
  const Result<report::Document, Message> document = report::make_report(input, request);
  if (!document.ok()) return {qtext(document.error()), {}};
  write_report(*document, report_options.output, OutputFile::ExistingFile::any);
  if (!document->warnings.empty()) outcome.warning = to_qstring(document->warnings.front());
  return outcome;
}

}  // namespace

ReportOutcome try_write_report(const ReportOptions& report_options) {
  try {
    ReportOutcome outcome = write_unchecked(report_options);
    outcome.error = one_line(outcome.error);
    outcome.warning = one_line(outcome.warning);
    return outcome;
  } catch (const std::bad_alloc&) {
    return {qtext(msg::report_dialog::no_memory{}), {}};
  } catch (const std::exception& error) {
    return {one_line(QString::fromLocal8Bit(error.what())), {}};
  }
}

namespace {

std::filesystem::path path_of(const QString& name) {
  return {QFile::encodeName(name).toStdString()};
}

std::set<int> checked_rows(const QListWidget& list) {
  std::set<int> rows;
  for (int row = 0; row < list.count(); ++row) {
    if (list.item(row)->checkState() == Qt::Checked) rows.insert(row);
  }
  return rows;
}

}  // namespace

ReportDialog::ReportDialog(const Workspace& workspace, QWidget* parent)
    : QDialog(parent),
      writer_([](const ReportOptions& report_options,
                 const StaleCheck& /*outdated*/) { return try_write_report(report_options); },
              [this](const ReportOutcome& outcome) { show_written(outcome); }) {
  setWindowTitle(qtext(msg::report_dialog::title{}));
  filter_ = workspace.query().toStdString();
  add_fields();
  list_runs(workspace);
  resize(560, 560);
}

void ReportDialog::add_fields() {
  auto* column = new QVBoxLayout(this);
  QString words = qtext(msg::report_dialog::about{});
  if (!filter_.empty()) words += QLatin1Char(' ') + qtext(msg::report_dialog::filtered{.filter = filter_});
  auto* about = new QLabel(words, this);
  about->setTextFormat(Qt::PlainText);
  about->setWordWrap(true);
  column->addWidget(about);
  list_ = new QListWidget(this);
  list_->setObjectName(QStringLiteral("report-runs"));
  list_->setAccessibleName(qtext(msg::report_dialog::runs{}));
  baseline_ = new QComboBox(this);
  baseline_->setObjectName(QStringLiteral("report-baseline"));
  baseline_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  baseline_->setToolTip(qtext(msg::report_dialog::baseline_help{}));
  title_ = new QLineEdit(this);
  title_->setObjectName(QStringLiteral("report-title"));
  title_->setPlaceholderText(qtext(msg::report_dialog::name_example{}));
  file_ = new QLineEdit(default_path(QStringLiteral("attnscope-report.html")), this);
  file_->setObjectName(QStringLiteral("report-file"));
  auto* choose = new QPushButton(qtext(msg::report_dialog::browse{}), this);
  choose->setAutoDefault(false);
  connect(choose, &QPushButton::clicked, this, &ReportDialog::choose_file);
  auto* place = new QHBoxLayout;
  place->addWidget(file_, 1);
  place->addWidget(choose);
  auto* form = new QFormLayout;
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->addRow(qtext(msg::report_dialog::runs{}), list_);
  form->addRow(qtext(msg::report_dialog::baseline{}), baseline_);
  form->addRow(qtext(msg::report_dialog::name{}), title_);
  form->addRow(qtext(msg::report_dialog::file{}), place);
  static_cast<QLabel*>(form->labelForField(place))->setBuddy(file_);
  column->addLayout(form, 1);
  open_after_ = new QCheckBox(qtext(msg::report_dialog::open{}), this);
  open_after_->setObjectName(QStringLiteral("report-opens"));
  open_after_->setChecked(true);
  column->addWidget(open_after_);
  state_ = new QLabel(this);
  state_->setObjectName(QStringLiteral("report-state"));
  state_->setWordWrap(true);
  state_->setTextFormat(Qt::PlainText);
  state_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  state_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  state_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  column->addWidget(state_);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  write_ = buttons->addButton(qtext(msg::report_dialog::write{}), QDialogButtonBox::ActionRole);
  write_->setObjectName(QStringLiteral("report-write"));
  write_->setDefault(true);
  connect(write_, &QPushButton::clicked, this, &ReportDialog::write);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  column->addWidget(buttons);
}

void ReportDialog::list_runs(const Workspace& workspace) {
  const std::vector<QString> titles = distinct_titles(workspace.runs());
  baseline_->addItem(qtext(msg::report_dialog::no_baseline{}));
  for (std::size_t i = 0; i < workspace.runs().size(); ++i) {
    const LoadedRun& run = workspace.runs()[i];
    const QString words = qtext(msg::report_dialog::run{.file = workspace.file_name(run.info->file).toStdString(),
                                                        .run = titles[i].toStdString()});
    auto* item = new QListWidgetItem(words, list_);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(run.visible ? Qt::Checked : Qt::Unchecked);
    baseline_->addItem(words);
    runs_.push_back({path_of(run.info->file), run.info->summary.id});
  }
}

void ReportDialog::choose_file() {
  const QString path = QFileDialog::getSaveFileName(this, qtext(msg::report_dialog::choose_title{}), file_->text(),
                                                    qtext(msg::report_dialog::filter{}));
  if (path.isEmpty()) return;
  file_->setText(path);
  confirmed_path_ = path;  // the file dialog has asked whether to replace the file
}

std::optional<ReportOptions> ReportDialog::report_options() {
  const std::set<int> checked = checked_rows(*list_);
  const int baseline = baseline_->currentIndex() - 1;
  const QString file = file_->text().trimmed();
  ReportOptions report_options;
  report_options.output = path_of(file);
  report_options.filter = filter_;
  std::set<int> runs = checked;
  if (baseline >= 0) runs.insert(baseline);
  for (const int row : runs) {
    const ListedRun& run = runs_[static_cast<std::size_t>(row)];
    auto source = std::ranges::find(report_options.sources, run.file, &RunSource::file);
    if (source == report_options.sources.end())
      source = report_options.sources.insert(report_options.sources.end(), RunSource{run.file});
    source->runs.push_back(run.run);
  }
  const auto refuse = [&](const QString& why) {
    state_->setText(why);
    return std::nullopt;
  };
  if (runs.empty()) return refuse(qtext(msg::report_dialog::no_run_selected{}));
  if (baseline >= 0 && runs.size() == 1) return refuse(qtext(msg::report_dialog::baseline_alone{}));
  if (file.isEmpty()) return refuse(qtext(msg::report_dialog::no_file{}));
  if (contains_measurements(report_options.output, report_options.sources))
    return refuse(qtext("{} contains measurements (use another file name)", file.toStdString()));
  if (!report::is_report_name(report_options.output))
    return refuse(qtext("{}: unsupported report format (use .html or .md)", file.toStdString()));
  if (QFileInfo::exists(file) && confirmed_path_ != file) {
    confirmed_path_ = file;
    return refuse(qtext(msg::report_dialog::replaces{.file = file.toStdString()}));
  }
  if (baseline >= 0) {
    const ListedRun& run = runs_[static_cast<std::size_t>(baseline)];
    report_options.baseline = {run.file, run.run};
  }
  report_options.title = title_->text().trimmed().toStdString();
  return report_options;
}

void ReportDialog::write() {
  if (writer_.is_busy()) return;
  const std::optional<ReportOptions> asked = report_options();
  if (!asked) return;
  target_path_ = file_->text().trimmed();
  write_->setEnabled(false);
  state_->setText(qtext(msg::report_dialog::writing{.file = target_path_.toStdString()}));
  writer_.request(*asked, always_in_background);
}

void ReportDialog::show_written(const ReportOutcome& outcome) {
  write_->setEnabled(true);
  confirmed_path_ = target_path_;
  if (!outcome.error.isEmpty()) return state_->setText(outcome.error);
  QString words = qtext(msg::report_dialog::written{.file = target_path_.toStdString()});
  const bool page = target_path_.endsWith(QLatin1String(".html"));
  const QUrl url = QUrl::fromLocalFile(QFileInfo(target_path_).absoluteFilePath());
  if (page && open_after_->isChecked() && !QDesktopServices::openUrl(url))
    words = qtext(msg::report_dialog::not_opened{.file = target_path_.toStdString()});
  if (!outcome.warning.isEmpty()) words += QLatin1Char('\n') + outcome.warning;
  state_->setText(words);
}

}  // namespace attnscope::ui

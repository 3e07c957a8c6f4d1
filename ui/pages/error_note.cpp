// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/error_note.h"

#include <fmt/format.h>
#include <QDialog>
#include <QDialogButtonBox>
#include <QEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QStyleOptionFocusRect>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/model/device_limits.h"
#include "messages/prediction.h"
#include "messages/terminal.h"
#include "profiler/analysis/prediction_error.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::PublishedError;
using analysis::PublishedErrors;

constexpr std::string_view dram_bytes = "dram_bytes";
constexpr std::string_view time_word = "time";
/// Below it, a 95th percentile says nothing.
constexpr std::size_t few_problems = 3;
constexpr int padding = 4;

std::string short_gpu(const std::string& name) {
  return QString::fromStdString(name).remove(QStringLiteral("NVIDIA ")).toStdString();
}

QString share(double value) {
  return qtext(Share(value));
}

/// "DRAM ±0.4% (p95 1.4%)"
Message figure(const PublishedError& row, bool brief) {
  const std::string median = text(Share(row.median));
  const Message what = row.quantity == time_word ? Message(say::prediction::time{}) : Message(say::prediction::dram{});
  if (brief) return say::prediction::median_alone{.quantity = what, .median = median};
  if (row.problems < few_problems) {
    return row.problems == 1
               ? Message(say::prediction::of_one_problem{.quantity = what, .median = median})
               : say::prediction::of_few_problems{.quantity = what, .median = median, .problems = row.problems};
  }
  return say::prediction::figure{.quantity = what, .median = median, .p95 = text(Share(row.p95))};
}

/// "FA3", "FA3 fp8", "all": of judged_as().
QString algorithm_word(std::string_view judged) {
  const std::size_t end = std::min(judged.find(' '), judged.size());
  const std::string_view algorithm = judged.substr(0, end);
  if (algorithm == "all") return QStringLiteral("all");
  return short_title(algorithm) + QString::fromUtf8(judged.substr(end));
}

/// "FA2 DRAM ±0.4% (p95 1.4%), time ±56% (p95 75%)"
QString figures_of(const PublishedErrors& errors, const SimulatedPart& part,
                   const std::vector<std::string_view>& quantities, bool brief) {
  QStringList figures;
  for (const std::string_view quantity : quantities) {
    const PublishedError* row = errors.find(part.algorithm, part.pass, quantity);
    if (row != nullptr) figures << qtext(figure(*row, brief));
  }
  const QString title = algorithm_word(part.algorithm);
  if (figures.isEmpty()) return qtext(say::prediction::never_compared{.what = title.toStdString()});
  return title + QLatin1Char(' ') + figures.join(QStringLiteral(", "));
}

/// What the tile that is simulated as the fastest costs on recorded maps, at most.
QString chosen_of(const PublishedErrors& errors, const SimulatedPart& part) {
  double most = 0;
  std::size_t maps = 0;
  for (const analysis::PublishedRanks& row : errors.ranks) {
    if (row.algorithm != part.algorithm) continue;
    most = std::max(most, row.chosen_over);
    ++maps;
  }
  if (maps == 0) return {};
  return QStringLiteral(", ") +
         qtext(say::prediction::chosen_at_most{.chosen = fmt::format("{:.3f}", most), .maps = maps});
}

class TableHtml {
 public:
  void row(const QStringList& cells, bool heading = false) {
    html_ += QStringLiteral("<tr>");
    for (qsizetype i = 0; i < cells.size(); ++i) {
      const QString text = cells[i].toHtmlEscaped();
      html_ += QStringLiteral("<td align='%1' style='padding-right:14px'>%2</td>")
                   .arg(i < words_ ? QStringLiteral("left") : QStringLiteral("right"),
                        heading ? QStringLiteral("<b>%1</b>").arg(text) : text);
    }
    html_ += QStringLiteral("</tr>");
  }
  /// The first `words` columns are words, the others numbers.
  void begin(qsizetype words) {
    words_ = words;
    html_ += QStringLiteral("<table cellspacing='0' cellpadding='2'>");
  }
  void end() { html_ += QStringLiteral("</table>"); }
  void paragraph(const QString& text, const QColor& color) {
    html_ += QStringLiteral("<p style='color:%1'>%2</p>").arg(color.name(), text.toHtmlEscaped());
  }
  [[nodiscard]] QString take() { return std::move(html_); }

 private:
  QString html_;
  qsizetype words_ = 0;
};

}  // namespace

std::set<SimulatedPart> simulated_parts(const PointSet& points, std::span<const Row> rows) {
  std::set<SimulatedPart> parts;
  const analysis::PointTable& table = points.table();
  for (const Row row : rows) {
    const analysis::Run& run = table.run(row);
    if (run.provenance != Provenance::simulated) continue;
    const AttentionProblem problem = table.problem(row);
    parts.insert(
        {analysis::judged_as(table.algorithm(row), problem.dtype), problem.pass, run.device_name, run.l2_from});
  }
  return parts;
}

ErrorNote::ErrorNote(QWidget* parent) : QAbstractButton(parent) {
  setAttribute(Qt::WA_Hover);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  // A long line must not widen the page.
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  hide();
  connect(this, &QAbstractButton::clicked, this, [this] { show_prediction_tables(window(), parts_); });
}

void ErrorNote::show_for(std::set<SimulatedPart> parts, First first, std::optional<OfMap> map) {
  parts_ = std::move(parts);
  map_ = map;
  first_ = first;
  setVisible(!parts_.empty());
  refresh();
}

QString ErrorNote::words() const {
  return line({dram_bytes, time_word});
}

QString ErrorNote::line(const std::vector<std::string_view>& quantities, bool brief) const {
  std::map<std::string, QStringList> figures;  // by the GPU that judges them
  QStringList never_compared;
  QStringList inherited;
  for (const SimulatedPart& part : parts_) {
    const PublishedErrors& errors = analysis::published_errors(part.gpu);
    QString of_part = figures_of(errors, part, quantities, brief);
    if (map_ && !map_->own && !brief) of_part += chosen_of(errors, part);
    figures[errors.device] << of_part;
    const std::string gpu = short_gpu(part.gpu);
    if (!same_gpu(errors.device, part.gpu)) never_compared << qtext(say::prediction::never_compared{.what = gpu});
    if (!part.l2_from.empty()) {
      inherited << qtext(say::prediction::l2_from{.what = gpu, .gpu = short_gpu(part.l2_from)});
    }
  }
  QStringList lines;
  if (map_ && map_->own) {
    const analysis::MapError& own = *map_->own;
    lines << qtext(say::prediction::own_map{.tiles = own.tiles,
                                            .median = attnscope::text(Share(own.median)),
                                            .worst = attnscope::text(Share(own.worst)),
                                            .chosen = fmt::format("{:.3f}", own.chosen_over)});
  }
  for (auto& [gpu, of_gpu] : figures) {
    of_gpu.removeDuplicates();  // of several GPUs without errors of their own
    lines << qtext(
        say::prediction::line{.devices = short_gpu(gpu), .figures = of_gpu.join(QStringLiteral(" · ")).toStdString()});
  }
  never_compared.removeDuplicates();
  inherited.removeDuplicates();
  return (lines + never_compared + inherited).join(QStringLiteral(" · "));
}

void ErrorNote::refresh() {
  if (parts_.empty()) return;
  const QString whole = words();
  setAccessibleName(whole);
  setToolTip(plain_tip(whole + QLatin1Char('\n') + qtext(say::prediction::click{})));
  fit();
}

void ErrorNote::fit() {
  const QFontMetrics metrics = fontMetrics();
  const int room = width() - 2 * padding;
  const std::vector<std::string_view> first{first_ == First::bytes ? dram_bytes : time_word};
  QString fitting = words();
  if (metrics.horizontalAdvance(fitting) > room) fitting = line(first);
  if (metrics.horizontalAdvance(fitting) > room) fitting = line(first, true);
  const QString text = metrics.elidedText(fitting, Qt::ElideRight, std::max(room, 0));
  if (text != this->text()) setText(text);
}

QSize ErrorNote::sizeHint() const {
  return {fontMetrics().horizontalAdvance(QLatin1Char('x')) * 40, fontMetrics().height() + 6};
}

void ErrorNote::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  const bool lit = underMouse();
  QPainter painter(this);
  QFont font = this->font();
  font.setUnderline(lit);
  painter.setFont(font);
  painter.setPen(lit ? colors.text : colors.muted);
  painter.drawText(rect().adjusted(padding, 0, -padding, 0), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                   text());
  if (!hasFocus()) return;
  QStyleOptionFocusRect frame;
  frame.initFrom(this);
  style()->drawPrimitive(QStyle::PE_FrameFocusRect, &frame, &painter, this);
}

void ErrorNote::changeEvent(QEvent* event) {
  QAbstractButton::changeEvent(event);
  if (event->type() == QEvent::FontChange && !parts_.empty()) fit();
}

void ErrorNote::resizeEvent(QResizeEvent* event) {
  QAbstractButton::resizeEvent(event);
  if (!parts_.empty()) fit();
}

QString prediction_table_html(const PublishedErrors& errors, const QColor& muted) {
  const auto number = [](double value, int digits) { return QString::number(value, 'f', digits); };
  const auto word = [](const std::string& text) { return QString::fromStdString(text); };
  TableHtml html;
  html.paragraph(qtext(say::terminal::predicted_how{}), muted);
  html.begin(4);
  html.row({qtext(say::prediction::quantity{}), qtext(say::prediction::algorithm{}), qtext(say::prediction::pass{}),
            qtext(say::prediction::half{}), qtext(say::prediction::problems{}), qtext(say::prediction::points{}),
            qtext(say::prediction::median{}), qtext(say::prediction::p95{}), qtext(say::prediction::worst{}),
            qtext(say::prediction::ratio{})},
           true);
  for (const PublishedError& row : errors.errors) {
    html.row({qtext(analysis::title_of_quantity(row.quantity)), algorithm_word(row.algorithm), word(row.pass),
              word(row.half), QString::number(row.problems), QString::number(row.points), share(row.median),
              share(row.p95), number(row.worst_factor, 2), row.ratio ? number(*row.ratio, 3) : QString()});
  }
  html.end();
  if (errors.ranks.empty()) return html.take();
  html.paragraph(qtext(say::terminal::predicted_ranks{}), muted);
  html.begin(4);
  html.row({qtext(say::prediction::algorithm{}), qtext(say::prediction::pass{}), qtext(say::prediction::problem{}),
            qtext(say::prediction::half{}), qtext(say::prediction::tiles{}), qtext(say::prediction::spearman{}),
            qtext(say::prediction::chosen{})},
           true);
  for (const analysis::PublishedRanks& row : errors.ranks) {
    html.row({algorithm_word(row.algorithm), word(row.pass), word(row.problem), word(row.half),
              QString::number(row.tiles), number(row.spearman, 3), number(row.chosen_over, 3)});
  }
  html.end();
  return html.take();
}

void show_prediction_tables(QWidget* window, const std::set<SimulatedPart>& parts) {
  auto* dialog = new QDialog(window);
  dialog->setObjectName(QStringLiteral("predictions"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  const QColor muted = plot_colors(dialog->palette()).muted;
  QStringList judges;
  for (const SimulatedPart& part : parts) {
    judges << QString::fromStdString(short_gpu(analysis::published_errors(part.gpu).device));
  }
  judges.removeDuplicates();
  QString html;
  for (const QString& gpu : judges) {
    if (judges.size() > 1) html += QStringLiteral("<h3>%1</h3>").arg(gpu.toHtmlEscaped());
    html += prediction_table_html(analysis::published_errors(gpu.toStdString()), muted);
  }
  dialog->setWindowTitle(qtext(say::prediction::title{.devices = judges.join(QStringLiteral(", ")).toStdString()}));
  auto* text = new QTextBrowser(dialog);
  text->setFrameShape(QFrame::NoFrame);
  text->setAccessibleName(dialog->windowTitle());
  text->document()->setDocumentMargin(10);
  text->setHtml(html);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(text);
  column->addWidget(buttons);
  dialog->resize(QSize(860, 640).boundedTo(window->size()));
  dialog->show();
}

}  // namespace attnscope::ui

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
#include <utility>

#include "messages/prediction.h"
#include "messages/terminal.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

const QString dram_bytes = QStringLiteral("dram_bytes");
const QString time_word = QStringLiteral("time");
/// Below it, a 95th percentile says nothing.
constexpr qint64 few_problems = 3;
constexpr int padding = 4;

QString short_gpu(QString name) {
  return name.remove(QStringLiteral("NVIDIA "));
}

/// "DRAM ±0.4% (p95 1.4%)"
Message figure(const PredictionRow& row, bool brief) {
  const std::string median = text(Share(*row.median));
  const Message what = row.quantity == time_word ? Message(say::prediction::time{}) : Message(say::prediction::dram{});
  if (brief) return say::prediction::median_alone{.quantity = what, .median = median};
  if (row.problems < few_problems || !row.p95) {
    return row.problems == 1
               ? Message(say::prediction::of_one_problem{.quantity = what, .median = median})
               : say::prediction::of_few_problems{.quantity = what, .median = median, .problems = row.problems};
  }
  return say::prediction::figure{.quantity = what, .median = median, .p95 = text(Share(*row.p95))};
}

/// "FA2 DRAM ±0.4% (p95 1.4%), time ±56% (p95 75%)"
QString figures_of(const PredictionTable& table, const SimulatedPart& part, const QStringList& quantities, bool brief) {
  QStringList figures;
  for (const QString& quantity : quantities) {
    const PredictionRow* row = table.figures(to_qstring(part.algorithm), to_qstring(to_string(part.pass)), quantity);
    if (row != nullptr) figures << qtext(figure(*row, brief));
  }
  const QString title = short_title(part.algorithm);
  if (figures.isEmpty()) return qtext(say::prediction::never_compared{.what = title.toStdString()});
  return title + QLatin1Char(' ') + figures.join(QStringLiteral(", "));
}

/// What the tile that is simulated as the fastest costs on recorded maps, at most.
QString chosen_of(const PredictionTable& table, const SimulatedPart& part) {
  double most = 0;
  std::size_t maps = 0;
  for (const PredictionRow& row : table.rows) {
    if (row.quantity != QLatin1String("tile_ranks") || !row.chosen_over ||
        row.algorithm != to_qstring(part.algorithm)) {
      continue;
    }
    most = std::max(most, *row.chosen_over);
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

QString algorithm_word(const QString& algorithm) {
  return algorithm == QLatin1String("all") ? algorithm : short_title(algorithm.toStdString());
}

}  // namespace

std::set<SimulatedPart> simulated_parts(const PointSet& points, std::span<const Row> rows) {
  std::set<SimulatedPart> parts;
  const analysis::PointTable& table = points.table();
  for (const Row row : rows) {
    const analysis::Run& run = table.run(row);
    if (run.provenance != Provenance::simulated) continue;
    parts.insert({table.algorithm(row), table.problem(row).pass, run.device_name, run.l2_from});
  }
  return parts;
}

ErrorNote::ErrorNote(SimulationErrors& errors, QWidget* parent) : QAbstractButton(parent), errors_(errors) {
  setAttribute(Qt::WA_Hover);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  // A long line must not widen the page.
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  hide();
  connect(&errors_, &SimulationErrors::changed, this, &ErrorNote::refresh);
  connect(this, &QAbstractButton::clicked, this, [this] { show_prediction_table(window(), errors_); });
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

QString ErrorNote::line(const QStringList& quantities, bool brief) const {
  switch (errors_.state()) {
    case SimulationErrors::State::unasked:
    case SimulationErrors::State::computing:
      return qtext(say::prediction::computing{});
    case SimulationErrors::State::unknown:
      return qtext(say::prediction::unknown{.why = errors_.why_unknown().toStdString()});
    case SimulationErrors::State::known:
      break;
  }
  const PredictionTable& table = errors_.table();
  QStringList figures;
  QStringList never_compared;
  QStringList inherited;
  for (const SimulatedPart& part : parts_) {
    figures << figures_of(table, part, quantities, brief);
    if (map_ && !map_->own && !brief) figures.back() += chosen_of(table, part);
    const QString gpu = QString::fromStdString(part.gpu);
    if (!table.devices.contains(gpu)) never_compared << short_gpu(gpu);
    if (!part.l2_from.empty()) {
      inherited << qtext(say::prediction::l2_from{
          .what = short_gpu(gpu).toStdString(), .gpu = short_gpu(QString::fromStdString(part.l2_from)).toStdString()});
    }
  }
  figures.removeDuplicates();  // of several GPUs
  never_compared.removeDuplicates();
  inherited.removeDuplicates();
  QString text =
      qtext(say::prediction::line{.devices = short_gpu(table.devices.join(QStringLiteral(", "))).toStdString(),
                                  .figures = figures.join(QStringLiteral(" · ")).toStdString()});
  for (const QString& gpu : never_compared) {
    text += QStringLiteral(" · ") + qtext(say::prediction::never_compared{.what = gpu.toStdString()});
  }
  for (const QString& each : inherited) text += QStringLiteral(" · ") + each;
  if (!map_ || !map_->own) return text;
  const analysis::MapError& own = *map_->own;
  return qtext(say::prediction::own_map{.tiles = own.tiles,
                                        .median = attnscope::text(Share(own.median)),
                                        .worst = attnscope::text(Share(own.worst)),
                                        .chosen = fmt::format("{:.3f}", own.chosen_over)}) +
         QStringLiteral(" · ") + text;
}

void ErrorNote::refresh() {
  if (parts_.empty()) return;
  const bool known = errors_.state() == SimulationErrors::State::known;
  setEnabled(known);
  const QString whole = words();
  setAccessibleName(whole);
  setToolTip(plain_tip(known ? whole + QLatin1Char('\n') + qtext(say::prediction::click{}) : whole));
  fit();
}

void ErrorNote::fit() {
  const QFontMetrics metrics = fontMetrics();
  const int room = width() - 2 * padding;
  const QStringList first{first_ == First::bytes ? dram_bytes : time_word};
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
  const bool lit = isEnabled() && underMouse();
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

void ErrorNote::showEvent(QShowEvent* event) {
  QAbstractButton::showEvent(event);
  errors_.want();
}

QString prediction_table_html(const PredictionTable& table, const QColor& muted) {
  const auto number = [](std::optional<double> value, int digits) {
    return value ? QString::number(*value, 'f', digits) : QString();
  };
  const auto share = [](std::optional<double> value) { return value ? qtext(Share(*value)) : QString(); };
  const QString ranks = QStringLiteral("tile_ranks");
  TableHtml html;
  html.paragraph(qtext(say::terminal::predicted_how{}), muted);
  html.begin(4);
  html.row({qtext(say::prediction::quantity{}), qtext(say::prediction::algorithm{}), qtext(say::prediction::pass{}),
            qtext(say::prediction::half{}), qtext(say::prediction::problems{}), qtext(say::prediction::points{}),
            qtext(say::prediction::median{}), qtext(say::prediction::p95{}), qtext(say::prediction::worst{}),
            qtext(say::prediction::ratio{})},
           true);
  for (const PredictionRow& row : table.rows) {
    // Ranks, points that were left out, and what a later program knows beside.
    if (!row.median || (row.quantity != time_word && row.quantity != QLatin1String("dram_bytes"))) continue;
    html.row({row.quantity == time_word ? qtext(say::prediction::time{}) : qtext(say::prediction::dram{}),
              algorithm_word(row.algorithm), row.pass, row.half, QString::number(row.problems),
              QString::number(row.points), share(row.median), share(row.p95), number(row.worst_factor, 2),
              number(row.ratio, 3)});
  }
  html.end();
  if (std::none_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row.quantity == ranks; })) {
    return html.take();
  }
  html.paragraph(qtext(say::terminal::predicted_ranks{}), muted);
  html.begin(4);
  html.row({qtext(say::prediction::algorithm{}), qtext(say::prediction::pass{}), qtext(say::prediction::problem{}),
            qtext(say::prediction::half{}), qtext(say::prediction::tiles{}), qtext(say::prediction::spearman{}),
            qtext(say::prediction::chosen{})},
           true);
  for (const PredictionRow& row : table.rows) {
    if (row.quantity != ranks) continue;
    html.row({algorithm_word(row.algorithm), row.pass, row.problem, row.half, QString::number(row.points),
              number(row.spearman, 3), number(row.chosen_over, 3)});
  }
  html.end();
  return html.take();
}

void show_prediction_table(QWidget* window, const SimulationErrors& errors) {
  auto* dialog = new QDialog(window);
  dialog->setObjectName(QStringLiteral("predictions"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(qtext(
      say::prediction::title{.devices = short_gpu(errors.table().devices.join(QStringLiteral(", "))).toStdString()}));
  auto* text = new QTextBrowser(dialog);
  text->setFrameShape(QFrame::NoFrame);
  text->setAccessibleName(dialog->windowTitle());
  text->document()->setDocumentMargin(10);
  text->setHtml(prediction_table_html(errors.table(), plot_colors(dialog->palette()).muted));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(text);
  column->addWidget(buttons);
  dialog->resize(QSize(860, 640).boundedTo(window->size()));
  dialog->show();
}

}  // namespace attnscope::ui

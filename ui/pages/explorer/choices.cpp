// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/choices.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/tile_table.h"
#include "messages/explorer_page.h"
#include "messages/prediction.h"
#include "profiler/plan/fields.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/multi_gpu_scaling.h"
#include "profiler/predict/speed_of_light.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

using ChoiceResult = Result<std::monostate, Message>;

const QString device_key = QStringLiteral("device");
const QString m_key = QStringLiteral("m");
const QString padding_key = QStringLiteral("padding");
const QString algorithm_key = QStringLiteral("algorithm");

const Algorithm& algorithm_of(const ExplorerChoices& choices) {
  return *known_algorithms().find(choices.point.spec.algorithm);
}

const Knob* numeric_knob(const Algorithm& algorithm, std::string_view name) {
  const auto& knobs = algorithm.facts().knobs;
  const auto found = std::ranges::find(knobs, name, &Knob::name);
  return found == knobs.end() ? nullptr : &*found;
}

/// Drops knobs and knob values that the new algorithm does not have.
void drop_unsupported_knobs(ExplorerChoices& choices) {
  const Knobs given = choices.point.spec.knobs;
  for (const auto& [name, value] : given) {
    const Knob* knob = numeric_knob(algorithm_of(choices), name);
    if (knob == nullptr || !parse_knob(*knob, attnscope::to_string(value)))
      choices.point.spec.knobs.set(name, std::int64_t{0});
  }
}

ChoiceResult choose_algorithm(ExplorerChoices& choices, const std::string& name) {
  if (known_algorithms().find(name) == nullptr) {
    return Failure{make_message("unknown algorithm: '{}'", name)};
  }
  choices.point.spec.algorithm = name;
  drop_unsupported_knobs(choices);
  return std::monostate();
}

ChoiceResult choose_device(ExplorerChoices& choices, const std::string& name) {
  if (std::ranges::find(known_gpus(), name, &DeviceLimits::name) == known_gpus().end()) {
    return Failure{make_message("unknown GPU: '{}'", name)};
  }
  choices.device = name;
  choices.custom_limits = nullptr;
  return std::monostate();
}

ChoiceResult choose_factor(double& factor, const QString& text) {
  bool number = false;
  constexpr double percent = 100;
  const double value = text.toDouble(&number) / percent;
  if (!number || !(value >= min_what_if && value <= max_what_if)) {
    return Failure{make_message("invalid percentage: '{}' (use 25 to 800)", text.toStdString())};
  }
  factor = value;
  return std::monostate();
}

constexpr std::array what_if_factors{
    WhatIfFactor{"what_if_shared", &WhatIf::shared_memory, message_of<msg::explorer_page::what_if_shared>,
                 message_of<msg::explorer_page::what_if_shared_help>},
    WhatIfFactor{"what_if_l2", &WhatIf::l2, message_of<msg::explorer_page::what_if_l2>,
                 message_of<msg::explorer_page::what_if_l2_help>},
    WhatIfFactor{"what_if_dram", &WhatIf::dram_rate, message_of<msg::explorer_page::what_if_dram>,
                 message_of<msg::explorer_page::what_if_dram_help>}};

ChoiceResult choose_bytes(std::int64_t& target, const QString& text) {
  bool whole = false;
  const qint64 bytes = text.toLongLong(&whole);
  constexpr qint64 most = qint64{1} << 30U;  // Larger than on any GPU, and small enough to avoid overflow in sums.
  if (!whole || bytes < 0 || bytes > most)
    return Failure{
        make_message("invalid number of bytes: '{}' (use an integer from 0 to 1073741824)", text.toStdString())};
  target = bytes;
  return std::monostate();
}

ChoiceResult choose_field(ExplorerChoices& choices, const Field& field, const std::string& text) {
  PointSpec& spec = choices.point.spec;
  const FieldValue before = field.get(spec);
  const TileShape tile = spec.tile;
  const auto value = parse_field(field, text);
  if (!value) return Failure{value.error()};
  if (field.type == FieldType::integer &&
      (std::get<std::int64_t>(*value) < field.smallest || std::get<std::int64_t>(*value) > field.largest)) {
    return Failure{make_message("{} is out of range: {} (use {} to {})", field.name, std::get<std::int64_t>(*value),
                                field.smallest, field.largest)};
  }
  if (ChoiceResult done = field.set(spec, *value); !done) return done;
  // Fields that were equal stay equal, e.g. n_q and n_k of a square problem.
  for (const Field& other : point_fields()) {
    if (other.follows == field.name && other.get(spec) == before) other.restore(spec, field.get(spec));
  }
  if (spec.tile != tile) {
    // A tile chosen by the user replaces the rule's; knobs tied to the old tile are reset.
    choices.m_bytes.reset();
    const Knobs given = spec.knobs;
    for (const auto& [name, chosen] : given) {
      const Knob* knob = numeric_knob(algorithm_of(choices), name);
      if (knob != nullptr && knob->depends_on_tile) spec.knobs.set(name, std::int64_t{0});
    }
  }
  return std::monostate();
}

/// Returns `first`, then all values that the algorithm supports.
template <class Value, class Values>
std::vector<Value> first_then(Value first, const Values& supported) {
  std::vector<Value> all{first};
  for (const auto& each : supported) all.push_back(each);
  return all;
}

}  // namespace

ExplorerChoices default_choices() {
  constexpr std::int64_t length = 4096;
  constexpr std::int64_t heads = 16;
  ExplorerChoices choices;
  choices.device = known_gpus().front().name;
  PointSpec& spec = choices.point.spec;
  const auto& all = known_algorithms().algorithms();
  const auto usual = std::ranges::find_if(all, [](const Algorithm* algorithm) {
    return algorithm->facts().traffic_side(Pass::fwd) == TileSide::br && algorithm->facts().in_group(Group::tile_maps);
  });
  const Algorithm& algorithm = usual == all.end() ? *all.front() : **usual;
  spec.algorithm = algorithm.name();
  spec.problem.n_q = spec.problem.n_k = length;
  spec.problem.heads_q = spec.problem.heads_kv = heads;
  spec.problem.d = 128;
  spec.set_config(auto_config(algorithm, spec.problem, known_gpus().front()));
  return choices;
}

ExplorerChoices with_algorithm(const ExplorerChoices& choices, const std::string& algorithm) {
  ExplorerChoices next = choices;
  if (!choose_algorithm(next, algorithm)) return choices;
  const Algorithm& wanted = algorithm_of(next);
  const DeviceLimits limits = limits_of(next);
  PointSpec& spec = next.point.spec;
  const auto runs = [&] { return !wanted.refusal(spec.problem, spec.config(), limits); };
  if (algorithm == choices.point.spec.algorithm && runs()) return next;
  next.m_bytes.reset();
  // Try the current problem first, then the default problem.
  for (const AttentionProblem& like : {choices.point.spec.problem, default_choices().point.spec.problem}) {
    for (const std::int64_t d : first_then<std::int64_t>(choices.point.spec.problem.d, wanted.facts().head_dims)) {
      for (const DType dtype : first_then(like.dtype, wanted.facts().dtypes)) {
        for (const Mask& mask : {like.mask, Mask::none, Mask::causal}) {
          for (const Pass pass : {like.pass, Pass::fwd, Pass::bwd}) {
            spec.problem = like;
            spec.problem.d = d;
            spec.problem.dtype = dtype;
            spec.problem.mask = mask;
            spec.problem.pass = pass;
            spec.set_config(auto_config(wanted, spec.problem, limits));
            if (runs()) return next;
          }
        }
      }
    }
  }
  spec.problem = choices.point.spec.problem;
  spec.set_config(auto_config(wanted, spec.problem, limits));
  return next;
}

std::span<const WhatIfFactor> all_what_if_factors() {
  return what_if_factors;
}

DeviceLimits limits_of(const ExplorerChoices& choices) {
  if (choices.custom_limits != nullptr) return what_if(*choices.custom_limits, choices.what_if);
  const auto gpus = known_gpus();
  const auto found = std::ranges::find(gpus, choices.device, &DeviceLimits::name);
  return what_if(found == gpus.end() ? gpus.front() : *found, choices.what_if);
}

QJsonObject to_json(const ExplorerChoices& choices) {
  QJsonObject json{{device_key, QString::fromStdString(choices.device)},
                   {padding_key, QString::number(choices.point.padding_bytes)}};
  for (const Field& field : point_fields()) {
    json[to_qstring(field.name)] = QString::fromStdString(field_text(field, choices.point.spec));
  }
  for (const auto& [name, value] : choices.point.spec.knobs) {
    json[QString::fromStdString(name)] = QString::fromStdString(attnscope::to_string(value));
  }
  if (choices.m_bytes) json[m_key] = QString::number(*choices.m_bytes);
  for (const WhatIfFactor& each : what_if_factors) {
    const double factor = choices.what_if.*each.factor;
    if (factor != 1) json[to_qstring(each.name)] = QString::number(100 * factor);
  }
  return json;
}

void apply_json(const QJsonObject& json, ExplorerChoices& choices) {
  const auto take = [&](const QString& name) {
    const QJsonValue value = json[name];
    if (value.isString()) (void)choose(choices, name, value.toString());
  };
  // Knobs depend on the algorithm, and some on the tile.
  take(algorithm_key);
  take(device_key);
  for (const Field& field : point_fields()) {
    if (field.role != FieldRole::algorithm) take(to_qstring(field.name));
  }
  // Fields that can follow another field are saved separately.
  for (const Field& field : point_fields()) {
    if (!field.follows.empty()) take(to_qstring(field.name));
  }
  for (const Knob& knob : algorithm_of(choices).facts().knobs) take(QString::fromStdString(knob.name));
  for (const WhatIfFactor& each : what_if_factors) take(to_qstring(each.name));
  take(padding_key);
  take(m_key);
}

ChoiceResult choose(ExplorerChoices& choices, const QString& name, const QString& text) {
  const std::string word = text.toStdString();
  if (name == algorithm_key) return choose_algorithm(choices, word);
  if (name == device_key) return choose_device(choices, word);
  if (name == padding_key) return choose_bytes(choices.point.padding_bytes, text);
  if (name == m_key) {
    std::int64_t bytes = 0;
    if (ChoiceResult done = choose_bytes(bytes, text); !done) return done;
    choices.m_bytes = bytes > 0 ? std::optional(bytes) : std::nullopt;
    return std::monostate();
  }
  for (const WhatIfFactor& each : what_if_factors) {
    if (name == to_qstring(each.name)) return choose_factor(choices.what_if.*each.factor, text);
  }
  if (const Field* field = find_field(name.toStdString())) return choose_field(choices, *field, word);
  if (const Knob* knob = numeric_knob(algorithm_of(choices), name.toStdString())) {
    return set_field(knob_field(*knob), choices.point.spec, word);
  }
  return Failure{make_message("unknown field or knob: '{}'", name.toStdString())};
}

ExplorerResult compute_result(ExplorerChoices choices) {
  ExplorerResult explored;
  explored.asked = choices;
  const DeviceLimits limits = limits_of(choices);
  PointSpec& spec = choices.point.spec;
  if (choices.m_bytes) {
    explored.rule =
        analysis::paper_rule_tile(algorithm_of(choices), spec.problem, spec.config(), limits, *choices.m_bytes);
    if (explored.rule && explored.rule->config) spec.set_config(*explored.rule->config);
  }
  const std::span<const Ceiling> measured =
      choices.rates != nullptr ? std::span<const Ceiling>(choices.rates->ceilings) : std::span<const Ceiling>();
  explored.exploration = analysis::explore(choices.point, limits, known_algorithms(), measured);
  explored.choices = std::move(choices);
  return explored;
}

QString short_title(const ExplorerChoices& choices) {
  constexpr qsizetype longest = 24;  // User-defined kernels may have long names.
  const PointSpec& spec = choices.point.spec;
  QString title = shortened(short_title(spec.algorithm), longest);
  if (!has_tile(spec.tile)) return title;
  return QStringLiteral("%1 %2 × %3").arg(title).arg(spec.tile.br).arg(spec.tile.bc);
}

std::shared_ptr<const DeviceLimits> recorded_gpu(const Workspace& workspace, const std::string& name) {
  for (const LoadedRun& run : workspace.runs()) {
    if (run.info->summary.device_name != name) continue;
    // Data of a file is untrusted: ignore impossible limits.
    if (!gpu_error(make_custom_gpu(run.info->summary.limits, "recorded")).empty()) continue;
    DeviceLimits limits = run.info->summary.limits;
    limits.name = name;
    return std::make_shared<const DeviceLimits>(std::move(limits));
  }
  return nullptr;
}

std::shared_ptr<const StoredCeilings> rates_measured_on(const ExplorerChoices& choices, const Workspace& workspace) {
  std::vector<StoredCeilings> sets;
  for (const FileCeilings& each : workspace.ceilings()) sets.push_back(each.set);
  ExplorerChoices itself = choices;
  itself.what_if = {};
  const StoredCeilings* newest = newest_rates(sets, limits_of(itself));
  if (newest == nullptr) return nullptr;
  StoredCeilings rates = *newest;
  for (Ceiling& each : rates.ceilings) {
    const bool of_dram = each.name == ceiling_key::dram_read || each.name == ceiling_key::dram_copy;
    if (of_dram) each.value *= choices.what_if.dram_rate;
  }
  return std::make_shared<const StoredCeilings>(std::move(rates));
}

std::shared_ptr<const PointRecord> recorded_point(const Workspace& workspace, PointRecordReader& records,
                                                  const ExplorerChoices& choices) {
  if (choices.point.padding_bytes > 0 || !choices.what_if.is_identity() || workspace.is_gathering()) return nullptr;
  const PointSpec& spec = choices.point.spec;
  const PointSet& points = *workspace.visible();
  const analysis::PointTable& table = points.table();
  for (auto row = static_cast<Row>(table.size()); row-- > 0;) {
    // Cheap columns first; few rows need the full comparison.
    if (table.disposition(row) != Disposition::ok || table.n_k(row) != spec.problem.n_k ||
        table.tile_of(row).tile != spec.tile || table.spec(row) != spec) {
      continue;
    }
    const analysis::Run& run = table.run(row);
    if (run.provenance != Provenance::measured || !same_gpu(run.device_name, choices.device)) continue;
    return records.read(points[row]).record;
  }
  return nullptr;
}

QString occupancy_text(const analysis::ExploredKernel& kernel) {
  if (!kernel.waves) {
    return qtext(msg::explorer_page::occupancy_untimed{.blocks = kernel.blocks, .threads = kernel.threads_per_block});
  }
  const std::string occupancy = text(Percent(kernel.occupancy.warps_pct));
  const std::string limiter = text(analysis::limiter_title(kernel.occupancy.limiter));
  const std::string waves = number_text(*kernel.waves);
  if (kernel.launched_blocks < kernel.blocks) {
    return qtext(msg::explorer_page::occupancy_line_persistent{.all = kernel.blocks,
                                                               .blocks = kernel.occupancy.blocks_per_sm,
                                                               .launched = kernel.launched_blocks,
                                                               .limiter = limiter,
                                                               .occupancy = occupancy,
                                                               .waves = waves});
  }
  return qtext(msg::explorer_page::occupancy_line{.all = kernel.blocks,
                                                  .blocks = kernel.occupancy.blocks_per_sm,
                                                  .limiter = limiter,
                                                  .occupancy = occupancy,
                                                  .waves = waves});
}

QString rates_note(const ExplorerResult& explored) {
  const analysis::Exploration& e = explored.exploration;
  const QString link =
      e.sharing ? QLatin1Char(' ') + qtext(analysis::link_text(e.link, e.link_rate_measured)) : QString();
  const StoredCeilings* rates = explored.choices.rates.get();
  if (rates == nullptr || (!e.dram_rate_measured && !e.l2_rate_measured)) {
    return qtext(msg::explorer_page::time_breakdown_note{.device = e.device, .measured = e.rates_measured_on}) + link;
  }
  const std::string which = e.dram_rate_measured && e.l2_rate_measured ? text(msg::explorer_page::rates_of_both{})
                            : e.dram_rate_measured                     ? text(msg::explorer_page::rates_of_dram{})
                                                                       : text(msg::explorer_page::rates_of_l2{});
  const double factor = explored.choices.what_if.dram_rate;
  const QString times =
      factor == 1 ? QString()
                  : QLatin1Char(' ') + qtext(msg::explorer_page::rates_multiplied{
                                           .factor = QStringLiteral("%1").arg(factor, 0, 'g', 4).toStdString()});
  return qtext(msg::explorer_page::time_breakdown_note_measured{.device = e.device,
                                                                .gpu = rates->device_name,
                                                                .measured = e.rates_measured_on,
                                                                .time = rates->measured_at,
                                                                .uuid = rates->device_uuid,
                                                                .which = which}) +
         times + link;
}

QString rule_text(const ExplorerResult& explored) {
  if (!explored.choices.m_bytes) return {};
  const auto& rule = explored.rule;
  if (!rule) return qtext(msg::explorer_page::rule_not_applicable{});
  const bool keys = rule->outer == TileSide::bc;
  const std::string asked = describe(rule->asked);
  const std::int64_t m = rule->m_bytes / bytes_per_element(explored.exploration.point.spec.problem.dtype);
  QStringList lines{keys ? qtext(msg::explorer_page::rule_of_keys{.m = m, .tile = asked})
                         : qtext(msg::explorer_page::rule_of_queries{.m = m, .tile = asked})};
  if (!rule->config) {
    lines << qtext(msg::explorer_page::rule_nothing_runs{});
  } else {
    if (rule->config->tile != rule->asked) {
      lines << qtext(msg::explorer_page::rule_runs{.tile = describe(rule->config->tile)});
    }
    if (rule->limiting_refusal) {
      lines << qtext(msg::explorer_page::larger_m_without_effect_because{.why = rule->limiting_refusal->reason});
    } else if (rule->unchanged_by_larger_m) {
      lines << qtext(msg::explorer_page::larger_m_without_effect{});
    }
  }
  return lines.join(QLatin1Char(' '));
}

namespace {

/// Returns the required and the available amount of the exceeded limit, in one unit; otherwise the reason.
QString refusal_text(const analysis::Exploration& e) {
  for (const analysis::ExploredKernel& kernel : e.overrun) {
    for (const analysis::MemoryMap* map : {&kernel.shared, &kernel.registers}) {
      if (map->overrun() == 0) continue;
      const Message what = map == &kernel.shared ? Message(msg::explorer_page::of_shared{})
                                                 : Message(msg::explorer_page::of_registers{});
      return qtext(msg::explorer_page::needs{
          .available = text(Capacity(map->available())), .needed = text(Capacity(map->needed())), .what = what});
    }
  }
  return qtext(msg::explorer_page::refused{.why = e.refusal->reason});
}

}  // namespace

QString verdict_text(const analysis::Exploration& e) {
  if (!e.refusal && !e.times_validated) return qtext(msg::prediction::time_not_validated{.device = e.device});
  if (!e.refusal && !e.can_predict_time) return qtext(msg::explorer_page::user_kernel_untimed{});
  if (!e.refusal) {
    QString line = qtext(msg::explorer_page::runs{.bound = analysis::bound_text(e.light),
                                                  .rate = text(FlopsPerSecond(e.flops_per_second())),
                                                  .time = text(Nanoseconds(e.ns))});
    if (e.rates_inherited && !(e.dram_rate_measured && e.l2_rate_measured)) {
      line += QLatin1Char(' ') + qtext(msg::explorer_page::rates_inherited{.device = e.device});
    }
    return line;
  }
  QString line = refusal_text(e);
  if (e.nearest) {
    const std::string tile = describe(e.nearest->tile);
    line += QLatin1Char(' ') + qtext(msg::explorer_page::nearest{.tile = tile});
    if (e.fastest) line += QLatin1Char(' ') + qtext(msg::explorer_page::fastest{.tile = describe(e.fastest->tile)});
  } else if (e.refusal->cause != Refusal::Cause::architecture && e.point.padding_bytes == 0) {
    line += QLatin1Char(' ') + qtext(msg::explorer_page::no_tile_runs{});
  }
  return line;
}

const analysis::ErrorRow* published_errors(const ExplorerResult& explored) {
  const PointSpec& spec = explored.exploration.point.spec;
  const analysis::PublishedErrors* errors = analysis::validated_errors(limits_of(explored.choices));
  return errors == nullptr
             ? nullptr
             : errors->find(analysis::error_group(spec.algorithm, spec.problem.dtype), spec.problem.pass, "time");
}

QString prediction_text(const ExplorerResult& explored) {
  if (!explored.exploration.can_predict_time) return {};
  const analysis::ErrorRow* row = published_errors(explored);
  if (row == nullptr) return qtext(msg::explorer_page::errors_none{});
  return qtext(msg::explorer_page::errors_line{.gpu = analysis::validated_errors(limits_of(explored.choices))->device,
                                               .median = text(Share(row->median)),
                                               .p95 = text(Share(row->p95)),
                                               .problems = row->problems});
}

namespace {

struct UnitUse {
  QString words;
  double share = 0;
};

UnitUse use_of(GpuUnit unit, const PointRecord& record, const std::string& kernel, const DeviceLimits& limits) {
  constexpr double percent_of_one = 100;
  const auto number = [](double percent) { return QString::number(percent, 'f', 0).toStdString(); };
  const auto to_use = [&](double percent) -> UnitUse {
    return {qtext(msg::explorer_page::use{.percent = number(percent)}), percent / percent_of_one};
  };
  if (const auto use = analysis::counted_utilization(unit, record, kernel)) return to_use(*use);
  if (unit == GpuUnit::tensor) {
    const auto pipe = evaluate(metric_key::tensor_pipe_pct, record, kernel);
    if (!pipe) return {};
    return {qtext(msg::explorer_page::use_while_active{.percent = number(pipe->value)}), pipe->value / percent_of_one};
  }
  const auto rate = evaluate(metric_key::dram_bandwidth, record, kernel);
  if (unit != GpuUnit::dram || !rate || limits.dram_bytes_per_second <= 0) return {};
  return to_use(percent_of_one * rate->value / limits.dram_bytes_per_second);
}

QString percent_text(double share) {
  return qtext(msg::explorer_page::part_percent{.percent = QString::number(100 * share, 'f', 0).toStdString()});
}

}  // namespace

std::vector<BarLine> time_bars(const LaunchTime* predicted, const PointRecord* record, const std::string& kernel,
                               const DeviceLimits& limits) {
  const auto measured = record == nullptr ? std::nullopt : evaluate(metric_key::time_median_ns, *record, kernel);
  std::vector<BarLine> bars;
  const auto add_time = [&](const QString& title, double ns) {
    bars.push_back({.title = title, .value = ns, .words = qtext(Nanoseconds(ns))});
  };
  if (predicted != nullptr) add_time(qtext(msg::explorer_page::predicted{}), predicted->ns);
  if (measured) add_time(to_qstring(measured->provenance), measured->value);
  if (bars.empty()) return bars;
  const double ns = bars.front().value;
  analysis::SpeedOfLight light;
  if (predicted != nullptr) light = analysis::speed_of_light({predicted, 1});
  std::array<UnitUse, gpu_units.size()> uses;
  if (measured && measured->provenance == Provenance::measured) {
    std::ranges::transform(gpu_units, uses.begin(),
                           [&](GpuUnit unit) { return use_of(unit, *record, kernel, limits); });
  }
  const double most = std::ranges::max_element(uses, {}, &UnitUse::share)->share;
  for (const GpuUnit unit : gpu_units) {
    const UnitUse& use = uses.at(static_cast<std::size_t>(unit));
    BarLine& bar = bars.emplace_back(BarLine{.title = qtext(analysis::title_of(unit)), .is_unit = true});
    if (predicted != nullptr) {
      bar.value = light.of(unit) * ns;
      bar.words = percent_text(light.of(unit));
      bar.note = use.words;
      bar.is_bound = light.bound() == unit;
    } else {
      bar.value = use.share * ns;
      bar.words = use.words.isEmpty() ? qtext(msg::explorer_page::no_figure{}) : use.words;
      bar.is_bound = use.share >= analysis::bottleneck_threshold && use.share == most;
    }
  }
  if (predicted == nullptr) return bars;
  const auto add = [&](const QString& title, double share, bool is_bound) {
    bars.push_back({.title = title, .value = share * ns, .words = percent_text(share), .is_bound = is_bound});
  };
  add(qtext(msg::explorer_page::launch{}), light.launch, false);
  add(qtext(msg::explorer_page::idle{}), light.idle, light.is_grid_limited());
  add(qtext(msg::explorer_page::latency{}), light.rest, !light.bound() && !light.is_grid_limited());
  return bars;
}

std::vector<BarLine> operand_bars(const analysis::Exploration& exploration) {
  const analysis::Table table = analysis::operands_table(exploration);
  std::vector<BarLine> bars;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto cell = [&](const char* key) { return table.find(key)->cell(row); };
    const auto words = [&](const char* key) { return to_qstring(cell(key).text); };
    const double stored = cell("stored").number.value_or(0);
    QString help = to_qstring(table.find("matrix")->tip(row));
    if (help.isEmpty()) {
      help = QStringLiteral("%1 %2, %3 %4")
                 .arg(qtext(msg::explorer_page::loaded{}), words("loaded"), qtext(msg::explorer_page::stored{}),
                      words("stored"));
    }
    bars.push_back({.title = words("matrix"),
                    .value = cell("total").number.value_or(0) - stored,
                    .pale = stored,
                    .note = QString(words("total") + QStringLiteral("  ") + words("share")).trimmed(),
                    .help = help});
  }
  return bars;
}

}  // namespace attnscope::ui

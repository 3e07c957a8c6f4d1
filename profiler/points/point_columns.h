// SPDX-License-Identifier: Apache-2.0
// Columnar store of points: one column per field, per metric, and for dispositions. Points are appended one by one and
// need not be kept. Samples, launches and verification results are not stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// Dictionary-encoded column: each distinct value is stored once, rows store its code. `key_of` gives the map key of a
/// value. Codes are in order of first occurrence.
template <class T, auto key_of>
class DictionaryColumn {
 public:
  void push(const T& value) {
    // adjacent rows are often equal
    const bool again = !codes_.empty() && values_[codes_.back()] == value;
    codes_.push_back(again ? codes_.back() : code_of(value));
  }
  void append(const DictionaryColumn& from, std::span<const Row> rows) {
    std::vector<std::uint32_t> new_codes(from.values_.size(), unknown);
    codes_.reserve(codes_.size() + rows.size());
    for (const Row row : rows) {
      std::uint32_t& code = new_codes[from.codes_[row]];
      if (code == unknown) code = code_of(from[row]);
      codes_.push_back(code);
    }
  }

  [[nodiscard]] std::size_t size() const { return codes_.size(); }
  /// The reference remains valid while the column grows.
  [[nodiscard]] const T& operator[](std::size_t row) const { return values_[codes_[row]]; }
  [[nodiscard]] std::uint32_t code(std::size_t row) const { return codes_[row]; }
  [[nodiscard]] const std::deque<T>& values() const { return values_; }

 private:
  using Key = std::decay_t<std::invoke_result_t<decltype(key_of), const T&>>;
  static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t code_of(const T& value) {
    const auto [place, fresh] = known_.try_emplace(key_of(value), static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return place->second;
  }

  std::vector<std::uint32_t> codes_;
  std::deque<T> values_;
  std::map<Key, std::uint32_t> known_;
};

namespace dictionary_key {
inline constexpr auto itself = [](const auto& value) -> const auto& {
  return value;
};
/// Code and English text of a message.
std::pair<std::string, std::string> words(const Message&);
std::vector<Knobs::Entry> entries(const Knobs&);
}  // namespace dictionary_key

using Words = DictionaryColumn<std::string, dictionary_key::itself>;

class FieldColumn {
 public:
  explicit FieldColumn(const Field& field) : field_(&field) {}

  void push(const PointSpec& spec) { values_.push(field_->get(spec)); }
  void append(const FieldColumn& from, std::span<const Row> rows) { values_.append(from.values_, rows); }

  [[nodiscard]] const Field& field() const { return *field_; }
  [[nodiscard]] const FieldValue& value(Row row) const { return values_[row]; }
  /// Equal for equal values of this column.
  [[nodiscard]] std::uint64_t key(Row row) const { return values_.code(row); }
  /// Number of different values.
  [[nodiscard]] std::size_t distinct() const { return values_.values().size(); }
  [[nodiscard]] std::int64_t number(Row row) const { return std::get<std::int64_t>(value(row)); }
  [[nodiscard]] const std::string& text_value(Row row) const { return std::get<std::string>(value(row)); }

 private:
  const Field* field_;
  DictionaryColumn<FieldValue, dictionary_key::itself> values_;
};

class KernelColumns {
 public:
  void add(const KernelRecord&, Provenance origin);
  /// Appends the kernels at `places` of other columns.
  void append(const KernelColumns& from, std::span<const std::uint32_t> places);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(times_.size()); }
  [[nodiscard]] const std::string& name(std::uint32_t place) const { return names_[place]; }
  [[nodiscard]] std::optional<EvaluatedMetric> stored(std::uint32_t place, std::string_view name) const;
  [[nodiscard]] std::optional<SampleSummary> times(std::uint32_t place) const;
  [[nodiscard]] Provenance origin(std::uint32_t place) const { return static_cast<Provenance>(origins_[place]); }

 private:
  /// One metric of all kernels, starting at the first kernel that has it.
  struct MetricColumn {
    std::string name;
    std::string unit;
    std::uint32_t first = 0;
    std::vector<double> values;
    std::vector<std::uint8_t> origins;

    void push(std::uint32_t place, double value, std::uint8_t origin);
    [[nodiscard]] bool has(std::uint32_t place) const;
    [[nodiscard]] std::optional<EvaluatedMetric> at(std::uint32_t place) const;
  };
  /// Returns the index of a metric's column, created if missing. `nth`, the position in the kernel's metric list,
  /// speeds up the search: kernels usually have the same metrics in the same order.
  std::uint32_t metric_column_index(const std::string& name, const std::string& unit, std::size_t nth);

  Words names_;
  std::vector<std::uint8_t> origins_;
  std::vector<SampleSummary> times_;  ///< `count` is 0 without samples
  std::vector<MetricColumn> metrics_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> metrics_by_name_;
  std::vector<std::uint32_t> last_metrics_;  ///< column of each metric of the previous kernel
};

class PointColumns;

/// One kernel of a row, or the sum of its kernels: over all rounds, or of one round.
class RowKernel final : public KernelValues {
 public:
  /// `round_kernel`: index in the kernels of all rounds; none: the kernel over all rounds.
  RowKernel(const PointColumns& columns, Row row, std::uint32_t place,
            std::optional<std::uint32_t> round_kernel = std::nullopt)
      : columns_(&columns), row_(row), place_(place), round_kernel_(round_kernel) {}

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::optional<EvaluatedMetric> stored(std::string_view name) const override;
  [[nodiscard]] std::optional<SampleSummary> times() const override;
  [[nodiscard]] Provenance origin() const override;
  [[nodiscard]] bool is_sum() const override;
  [[nodiscard]] CacheState cache() const override;
  [[nodiscard]] double nominal_flops() const override;
  [[nodiscard]] int gpus() const override;
  [[nodiscard]] std::size_t rounds() const override;
  void for_each_round(const VisitRound&) const override;

 private:
  const PointColumns* columns_;
  Row row_;
  std::uint32_t place_;  ///< index in the kernels of all rows
  std::optional<std::uint32_t> round_kernel_;
};

/// SM clock during one round; 0 if not read.
struct RoundClock {
  int round = 0;  ///< from 0; may differ from the index if rounds are missing
  double sm_hz = 0;
  bool throttled = false;

  bool operator==(const RoundClock&) const = default;
};

class PointColumns {
 public:
  PointColumns() : fields_(point_fields().begin(), point_fields().end()) {}

  /// `place`: index in the run's plan. `id`: row id in its file.
  void add(const PointRecord&, std::size_t place = 0, std::int64_t id = 0);
  /// Appends rows of other columns with the same fields, in this order.
  void add(const PointColumns& from, std::span<const Row> rows);

  [[nodiscard]] Row size() const { return static_cast<Row>(rows_.size()); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Reconstructs the specification.
  [[nodiscard]] PointSpec spec(Row) const;
  /// Reconstructs only these fields; knobs only if `fields` is empty.
  [[nodiscard]] PointSpec spec(Row, std::span<const std::string_view> fields) const;
  [[nodiscard]] std::span<const FieldColumn> fields() const { return fields_; }
  /// Throws std::logic_error for an unknown name.
  [[nodiscard]] const FieldColumn& field(std::string_view name) const;
  using KnobsColumn = DictionaryColumn<Knobs, dictionary_key::entries>;
  [[nodiscard]] const KnobsColumn& knobs() const { return knobs_; }

  [[nodiscard]] Disposition disposition(Row row) const { return rows_[row].disposition; }
  [[nodiscard]] const Message& reason(Row row) const { return reasons_[row]; }
  /// PointRecord::origin() of kernel "all".
  [[nodiscard]] Provenance origin(Row row) const { return rows_[row].origin; }
  [[nodiscard]] bool throttled(Row row) const { return rows_[row].throttled; }
  /// ClockReading::throttle_reasons; 0 if not read.
  [[nodiscard]] std::uint64_t throttle_reasons(Row row) const { return rows_[row].throttle_reasons; }
  /// ClockReading::sm_clock_hz over all rounds; 0 if not read.
  [[nodiscard]] double sm_clock_hz(Row row) const { return rows_[row].sm_clock_hz; }
  /// Index in the run's plan; 0 if unknown.
  [[nodiscard]] std::uint32_t place(Row row) const { return rows_[row].place; }
  /// Row id in its file; 0 if none.
  [[nodiscard]] std::int64_t id(Row row) const { return rows_[row].id; }
  /// Digests of the compiled launches (LaunchRecord::digest), separated by spaces; empty if unknown.
  [[nodiscard]] const std::string& sources(Row row) const { return sources_[row]; }

  /// LaunchRecord::digest of the compiled launches by source file, entry and defines.
  using Launches = DictionaryColumn<std::map<std::string, std::string>, dictionary_key::itself>;
  [[nodiscard]] const Launches& launches() const { return launches_; }

  /// Number of rounds, 1 for most points. The next functions return one element per round.
  [[nodiscard]] std::size_t rounds(Row) const;
  /// Metric per round, computed as for the point; empty if a round lacks it.
  [[nodiscard]] std::vector<std::optional<double>> round_values(Row, std::string_view metric,
                                                                std::string_view kernel = "all") const;
  [[nodiscard]] std::vector<RoundClock> round_clocks(Row) const;

  /// In record order, including "all".
  [[nodiscard]] std::vector<RowKernel> kernels(Row) const;
  /// Kernel "all"; empty if the point has none.
  [[nodiscard]] std::optional<RowKernel> sum(Row) const;

  /// Returns true if two rows have the same specification, outcome and times, as copies of one measurement have.
  [[nodiscard]] static bool same(const PointColumns& a, Row row_of_a, const PointColumns& b, Row row_of_b);

 private:
  friend class RowKernel;

  struct RowValues {
    std::int64_t id = 0;
    std::uint64_t throttle_reasons = 0;
    double sm_clock_hz = 0;
    std::uint32_t place = 0;
    Disposition disposition = Disposition::ok;
    Provenance origin = Provenance::measured;
    bool throttled = false;
  };
  /// Number of rounds; 0 for a row with one round.
  [[nodiscard]] std::uint32_t round_count(Row row) const { return rounds_begin_[row + 1] - rounds_begin_[row]; }

  std::vector<FieldColumn> fields_;
  KnobsColumn knobs_;
  std::vector<RowValues> rows_;
  DictionaryColumn<Message, dictionary_key::words> reasons_;
  Words sources_;
  Launches launches_;

  std::vector<std::uint32_t> kernels_begin_{0};  ///< start index by row, and the end
  KernelColumns kernels_;

  std::vector<std::uint32_t> rounds_begin_{0};  ///< start index in `rounds_` by row, and the end
  std::vector<RoundClock> rounds_;
  std::vector<std::uint32_t> round_kernels_begin_{0};  ///< start index by round, and the end
  KernelColumns round_kernels_;
};

}  // namespace attnscope::analysis

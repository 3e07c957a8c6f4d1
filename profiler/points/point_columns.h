// SPDX-License-Identifier: Apache-2.0
// What analysis needs of points, as columns that own it: a column for each field of the table of fields, for each
// metric, and for how points ended. Points come in one at a time and need not stay; none of them is an object here.
// Samples, launches and what was checked stay with the record.
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

/// A column of values that repeat: each of them is kept once, and a row has its code.
/// `key_of` gives what orders values and tells them apart. Codes are in the order in which values came.
template <class T, auto key_of>
class Coded {
 public:
  void push(const T& value) {
    // Neighbours mostly agree.
    const bool again = !codes_.empty() && values_[codes_.back()] == value;
    codes_.push_back(again ? codes_.back() : code_of(value));
  }
  void append(const Coded& from, std::span<const Row> rows) {
    std::vector<std::uint32_t> code_here(from.values_.size(), unknown);
    codes_.reserve(codes_.size() + rows.size());
    for (const Row row : rows) {
      std::uint32_t& code = code_here[from.codes_[row]];
      if (code == unknown) code = code_of(from[row]);
      codes_.push_back(code);
    }
  }

  [[nodiscard]] std::size_t size() const { return codes_.size(); }
  /// Stays where it is while the column grows.
  [[nodiscard]] const T& operator[](std::size_t row) const { return values_[codes_[row]]; }
  [[nodiscard]] std::uint32_t code(std::size_t row) const { return codes_[row]; }
  /// Values by code.
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

namespace coded_by {
inline constexpr auto itself = [](const auto& value) -> const auto& {
  return value;
};
/// The code and the English text of a message.
std::pair<std::string, std::string> words(const Message&);
std::vector<Knobs::Entry> entries(const Knobs&);
}  // namespace coded_by

using Words = Coded<std::string, coded_by::itself>;

/// One field of all points, in its own type.
class FieldColumn {
 public:
  explicit FieldColumn(const Field& field);

  void push(const PointSpec&);
  void append(const FieldColumn& from, std::span<const Row> rows);

  [[nodiscard]] const Field& field() const { return *field_; }
  [[nodiscard]] FieldValue value(Row) const;
  /// Equal for equal values of this column.
  [[nodiscard]] std::uint64_t key(Row) const;
  /// Pre: a whole number.
  [[nodiscard]] std::int64_t number(Row row) const { return std::get<Numbers>(held_)[row]; }
  /// Pre: a word.
  [[nodiscard]] const std::string& word(Row row) const { return std::get<Words>(held_)[row]; }

 private:
  using Numbers = std::vector<std::int64_t>;
  using Reals = std::vector<double>;
  using Flags = std::vector<bool>;

  const Field* field_;
  std::variant<Numbers, Reals, Flags, Words> held_;  ///< in the order of FieldType
};

/// The values of kernels, in the order in which they came.
class KernelColumns {
 public:
  void add(const KernelRecord&, Provenance origin);
  /// Those at `places` of other columns.
  void append(const KernelColumns& from, std::span<const std::uint32_t> places);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(times_.size()); }
  [[nodiscard]] const std::string& name(std::uint32_t place) const { return names_[place]; }
  [[nodiscard]] std::optional<Evaluated> stored(std::uint32_t place, std::string_view name) const;
  [[nodiscard]] std::optional<SampleSummary> times(std::uint32_t place) const;
  [[nodiscard]] Provenance origin(std::uint32_t place) const { return static_cast<Provenance>(origins_[place]); }
  /// Whether two kernels say the same.
  [[nodiscard]] static bool same(const KernelColumns& a, std::uint32_t place_in_a, const KernelColumns& b,
                                 std::uint32_t place_in_b);

 private:
  /// One metric of all kernels, from the first on that has it.
  struct MetricColumn {
    std::string name;
    std::string unit;
    std::uint32_t first = 0;
    std::vector<double> values;
    std::vector<std::uint8_t> origins;

    void push(std::uint32_t place, double value, std::uint8_t origin);
    [[nodiscard]] bool has(std::uint32_t place) const;
    [[nodiscard]] std::optional<Evaluated> at(std::uint32_t place) const;
  };
  /// The place of a metric's column, made where there is none. `nth`: of the kernel's metrics, for kernels mostly have
  /// the same ones in the same order.
  std::uint32_t metric_place(const std::string& name, const std::string& unit, std::size_t nth);

  Words names_;
  std::vector<std::uint8_t> origins_;
  std::vector<SampleSummary> times_;  ///< `count` is 0 without samples
  std::vector<MetricColumn> metrics_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> metrics_by_name_;
  std::vector<std::uint32_t> last_metrics_;  ///< by place in the last kernel
};

class PointColumns;

/// One kernel of a row, or their sum; what all rounds make of it, or what one of them found.
class KernelOfRow final : public KernelValues {
 public:
  KernelOfRow(const PointColumns& columns, Row row, std::uint32_t place)
      : columns_(&columns), row_(row), place_(place) {}
  /// `of_round`: the place among the kernels of all rounds.
  KernelOfRow(const PointColumns& columns, Row row, std::uint32_t place, std::uint32_t of_round)
      : columns_(&columns), row_(row), place_(place), of_round_(of_round) {}

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::optional<Evaluated> stored(std::string_view name) const override;
  [[nodiscard]] std::optional<SampleSummary> times() const override;
  [[nodiscard]] Provenance origin() const override;
  [[nodiscard]] bool is_sum() const override;
  [[nodiscard]] CacheState cache() const override;
  [[nodiscard]] double flops() const override;
  [[nodiscard]] int gpus() const override;
  [[nodiscard]] std::size_t rounds() const override;
  void each_round(const VisitRound&) const override;

 private:
  const PointColumns* columns_;
  Row row_;
  std::uint32_t place_;  ///< among the kernels of all rows
  std::optional<std::uint32_t> of_round_;
};

/// The SM clock beside one round; 0 where it was not read.
struct RoundClock {
  int round = 0;  ///< from 0; places among a row's rounds need not be these, where a round found nothing
  double sm_hz = 0;
  bool throttled = false;

  bool operator==(const RoundClock&) const = default;
};

class PointColumns {
 public:
  /// The fields say everything of a point but its knobs; the table of them has to outlive the columns.
  explicit PointColumns(std::span<const Field> fields = point_fields());

  /// `place`: of the point in its run's plan. `id`: what its file knows it by.
  void add(const PointRecord&, std::size_t place = 0, std::int64_t id = 0);
  /// Rows of other columns, of the same fields, in this order.
  void add(const PointColumns& from, std::span<const Row> rows);

  [[nodiscard]] Row size() const { return static_cast<Row>(dispositions_.size()); }
  [[nodiscard]] bool empty() const { return dispositions_.empty(); }

  /// What was asked for, put together again.
  [[nodiscard]] PointSpec spec(Row) const;
  /// The same, but of these fields alone, and of the knobs where there are none.
  [[nodiscard]] PointSpec spec(Row, std::span<const std::string_view> fields) const;
  /// In the order of the table of fields.
  [[nodiscard]] std::span<const FieldColumn> fields() const { return fields_; }
  /// The table of fields that they were made with.
  [[nodiscard]] std::span<const Field> field_table() const { return field_table_; }
  /// nullptr for an unknown name.
  [[nodiscard]] const FieldColumn* find_field(std::string_view name) const;
  /// Throws std::logic_error for an unknown name.
  [[nodiscard]] const FieldColumn& field(std::string_view name) const;
  using KnobsColumn = Coded<Knobs, coded_by::entries>;
  [[nodiscard]] const KnobsColumn& knobs() const { return knobs_; }

  [[nodiscard]] Disposition disposition(Row row) const { return static_cast<Disposition>(dispositions_[row]); }
  [[nodiscard]] const Message& reason(Row row) const { return reasons_[row]; }
  /// PointRecord::origin() of the sum.
  [[nodiscard]] Provenance origin(Row row) const { return static_cast<Provenance>(origins_[row]); }
  [[nodiscard]] bool throttled(Row row) const { return throttled_[row]; }
  /// ClockReading's; 0 where clocks were not read.
  [[nodiscard]] std::uint64_t throttle_reasons(Row row) const { return throttle_reasons_[row]; }
  /// ClockReading's, of all rounds; 0 where clocks were not read.
  [[nodiscard]] double sm_clock_hz(Row row) const { return sm_clocks_[row]; }
  /// In its run's plan, where that is known: else 0.
  [[nodiscard]] std::uint32_t place(Row row) const { return places_[row]; }
  /// What its file knows it by, where it is of one: else 0.
  [[nodiscard]] std::int64_t id(Row row) const { return ids_[row]; }
  /// The digests of what ran, which the device compiled (LaunchRecord); empty where none is known.
  [[nodiscard]] const std::string& sources(Row row) const { return sources_[row]; }

  /// In how many rounds a point was measured: 1 for most. What follows has an element for each, in their order.
  [[nodiscard]] std::size_t rounds(Row) const;
  /// A metric of each round, evaluated as that of the point is; nothing where a round lacks it.
  [[nodiscard]] std::vector<std::optional<double>> round_values(Row, std::string_view metric,
                                                                std::string_view kernel = "all") const;
  [[nodiscard]] std::vector<RoundClock> round_clocks(Row) const;

  /// In the order of the record, "all" among them.
  [[nodiscard]] std::vector<KernelOfRow> kernels(Row) const;
  /// "all"; nothing where the point has none.
  [[nodiscard]] std::optional<KernelOfRow> sum(Row) const;

  /// Whether two rows say the same, field by field and value by value.
  [[nodiscard]] static bool same(const PointColumns& a, Row row_of_a, const PointColumns& b, Row row_of_b);

 private:
  friend class KernelOfRow;

  /// Of a row with several rounds: where its first is in `rounds_`, and how many they are.
  struct RoundsOfRow {
    Row row = 0;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  /// nullptr for a row with one round.
  [[nodiscard]] const RoundsOfRow* rounds_of(Row row) const;
  void add_rounds(const PointRecord&);
  void add_rounds(const PointColumns& from, Row row_of_from);
  [[nodiscard]] std::optional<std::uint32_t> kernel_place(Row row, std::string_view name) const;
  [[nodiscard]] static bool same_rounds(const PointColumns& a, Row row_of_a, const PointColumns& b, Row row_of_b);

  std::span<const Field> field_table_;
  std::vector<FieldColumn> fields_;
  KnobsColumn knobs_;
  std::vector<std::uint8_t> dispositions_;
  Coded<Message, coded_by::words> reasons_;
  std::vector<std::uint8_t> origins_;
  std::vector<bool> throttled_;
  std::vector<std::uint64_t> throttle_reasons_;
  Words sources_;
  std::vector<std::uint32_t> places_;
  std::vector<std::int64_t> ids_;
  std::vector<double> sm_clocks_;

  std::vector<std::uint32_t> kernels_begin_{0};  ///< by row; one more at the end
  KernelColumns kernels_;                        ///< of all rows

  std::vector<RoundsOfRow> rows_with_rounds_;          ///< ascending; nothing here is held for others
  std::vector<RoundClock> rounds_;                     ///< of all of these rows
  std::vector<std::uint32_t> round_kernels_begin_{0};  ///< by round; one more at the end
  KernelColumns round_kernels_;                        ///< of all rounds
};

}  // namespace attnscope::analysis

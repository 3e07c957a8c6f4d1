// SPDX-License-Identifier: Apache-2.0
// Does what tile programs say, line by line, in float64: what they load, compute and store, and nothing else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/linattn/linattn_programs.h"
#include "kernels/model/attention.h"
#include "kernels/model/tile_program.h"
#include "kernels/oracle/float16.h"
#include "kernels/oracle/inputs.h"
#include "kernels/oracle/reference.h"

namespace attnscope::test {

/// Global memory: rows that exist once they have been stored.
class GlobalMemory {
 public:
  double& at(Tensor tensor, std::int64_t instance, std::int64_t row, std::int64_t col) {
    std::vector<double>& values = rows_[{tensor, instance, row}];
    if (std::ssize(values) <= col) values.resize(static_cast<std::size_t>(col) + 1, nan);
    return values[static_cast<std::size_t>(col)];
  }

 private:
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::map<std::tuple<Tensor, std::int64_t, std::int64_t>, std::vector<double>> rows_;
};

/// A tile on chip: rows of any instances, neighbouring columns.
struct OnChipTile {
  std::vector<RowId> rows;
  std::int64_t first_col = 0;
  std::int64_t cols = 0;
  std::vector<double> values;

  OnChipTile() = default;
  OnChipTile(std::vector<RowId> of, std::int64_t first, std::int64_t count, double value = 0)
      : rows(std::move(of)),
        first_col(first),
        cols(count),
        values(rows.size() * static_cast<std::size_t>(count), value) {}

  [[nodiscard]] std::size_t height() const { return rows.size(); }
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(cols); }
  double& at(std::size_t r, std::size_t c) { return values.at(r * width() + c); }
  [[nodiscard]] double at(std::size_t r, std::size_t c) const { return values.at(r * width() + c); }
};

/// One thread block at work.
class BlockInterpreter {
 public:
  /// `splits` of a K/V head's keys, where the algorithm splits them.
  BlockInterpreter(const AttentionProblem& p, std::int64_t splits, GlobalMemory& memory)
      : p_(p), splits_of_head_(splits), memory_(memory), scale_(1 / std::sqrt(static_cast<double>(p.d))) {}

  void run(const TileProgram& program, std::int64_t block) {
    for (std::int64_t step = 0; step < program.steps(block); ++step) {
      loaded_.clear();
      for (const StepEvent& event : events(program, block, step)) {
        std::visit([this](const auto& each) { play(each); }, event);
      }
    }
  }

 private:
  using Tiles = std::map<Tensor, OnChipTile>;

  void play(const TileAccess& access) {
    if (access.access == Access::load) {
      load(access);
    } else {
      store(access);
    }
  }

  void load(const TileAccess& a) {
    if (a.tensor == Tensor::block_table || a.tensor == Tensor::key_lengths) return;
    // FA1 has O as it stands in the accumulator.
    const Tensor to = a.tensor == Tensor::o_acc ? Tensor::o : a.tensor == Tensor::dq_acc ? Tensor::dq : a.tensor;
    std::vector<RowId> rows;
    for (std::int64_t r = 0; r < a.rows; ++r) rows.push_back({a.instance, a.row + r});
    OnChipTile tile(rows, a.col, a.cols);
    for (std::size_t r = 0; r < tile.height(); ++r) {
      for (std::size_t c = 0; c < tile.width(); ++c) {
        tile.at(r, c) = memory_.at(a.tensor, a.instance, a.row + static_cast<std::int64_t>(r),
                                   a.col + static_cast<std::int64_t>(c));
      }
    }
    if (a.phase == Phase::load_partial) {
      splits_[a.tensor].push_back(std::move(tile));
    } else if (loaded_[to]++ == 0) {
      tiles_[to] = std::move(tile);
    } else {  // rows of several instances, in one step
      OnChipTile& before = tiles_.at(to);
      before.rows.insert(before.rows.end(), tile.rows.begin(), tile.rows.end());
      before.values.insert(before.values.end(), tile.values.begin(), tile.values.end());
    }
  }

  void store(const TileAccess& a) {
    const bool of_rows = a.cols == 1;
    for (std::int64_t r = 0; r < a.rows; ++r) {
      for (std::int64_t c = 0; c < a.cols; ++c) {
        double& target = memory_.at(a.tensor, a.instance, a.row + r, a.col + c);
        const double value = of_rows ? row_value(a, r) : matrix_value(a, r, c);
        target = a.access == Access::reduce ? target + value : value;
      }
    }
    if (a.tensor == Tensor::dq_acc || a.tensor == Tensor::dq) tiles_.erase(Tensor::dq);  // the next sum begins at 0
  }

  [[nodiscard]] double row_value(const TileAccess& a, std::int64_t r) const {
    if (a.phase == Phase::clear_state) return a.tensor == Tensor::m ? minus_infinity : 0.0;
    const auto row = static_cast<std::size_t>(r);
    if (a.tensor == Tensor::lse || a.tensor == Tensor::lse_part) {
      if (!tiles_.contains(Tensor::l)) return minus_infinity;
      const OnChipTile& sums = value(Tensor::l);
      const std::size_t at = a.tensor == Tensor::lse ? row_of(sums, a, r) : row;
      if (at >= sums.height()) return minus_infinity;  // no such row, or one that sees no key
      return sums.at(at, 0) > 0 ? value(Tensor::m).at(at, 0) + std::log(sums.at(at, 0)) : minus_infinity;
    }
    return value(a.tensor).at(row, 0);
  }

  /// Where a row of the access is in the tile, which may hold rows of several heads; beyond its end where it is not.
  static std::size_t row_of(const OnChipTile& tile, const TileAccess& a, std::int64_t r) {
    return static_cast<std::size_t>(std::ranges::find(tile.rows, RowId{a.instance, a.row + r}) - tile.rows.begin());
  }

  [[nodiscard]] double matrix_value(const TileAccess& a, std::int64_t r, std::int64_t c) const {
    if (a.phase == Phase::clear_state || a.phase == Phase::clear_dq) return 0;
    const Tensor from = a.tensor == Tensor::o_acc || a.tensor == Tensor::o_part ? Tensor::o
                        : a.tensor == Tensor::dq_acc                            ? Tensor::dq
                                                                                : a.tensor;
    if (!tiles_.contains(from)) {
      if (a.on_chip != no_part && !zero_.contains(from)) {
        throw std::logic_error(std::string(to_string(from)) + " is stored and is not there");
      }
      return 0;  // nothing was added, or of rows that see no key
    }
    const OnChipTile& tile = value(from);
    const bool by_place = a.tensor == Tensor::o_part || a.tensor == linattn::kv_state;
    const std::size_t row = by_place ? static_cast<std::size_t>(r) : row_of(tile, a, r);
    const std::int64_t col = a.col + c - tile.first_col;
    if (row >= tile.height() || col >= tile.cols) return 0;  // padding of a whole tile, of a row
    const bool scaled = a.tensor == Tensor::dq || a.tensor == Tensor::dk;
    return tile.at(row, static_cast<std::size_t>(col)) * (scaled ? scale_ : 1);
  }

  void play(const Computation& computation) {
    switch (computation.phase) {
      case Phase::clear_o:
        tiles_[Tensor::o] = OnChipTile(query_rows(computation.rows), 0, p_.d);
        return;
      case Phase::clear_statistics:
        tiles_[Tensor::l] = OnChipTile(query_rows(computation.rows), 0, 1);
        tiles_[Tensor::m] = OnChipTile(query_rows(computation.rows), 0, 1, minus_infinity);
        return;
      case Phase::denormalize:
        each_row(Tensor::o, [&](std::size_t r, double& o) { o *= value(Tensor::l).at(r, 0); });
        return;
      case Phase::scores:
        tiles_[Tensor::s] = product(value(Tensor::q), value(Tensor::k));
        for (double& s : tiles_[Tensor::s].values) s *= scale_;
        return;
      case Phase::row_maximum:
        old_m_ = value(Tensor::m);
        each_row(
            Tensor::s, [&](std::size_t r, double& s) { raise(tiles_.at(Tensor::m).at(r, 0), s); }, true);
        return;
      case Phase::exponentials:
        tiles_[Tensor::p] = value(Tensor::s);
        each_row(
            Tensor::p, [&](std::size_t r, double& s) { s = exp_of(s, value(Tensor::m).at(r, 0)); }, true);
        return;
      case Phase::rescale:
        rescale();
        return;
      case Phase::values:
        add_product(Tensor::o, value(Tensor::p).rows, value(Tensor::p), value(Tensor::v));
        return;
      case Phase::normalize:
        each_row(Tensor::o, [&](std::size_t r, double& o) {
          const double l = value(Tensor::l).at(r, 0);
          o = l > 0 ? o / l : 0;
        });
        return;
      case Phase::merge:  // there is one warp here
        return;
      case Phase::row_statistics:
        tiles_[Tensor::l] = OnChipTile(value(Tensor::s).rows, 0, 1);
        tiles_[Tensor::m] = OnChipTile(value(Tensor::s).rows, 0, 1, minus_infinity);
        each_row(
            Tensor::s, [&](std::size_t r, double& s) { raise(tiles_.at(Tensor::m).at(r, 0), s); }, true);
        each_row(
            Tensor::s,
            [&](std::size_t r, double& s) { tiles_.at(Tensor::l).at(r, 0) += exp_of(s, value(Tensor::m).at(r, 0)); },
            true);
        return;
      case Phase::softmax:
        tiles_[Tensor::p] = value(Tensor::s);
        each_row(
            Tensor::p,
            [&](std::size_t r, double& s) {
              const double l = value(Tensor::l).at(r, 0);
              s = l > 0 ? exp_of(s, value(Tensor::m).at(r, 0)) / l : 0;
            },
            true);
        return;
      case Phase::combine:
        combine();
        return;
      default:
        if (!play_linear(computation)) play_backward(computation);
    }
  }

  /// A line of linear attention; false for another.
  bool play_linear(const Computation& computation) {
    const Phase phase = computation.phase;
    if (phase == linattn::clear_kv_state) {
      std::vector<RowId> rows;
      for (std::int64_t row = 0; row <= p_.d; ++row) rows.push_back({-1, row});
      tiles_[linattn::kv_state] = OnChipTile(rows, 0, p_.d);
    } else if (phase == linattn::add_to_kv_state) {
      OnChipTile& state = tiles_.at(linattn::kv_state);
      const OnChipTile k = features(value(Tensor::k));
      for (std::size_t key = 0; key < k.height(); ++key) {
        for (std::size_t r = 0; r < k.width(); ++r) {
          for (std::size_t c = 0; c < k.width(); ++c) state.at(r, c) += k.at(key, r) * value(Tensor::v).at(key, c);
          state.at(k.width(), r) += k.at(key, r);
        }
      }
    } else if (phase == linattn::clear_row_sums) {
      tiles_[Tensor::l] = OnChipTile(query_rows(computation.rows), 0, 1);
    } else if (phase == linattn::values_of_kv_state) {
      const OnChipTile q = features(value(Tensor::q));
      const OnChipTile& state = value(linattn::kv_state);
      for (std::size_t r = 0; r < q.height(); ++r) {
        for (std::size_t i = 0; i < q.width(); ++i) {
          for (std::size_t c = 0; c < q.width(); ++c) tiles_.at(Tensor::o).at(r, c) += q.at(r, i) * state.at(i, c);
          tiles_.at(Tensor::l).at(r, 0) += q.at(r, i) * state.at(q.width(), i);
        }
      }
    } else if (phase == linattn::feature_products) {
      tiles_[Tensor::p] = product(features(value(Tensor::q)), features(value(Tensor::k)));
      each_row(
          Tensor::p, [](std::size_t, double& p) { p = p == minus_infinity ? 0 : p; }, true);
    } else if (phase == linattn::row_sums) {
      each_row(Tensor::p, [&](std::size_t r, double& p) { tiles_.at(Tensor::l).at(r, 0) += p; });
    } else {
      return false;
    }
    return true;
  }

  /// elu(x) + 1.
  static OnChipTile features(OnChipTile tile) {
    for (double& x : tile.values) x = x > 0 ? x + 1 : std::exp(x);
    return tile;
  }

  void play_backward(const Computation& computation) {
    switch (computation.phase) {
      case Phase::clear_dk:
      case Phase::clear_dv:
        tiles_.erase(computation.phase == Phase::clear_dk ? Tensor::dk : Tensor::dv);
        zero_.insert(computation.phase == Phase::clear_dk ? Tensor::dk : Tensor::dv);
        return;
      case Phase::probabilities:
        tiles_[Tensor::p] = value(Tensor::s);
        each_row(
            Tensor::p, [&](std::size_t r, double& s) { s = exp_of(s, lse(r)); }, true);
        return;
      case Phase::value_gradients:
        add_transposed(Tensor::dv, value(Tensor::p), value(Tensor::dout));
        return;
      case Phase::probability_gradients:
        tiles_[Tensor::dp] = product(value(Tensor::dout), value(Tensor::v));
        return;
      case Phase::row_products:
        row_products(Tensor::dout, Tensor::o);
        return;
      case Phase::row_products_of_p:
        row_products(Tensor::p, Tensor::dp);
        return;
      case Phase::score_gradients:
        tiles_[Tensor::ds] = value(Tensor::dp);
        for (std::size_t r = 0; r < value(Tensor::ds).height(); ++r) {
          for (std::size_t c = 0; c < value(Tensor::ds).width(); ++c) {
            double& ds = tiles_.at(Tensor::ds).at(r, c);
            ds = value(Tensor::p).at(r, c) * (ds - value(Tensor::delta).at(r, 0));
          }
        }
        return;
      case Phase::query_gradients:
        add_product(Tensor::dq, value(Tensor::ds).rows, value(Tensor::ds), value(Tensor::k));
        return;
      case Phase::key_gradients:
        add_transposed(Tensor::dk, value(Tensor::ds), value(Tensor::q));
        return;
      case Phase::convert_dq:
        return;
      default:
        throw std::logic_error("computes: " + to_string(computation.phase));
    }
  }

  static constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

  [[nodiscard]] const OnChipTile& value(Tensor tensor) const {
    const auto found = tiles_.find(tensor);
    if (found == tiles_.end()) throw std::logic_error(std::string(to_string(tensor)) + " is not on chip");
    return found->second;
  }

  /// The rows that are on chip as Q; numbered, where none is.
  [[nodiscard]] std::vector<RowId> query_rows(std::int64_t count) const {
    const auto found = tiles_.find(Tensor::q);
    if (found != tiles_.end()) return found->second.rows;
    return std::vector<RowId>(static_cast<std::size_t>(count), RowId{-1, -1});
  }

  [[nodiscard]] bool sees(const RowId& query, std::int64_t key) const {
    if (key >= p_.n_k) return false;
    const KeyRange range = visible_keys(p_, query.instance / p_.heads_q, query.row);
    return key >= range.first && key < range.last &&
           (!p_.mask.sparse() || p_.mask.block_counts(query.row / p_.mask.block_size, key / p_.mask.block_size));
  }

  /// Calls each(row, element); `masked`: with -inf for what a row does not see.
  template <class Each>
  void each_row(Tensor tensor, const Each& each, bool masked = false) {
    OnChipTile& tile = tiles_.at(tensor);
    for (std::size_t r = 0; r < tile.height(); ++r) {
      for (std::size_t c = 0; c < tile.width(); ++c) {
        if (masked && !sees(tile.rows[r], tile.first_col + static_cast<std::int64_t>(c))) {
          tile.at(r, c) = minus_infinity;
        }
        each(r, tile.at(r, c));
      }
    }
  }

  static void raise(double& maximum, double value) { maximum = std::max(maximum, value); }
  /// 0 for a row that sees nothing.
  static double exp_of(double s, double m) { return s == minus_infinity || m == minus_infinity ? 0 : std::exp(s - m); }

  /// left right^T, with a column for each row of `right`.
  static OnChipTile product(const OnChipTile& left, const OnChipTile& right) {
    OnChipTile out(left.rows, right.rows.front().row, static_cast<std::int64_t>(right.height()));
    for (std::size_t r = 0; r < left.height(); ++r) {
      for (std::size_t c = 0; c < right.height(); ++c) {
        for (std::size_t i = 0; i < left.width(); ++i) out.at(r, c) += left.at(r, i) * right.at(c, i);
      }
    }
    return out;
  }

  /// to += left right; columns of `left` beyond the rows of `right` are padding.
  void add_product(Tensor to, const std::vector<RowId>& rows, const OnChipTile& left, const OnChipTile& right) {
    const auto sum = tiles_.try_emplace(to, rows, 0, right.cols).first;
    for (std::size_t r = 0; r < left.height(); ++r) {
      for (std::size_t i = 0; i < right.height(); ++i) {
        for (std::size_t c = 0; c < right.width(); ++c) sum->second.at(r, c) += left.at(r, i) * right.at(i, c);
      }
    }
  }

  /// to += left^T right; a row for each column of `left` that is a key.
  void add_transposed(Tensor to, const OnChipTile& left, const OnChipTile& right) {
    std::vector<RowId> keys;
    const std::int64_t instance = left.rows.front().instance / (p_.heads_q / p_.heads_kv);
    for (std::int64_t key = left.first_col; key < std::min(left.first_col + left.cols, p_.n_k); ++key) {
      keys.push_back({instance, key});
    }
    const auto sum = tiles_.try_emplace(to, keys, 0, right.cols).first;
    for (std::size_t i = 0; i < left.height(); ++i) {
      for (std::size_t r = 0; r < keys.size(); ++r) {
        for (std::size_t c = 0; c < right.width(); ++c) sum->second.at(r, c) += left.at(i, r) * right.at(i, c);
      }
    }
  }

  void row_products(Tensor left, Tensor right) {
    OnChipTile delta(value(left).rows, 0, 1);
    for (std::size_t r = 0; r < delta.height(); ++r) {
      for (std::size_t c = 0; c < value(left).width(); ++c) {
        delta.at(r, 0) += value(left).at(r, c) * value(right).at(r, c);
      }
    }
    tiles_[Tensor::delta] = std::move(delta);
  }

  void rescale() {
    OnChipTile& l = tiles_.at(Tensor::l);
    for (std::size_t r = 0; r < l.height(); ++r) {
      const double factor = exp_of(old_m_.at(r, 0), value(Tensor::m).at(r, 0));
      l.at(r, 0) *= factor;
      for (std::size_t c = 0; c < value(Tensor::p).width(); ++c) l.at(r, 0) += value(Tensor::p).at(r, c);
      for (std::size_t c = 0; c < value(Tensor::o).width(); ++c) tiles_.at(Tensor::o).at(r, c) *= factor;
    }
  }

  /// LSE of a row: FA1 has it as l and m.
  [[nodiscard]] double lse(std::size_t r) const {
    if (tiles_.contains(Tensor::lse)) return value(Tensor::lse).at(r, 0);
    const double l = value(Tensor::l).at(r, 0);
    return l > 0 ? value(Tensor::m).at(r, 0) + std::log(l) : minus_infinity;
  }

  /// O and, as m with l = 1, LSE, out of all splits so far.
  void combine() {
    const std::vector<OnChipTile>& parts = splits_.at(Tensor::o_part);
    const std::vector<OnChipTile>& lses = splits_.at(Tensor::lse_part);
    std::vector<RowId> rows;
    const std::int64_t group = p_.heads_q / p_.heads_kv;
    for (const RowId& packed : parts.front().rows) {
      const std::int64_t kv = packed.instance / splits_of_head_;
      rows.push_back({kv * group + packed.row / p_.n_q, packed.row % p_.n_q});
    }
    OnChipTile o(rows, parts.front().first_col, parts.front().cols);
    OnChipTile l(rows, 0, 1);
    OnChipTile m(rows, 0, 1, 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t split = 0; split < parts.size(); ++split) {
        const double weight = std::exp(lses[split].at(r, 0));
        l.at(r, 0) += weight;
        for (std::size_t c = 0; c < o.width(); ++c) o.at(r, c) += weight * parts[split].at(r, c);
      }
      for (std::size_t c = 0; c < o.width(); ++c) o.at(r, c) = l.at(r, 0) > 0 ? o.at(r, c) / l.at(r, 0) : 0;
    }
    tiles_[Tensor::o] = std::move(o);
    tiles_[Tensor::l] = std::move(l);
    tiles_[Tensor::m] = std::move(m);
  }

  AttentionProblem p_;
  std::int64_t splits_of_head_;
  GlobalMemory& memory_;
  double scale_;
  Tiles tiles_;
  std::map<Tensor, int> loaded_;  ///< in this step
  std::map<Tensor, std::vector<OnChipTile>> splits_;
  std::set<Tensor> zero_;  ///< sums that began
  OnChipTile old_m_;
};

}  // namespace attnscope::test

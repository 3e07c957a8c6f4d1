// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/tile_picture.h"

#include <algorithm>
#include <memory>

#include "kernels/model/block_pattern.h"
#include "kernels/model/integer.h"

namespace attnscope::analysis {
namespace {

constexpr std::int64_t most_steps_walked = std::int64_t{1} << 21;
constexpr std::int64_t most_blocks_asked = std::int64_t{1} << 22;
/// What a picture of few milliseconds may hold.
constexpr std::int64_t few_tiles = 4096;
constexpr std::int64_t few_blocks = 8192;
constexpr std::int64_t steps_between_looks = 4096;
constexpr std::int64_t most_rows_counted = std::int64_t{1} << 20;
constexpr std::int64_t most_tiles_counted = std::int64_t{1} << 21;

/// Which pairs of a rectangle the mask leaves, by its rules: windows never leave a gap between what two rows see.
class Sight {
 public:
  Sight(const AttentionProblem& problem, std::int64_t entry) : p_(problem), length_(key_length(problem, entry)) {
    if (!p_.mask.sparse()) return;
    const std::int64_t size = p_.mask.block_size;
    pattern_ = BlockPattern::of(p_.mask, ceil_div(p_.n_q, size), ceil_div(p_.n_k, size));
  }

  /// Of query rows [row, row_end) and keys [key, key_end), both within the matrix and not empty.
  [[nodiscard]] TileSight of(std::int64_t row, std::int64_t row_end, std::int64_t key, std::int64_t key_end) const {
    const KeyRange first = visible_keys_of_length(p_, length_, row);
    const KeyRange last = visible_keys_of_length(p_, length_, row_end - 1);
    if (std::max(key, first.first) >= std::min(key_end, last.last)) return TileSight::masked;
    const bool window_whole = last.first <= key && key_end <= first.last;
    if (pattern_ == nullptr) return window_whole ? TileSight::visible : TileSight::partial;
    const std::int64_t size = p_.mask.block_size;
    bool some = false;
    bool all = window_whole;
    for (std::int64_t square = row / size; square * size < row_end; ++square) {
      const KeyRange sees = united(std::max(row, square * size), std::min(row_end, (square + 1) * size));
      const std::int64_t begin = std::max(key, sees.first);
      const std::int64_t end = std::min(key_end, sees.last);
      if (begin >= end) continue;
      const std::int64_t from = begin / size;
      const std::int64_t to = ceil_div(end, size);
      const std::int64_t count = pattern_->in_row(square, from, to);
      some = some || count > 0;
      all = all && count == to - from;
    }
    return all ? TileSight::visible : some ? TileSight::partial : TileSight::masked;
  }

 private:
  /// What rows [row, row_end) see together.
  [[nodiscard]] KeyRange united(std::int64_t row, std::int64_t row_end) const {
    return {visible_keys_of_length(p_, length_, row).first, visible_keys_of_length(p_, length_, row_end - 1).last};
  }

  const AttentionProblem& p_;
  std::int64_t length_;
  std::shared_ptr<const BlockPattern> pattern_;
};

/// Tiles of each kind. A mask without a pattern of blocks leaves each row of tiles one run of keys, of which the inner
/// part is seen by all of its rows: of such a row they are counted without a look at each.
std::optional<std::array<std::int64_t, 3>> count_tiles(const AttentionProblem& problem, const TileShape& tile,
                                                       std::int64_t entry, const Sight& sight,
                                                       const std::function<bool()>& cancelled) {
  const std::int64_t q_tiles = ceil_div(problem.n_q, tile.br);
  const std::int64_t k_tiles = ceil_div(problem.n_k, tile.bc);
  if (q_tiles > most_rows_counted || (problem.mask.sparse() && q_tiles > most_tiles_counted / k_tiles)) return {};
  std::array<std::int64_t, 3> counts{};
  const auto add = [&](TileSight kind, std::int64_t count) { counts.at(static_cast<std::size_t>(kind)) += count; };
  const std::int64_t length = key_length(problem, entry);
  for (std::int64_t row = 0; row < problem.n_q; row += tile.br) {
    if (cancelled && cancelled()) return {};
    const std::int64_t row_end = std::min<std::int64_t>(row + tile.br, problem.n_q);
    if (problem.mask.sparse()) {
      for (std::int64_t key = 0; key < problem.n_k; key += tile.bc) {
        add(sight.of(row, row_end, key, std::min<std::int64_t>(key + tile.bc, problem.n_k)), 1);
      }
      continue;
    }
    const KeyRange first = visible_keys_of_length(problem, length, row);
    const KeyRange last = visible_keys_of_length(problem, length, row_end - 1);
    const std::int64_t seen_by_any =
        std::max<std::int64_t>(0, last.last > first.first ? ceil_div(last.last, tile.bc) - first.first / tile.bc : 0);
    // A last tile that the matrix cuts ends with it.
    const std::int64_t whole_end = first.last >= problem.n_k ? k_tiles : first.last / tile.bc;
    const std::int64_t seen_by_all =
        std::clamp<std::int64_t>(whole_end - ceil_div(last.first, tile.bc), 0, seen_by_any);
    add(TileSight::visible, seen_by_all);
    add(TileSight::partial, seen_by_any - seen_by_all);
    add(TileSight::masked, k_tiles - seen_by_any);
  }
  return counts;
}

bool of_queries(Tensor tensor) {
  return tensor == Tensor::q || tensor == Tensor::dout;
}
bool of_keys(Tensor tensor) {
  return tensor == Tensor::k || tensor == Tensor::v;
}

/// Follows the blocks of one head: which query rows and keys they hold whenever they compute scores.
class Walk {
 public:
  Walk(TilePicture& picture, const AttentionProblem& problem, const TileShape& tile, std::int64_t entry)
      : picture_(picture), tile_(tile), q_instance_(entry * problem.heads_q), kv_instance_(entry * problem.heads_kv) {}

  enum class End { whole, too_long, cancelled };
  End play(const TileProgram& program, const std::function<bool()>& cancelled) {
    if (program.blocks() > most_blocks_asked) return End::too_long;
    std::int64_t walked = 0;
    for (std::int64_t block = 0; block < program.blocks(); ++block) {
      if (block % steps_between_looks == 0 && cancelled && cancelled()) return End::cancelled;
      if (!begins_here(program, block)) continue;
      queries_ = {};
      keys_ = {};
      const std::int64_t steps = program.steps(block);
      walked += steps;
      if (walked > most_steps_walked) return End::too_long;
      for (std::int64_t step = 0; step < steps; ++step) {
        if (step % steps_between_looks == 0 && cancelled && cancelled()) return End::cancelled;
        play(program, block, step);
      }
    }
    return End::whole;
  }

 private:
  bool begins_here(const TileProgram& program, std::int64_t block) {
    accesses_.clear();
    program.visit(block, 0, accesses_);
    return std::ranges::any_of(accesses_, [this](const TileAccess& access) {
      const bool kv = of_keys(access.tensor) || access.tensor == Tensor::dk || access.tensor == Tensor::dv;
      return access.instance == (kv ? kv_instance_ : q_instance_);
    });
  }

  void play(const TileProgram& program, std::int64_t block, std::int64_t step) {
    accesses_.clear();
    program.visit(block, step, accesses_);
    bool others_queries = false;
    bool own_queries = false;
    for (const TileAccess& access : accesses_) {
      if (access.access != Access::load) continue;
      if (of_keys(access.tensor)) keys_ = {access.row, access.row + access.rows};
      if (!of_queries(access.tensor)) continue;
      if (access.instance == q_instance_) {
        queries_ = {access.row, access.row + access.rows};
        own_queries = true;
      } else {
        others_queries = true;
      }
    }
    if (others_queries && !own_queries) queries_ = {};
    if (queries_.first >= queries_.last || keys_.first >= keys_.last) return;
    computations_.clear();
    program.compute(block, step, computations_);
    if (!std::ranges::any_of(computations_, [](const Computation& c) { return makes_pairs(c.phase); })) return;
    visit();
  }

  void visit() {
    for (std::int64_t i = queries_.first / tile_.br; i * tile_.br < queries_.last; ++i) {
      for (std::int64_t j = keys_.first / tile_.bc; j * tile_.bc < keys_.last; ++j) {
        const auto row = static_cast<std::size_t>(i / picture_.group);
        const auto column = static_cast<std::size_t>(j / picture_.group);
        TileCellSight& cell = picture_.cells[row * static_cast<std::size_t>(picture_.columns) + column];
        cell.visited = true;
        if (cell.order < 0) cell.order = picture_.visits;
        ++picture_.visits;
      }
    }
  }

  TilePicture& picture_;
  TileShape tile_;
  std::int64_t q_instance_;
  std::int64_t kv_instance_;
  KeyRange queries_;  ///< rows, despite its name
  KeyRange keys_;
  std::vector<TileAccess> accesses_;
  std::vector<Computation> computations_;
};

/// Whether some block of it brings queries and keys together.
bool meets(const KernelLaunch& launch) {
  const auto loads = [&](bool (*which)(Tensor)) {
    return std::ranges::any_of(launch.operands, [&](const OperandTraffic& operand) {
      return which(operand.tensor) && operand.traffic.l2_to_sm_bytes > 0;
    });
  };
  return !launch.setup && launch.program != nullptr && loads(of_queries) && loads(of_keys);
}

}  // namespace

std::int64_t TilePicture::cells_of(TileSight sight) const {
  return std::ranges::count(cells, sight, &TileCellSight::sight);
}

std::optional<TilePicture> tile_picture(const Algorithm& algorithm, const AttentionProblem& problem,
                                        const Config& config, const DeviceLimits& device, std::int64_t entry,
                                        const std::function<bool()>& cancelled) {
  // Of what several GPUs share, all that they visit: as one would that had the whole sequence.
  if (problem.gpus > 1) return tile_picture(algorithm, on_one_gpu(problem), config, device, entry, cancelled);
  const TileShape& tile = config.tile;
  TilePicture picture;
  picture.q_tiles = ceil_div(problem.n_q, tile.br);
  picture.k_tiles = ceil_div(problem.n_k, tile.bc);
  picture.group = ceil_div(std::max(picture.q_tiles, picture.k_tiles), most_cells);
  picture.rows = static_cast<int>(ceil_div(picture.q_tiles, picture.group));
  picture.columns = static_cast<int>(ceil_div(picture.k_tiles, picture.group));
  picture.cells.resize(static_cast<std::size_t>(picture.rows) * static_cast<std::size_t>(picture.columns));

  const AttentionPlan plan = algorithm.plan(problem, config, device);
  const auto launch = std::ranges::find_if(plan.launches, meets);
  if (launch != plan.launches.end()) {
    switch (Walk(picture, problem, tile, entry).play(*launch->program, cancelled)) {
      case Walk::End::cancelled:
        return std::nullopt;
      case Walk::End::too_long:
        picture.too_long = true;
        picture.visits = 0;
        break;
      case Walk::End::whole:
        if (picture.visits > 0) picture.kernel = launch->name;
        break;
    }
  }
  const Sight sight(problem, entry);
  picture.tiles = count_tiles(problem, tile, entry, sight, cancelled);
  const std::int64_t height = picture.group * tile.br;
  const std::int64_t width = picture.group * tile.bc;
  auto cell = picture.cells.begin();
  for (std::int64_t row = 0; row < problem.n_q; row += height) {
    if (cancelled && cancelled()) return std::nullopt;
    for (std::int64_t key = 0; key < problem.n_k; key += width, ++cell) {
      cell->sight = sight.of(row, std::min(row + height, problem.n_q), key, std::min(key + width, problem.n_k));
      if (!picture.kernel.empty()) continue;
      cell->visited = cell->sight != TileSight::masked;
      cell->order = -1;
    }
  }
  return picture;
}

bool is_quick_picture(const AttentionProblem& problem, const TileShape& tile) {
  const std::int64_t q_tiles = ceil_div(problem.n_q, tile.br);
  const std::int64_t k_tiles = ceil_div(problem.n_k, tile.bc);
  return !problem.mask.sparse() && q_tiles * k_tiles <= few_tiles &&
         std::max(q_tiles, k_tiles) * problem.instances() <= few_blocks;
}

}  // namespace attnscope::analysis

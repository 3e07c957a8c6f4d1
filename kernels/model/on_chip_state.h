// SPDX-License-Identifier: Apache-2.0
// How the memory of a block fills and empties while it goes through its tile program, as the program has it: one thing
// after the other. On a device the next loads are under way meanwhile (LoadOrder), and more of a ring's buffers are
// full.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/kernel_model.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// What the parts of one block hold. A load or a result fills a part that is empty in its next buffer, and adds to what
/// one holds. A tile larger than that passes through in pieces: then the part is full. A store empties, and so does a
/// computation that frees. What no event names (barriers, a key length) stays at 0.
class OnChipState {
 public:
  struct Fill {
    std::int64_t bytes = 0;
    int buffer = 0;  ///< of the ring; the first one where a tile takes several

    bool operator==(const Fill&) const = default;
  };

  /// Nothing is held: the block begins. `parts` are KernelModel::on_chip.
  explicit OnChipState(std::vector<OnChipPart> parts);

  void play(const TileAccess&);
  void play(const Computation&);
  void play(const StepEvent&);
  /// A whole step. Of what comes between, only what is still there is seen after it.
  void play(const TileProgram&, std::int64_t block, std::int64_t step);

  /// As many as the parts, in their order.
  [[nodiscard]] std::span<const Fill> fills() const { return fills_; }
  [[nodiscard]] std::int64_t bytes(OnChipPlace) const;

 private:
  /// `bytes` in all afterwards.
  void fill(std::size_t part, std::int64_t bytes);

  std::vector<OnChipPart> parts_;
  std::vector<Fill> fills_;
  std::vector<int> next_buffer_;
};

}  // namespace attnscope

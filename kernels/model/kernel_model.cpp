// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/kernel_model.h"
#include "kernels/model/integer.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace attnscope {

std::uint8_t part_index(std::span<const OnChipPart> parts, std::string_view name) {
  const auto found = std::ranges::find(parts, name, &OnChipPart::name);
  return found == parts.end() ? no_part : static_cast<std::uint8_t>(found - parts.begin());
}

Traffic AttentionModel::traffic() const {
  Traffic sum;
  for (const KernelModel& kernel : kernels) {
    if (!kernel.setup) sum += kernel.runs * kernel.traffic;
  }
  return sum;
}

double AttentionModel::matrix_flops() const {
  double sum = 0;
  for (const KernelModel& kernel : kernels)
    sum += kernel.setup ? 0 : static_cast<double>(kernel.runs) * kernel.matrix_flops;
  return sum;
}

OnChipState::OnChipState(std::vector<OnChipPart> parts)
    : parts_(std::move(parts)), fills_(parts_.size()), next_buffer_(parts_.size(), 0) {}

void OnChipState::play(const TileAccess& access) {
  if (access.on_chip == no_part) return;
  Fill& held = fills_.at(access.on_chip);
  if (access.access == Access::load) {
    fill(access.on_chip, held.bytes + access.bytes());
  } else {
    held.bytes = 0;
  }
}

void OnChipState::play(const Computation& computation) {
  if (computation.on_chip != no_part) {
    // A sum that is there already, of more rows or as many, is added to in its place.
    fill(computation.on_chip, std::max(fills_.at(computation.on_chip).bytes, computation.bytes()));
  }
  for (std::size_t part = 0; part < fills_.size(); ++part) {
    if (computation.frees.test(part)) fills_[part].bytes = 0;
  }
}

void OnChipState::play(const StepEvent& event) {
  std::visit([this](const auto& each) { play(each); }, event);
}

void OnChipState::play(const TileProgram& program, std::int64_t block, std::int64_t step) {
  for (const StepEvent& event : events(program, block, step)) play(event);
}

std::int64_t OnChipState::bytes(OnChipPlace place) const {
  std::int64_t sum = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    if (parts_[part].place == place) sum += fills_[part].bytes;
  }
  return sum;
}

void OnChipState::fill(std::size_t part, std::int64_t bytes) {
  const OnChipPart& of = parts_.at(part);
  Fill& held = fills_[part];
  if (held.bytes == 0) held.buffer = next_buffer_[part];
  held.bytes = std::min(bytes, of.bytes);
  const auto taken = static_cast<int>(ceil_div(held.bytes, of.bytes / of.stages));
  next_buffer_[part] = (held.buffer + taken) % of.stages;
}

}  // namespace attnscope

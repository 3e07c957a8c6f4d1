// SPDX-License-Identifier: Apache-2.0
// The laws of growth that several algorithms have, for the facts that state them.
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// Of what states none: nothing is said, and it is 0 everywhere.
[[nodiscard]] Law no_law(const Facts&, const AttentionProblem&, const Config&, const DeviceLimits&);
/// N·d: everything is read and written once, whatever the tile.
[[nodiscard]] Law linear_law(const Facts&, const AttentionProblem& like, const Config&, const DeviceLimits&);
/// N²: every score is in memory, whatever the mask leaves of it.
[[nodiscard]] Law scores_law(const Facts&, const AttentionProblem& like, const Config&, const DeviceLimits&);
/// N²d²/M from N·d ≥ M on (FlashAttention, arXiv 2205.14135v2, Theorem 2): of an algorithm whose own tile is as large
/// as M allows. Here and in tile_law() a mask that is neither full nor causal leaves a share of the pairs that changes
/// with N: P, their number, stands for N². The lower order is that of reading everything once.
[[nodiscard]] Law memory_law(const Facts&, const AttentionProblem& like, const Config&, const DeviceLimits&);
/// N²d/Br or N²d/Bc from four tiles on, by the side of the tile that the pass's traffic is divided by.
[[nodiscard]] Law tile_law(const Facts&, const AttentionProblem& like, const Config&, const DeviceLimits&);

/// N²d²/M for d <= M <= N d.
[[nodiscard]] const PowerLaw& theorem_2();

}  // namespace attnscope

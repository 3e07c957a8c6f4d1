// SPDX-License-Identifier: Apache-2.0
// A user-defined kernel as an Algorithm, based on its manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/user/manifest.h"

namespace attnscope::user {

class UserKernel final : public Algorithm {
 public:
  explicit UserKernel(KernelManifest);

  [[nodiscard]] std::vector<std::filesystem::path> source_files() const;
  [[nodiscard]] std::unique_ptr<const UserKernel> copy_without_law() const;

  [[nodiscard]] Config default_config(const AttentionProblem&, const DeviceLimits&) const override;
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override;
  /// Text of the manifest file; empty for kernels that are `model_only`.
  [[nodiscard]] const std::string& text() const { return manifest_.launches.front().source->manifest; }

 protected:
  void add_kernels(AttentionModel& model, const AttentionProblem& p, const Config& config,
                   const DeviceLimits& device) const override {
    model.kernels = kernels(p, config, device);
  }

 private:
  /// Kernels of active_launches(), in their order.
  [[nodiscard]] std::vector<KernelModel> kernels(const AttentionProblem&, const Config&, const DeviceLimits&) const;
  /// Launches of the problem's pass, forward first. Throws Message if a pass has none.
  [[nodiscard]] std::vector<const LaunchSpec*> active_launches(const AttentionProblem&, const Variables&) const;
  [[nodiscard]] std::optional<Refusal> problem_refusal(const AttentionProblem&, const Config&) const;
  /// Throws Message if a name in "let" has no value.
  [[nodiscard]] Variables variables(const AttentionProblem&, const Config&, const DeviceLimits&) const;
  /// Throws Message if an expression has no value or an invalid one for a launch.
  [[nodiscard]] KernelModel model_of(const LaunchSpec&, const AttentionProblem&, const Variables&,
                                     const DeviceLimits&) const;
  /// Setup launches that fill buffers. Throws Message if a buffer is a part of another.
  [[nodiscard]] std::vector<KernelLaunch> fill_launches(const AttentionProblem&, std::span<const LaunchSpec* const>,
                                                        std::span<const BufferSpec>) const;
  [[nodiscard]] std::vector<BufferSpec> make_buffers(const AttentionProblem&, const Variables&) const;
  /// Returns true if a launch takes or a library writes the LSE.
  [[nodiscard]] bool has_lse(const AttentionProblem&, const Variables&) const;
  /// Tile at which the law is evaluated. Throws Message. Pre: law_algorithm_.
  [[nodiscard]] TileShape law_tile(const Variables&) const;
  [[nodiscard]] std::vector<OperandTraffic> law_traffic(const AttentionProblem&, const Variables&,
                                                        const DeviceLimits&) const;

  KernelManifest manifest_;
  const Algorithm* law_algorithm_ = nullptr;  ///< algorithm that provides the law
};

/// Entry of the setup launches that fill buffers, in device/measurement.cuh.
inline constexpr std::string_view fill_words_entry = "attn_fill_words";

inline constexpr std::uintmax_t max_manifest_bytes = 1 << 20;

/// Loads a manifest file; `suffix` is appended to the kernel's name. The error is one line: file, line, cause.
[[nodiscard]] Result<std::unique_ptr<const UserKernel>, Message> load_kernel(const std::filesystem::path& file,
                                                                             const std::string& suffix = {});
/// As load_kernel(), with the text of the manifest. `file` is for messages; sources are relative to its folder.
[[nodiscard]] Result<std::unique_ptr<const UserKernel>, Message> make_kernel(std::string_view text,
                                                                             const std::filesystem::path& file,
                                                                             const std::string& suffix = {});

}  // namespace attnscope::user

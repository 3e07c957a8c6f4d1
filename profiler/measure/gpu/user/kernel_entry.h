// SPDX-License-Identifier: Apache-2.0
// Finds a manifest's entry in a compiled file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::gpu {

/// The entry with the values of its defines as template arguments: "kernel<BR, 4>" becomes "kernel<64, 4>".
[[nodiscard]] std::string instantiated_entry(const KernelSource&);

/// "ns::kernel" for the symbol of "void (anonymous namespace)::ns::kernel<int>(float*)". Pre: a trusted symbol.
[[nodiscard]] std::string short_kernel_name(const std::string& symbol);

/// Symbols of the first 65,536 kernels in a cubin or PTX text; nothing for other files. The image is untrusted.
[[nodiscard]] std::optional<std::vector<std::string>> kernel_symbols(std::string_view image);

/// Symbol of the kernel K in a cubin with an instance of
/// `template <class F, F* entry> __global__ void attnscope_entry()` for entry = K; empty if there is none.
/// Pre: compiled from a trusted source.
[[nodiscard]] std::string instance_symbol(std::string_view image);

/// Symbol of the entry in an image; the entry itself if the image is neither cubin nor PTX. A template instance must be
/// named with its final arguments. The error point.no_entry lists kernels of the image.
[[nodiscard]] Result<std::string, Message> find_symbol(const KernelSource&, std::string_view image);

}  // namespace attnscope::gpu

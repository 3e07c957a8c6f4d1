// SPDX-License-Identifier: Apache-2.0
// fmt 9's own functions, compiled once: header-only, every file that formats compiles them again (a third of its time).
// Debian ships no libfmt.a. Below are the templates that fmt's headers only declare.
#include <fmt/format-inl.h>

#include <locale>

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API locale_ref::locale_ref(const std::locale&);
template FMT_API std::locale locale_ref::get<std::locale>() const;
template FMT_API thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template FMT_API char decimal_point_impl<char>(locale_ref);
template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal<float>(float) noexcept;
template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal<double>(double) noexcept;
}  // namespace detail
FMT_END_NAMESPACE

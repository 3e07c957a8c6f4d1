// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/user_source.h"

#include <array>

namespace attnscope::gpu {
namespace {

// Types and macros are spelled as in CCCL, which defines them, too.
constexpr std::string_view types_h = R"(#pragma once
using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";

constexpr std::string_view stdint_h = R"(#pragma once
#include <attnscope_types.h>
#include <attnscope_limits.h>
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX UINT64_MAX
)";

constexpr std::string_view limits_h = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
)";

constexpr std::string_view float_h = R"(#pragma once
#define FLT_RADIX 2
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define FLT_EPSILON 1.19209290e-7F
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
)";

constexpr std::string_view functions_h = R"(#pragma once
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fc00000)
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::hypot; using ::pow; using ::fma;
using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2;
using ::sinh; using ::cosh; using ::tanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::floor; using ::ceil; using ::round; using ::trunc; using ::rint; using ::nearbyint; using ::lround;
using ::fmod; using ::remainder; using ::fmin; using ::fmax; using ::fdim; using ::copysign; using ::nextafter;
using ::ldexp; using ::frexp; using ::scalbn; using ::modf;
using ::isinf; using ::isnan; using ::isfinite; using ::signbit;
using ::fabsf; using ::sqrtf; using ::powf; using ::fmaf; using ::expf; using ::exp2f; using ::logf; using ::log2f;
using ::sinf; using ::cosf; using ::tanhf; using ::floorf; using ::ceilf; using ::roundf; using ::fminf; using ::fmaxf;
}
)";

constexpr std::string_view math_h = R"(#pragma once
#include <attnscope_math.h>
#define HUGE_VALF INFINITY
#define HUGE_VAL static_cast<double>(INFINITY)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
)";

constexpr std::string_view algorithm_header = R"(#pragma once
namespace std {
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}
}
)";

constexpr std::string_view stddef_h = R"(#pragma once
using nullptr_t = decltype(nullptr);
)";

constexpr std::string_view stdlib_h = "#pragma once\nnamespace std { using ::malloc; using ::free; using ::abs; }\n";
constexpr std::string_view string_h = "#pragma once\nnamespace std { using ::memcpy; using ::memset; }\n";
constexpr std::string_view stdio_h = "#pragma once\nnamespace std { using ::printf; }\n";
constexpr std::string_view empty_header = "#pragma once\n";  // NVRTC provides its functions, or host code alone uses it

#define ATTNSCOPE_CCCL(name) \
  { name, "#pragma once\n#include <cuda/std/" name ">\nnamespace std { using namespace cuda::std; }\n" }

constexpr std::array stand_ins{
    // Names with attnscope_ are independent of the user's files.
    EmbeddedSource{implicit_header, "#include <attnscope_types.h>\n#include <attnscope_math.h>\n"},
    EmbeddedSource{"attnscope_types.h", types_h},
    EmbeddedSource{"attnscope_limits.h", limits_h},
    EmbeddedSource{"attnscope_math.h", functions_h},
    EmbeddedSource{"stdint.h", stdint_h},
    EmbeddedSource{"cstdint", stdint_h},
    EmbeddedSource{"limits.h", limits_h},
    EmbeddedSource{"climits", limits_h},
    EmbeddedSource{"math.h", math_h},
    EmbeddedSource{"cmath", math_h},
    EmbeddedSource{"float.h", float_h},
    EmbeddedSource{"cfloat", float_h},
    EmbeddedSource{"stddef.h", stddef_h},
    EmbeddedSource{"cstddef", stddef_h},
    EmbeddedSource{"stdlib.h", stdlib_h},
    EmbeddedSource{"cstdlib", stdlib_h},
    EmbeddedSource{"string.h", string_h},
    EmbeddedSource{"cstring", string_h},
    EmbeddedSource{"stdio.h", stdio_h},
    EmbeddedSource{"cstdio", stdio_h},
    EmbeddedSource{"algorithm", algorithm_header},
    EmbeddedSource{"assert.h", empty_header},
    EmbeddedSource{"cassert", empty_header},
    EmbeddedSource{"initializer_list", empty_header},
    EmbeddedSource{"iostream", empty_header},
    EmbeddedSource ATTNSCOPE_CCCL("type_traits"),
    EmbeddedSource ATTNSCOPE_CCCL("limits"),
    EmbeddedSource ATTNSCOPE_CCCL("utility"),
    EmbeddedSource ATTNSCOPE_CCCL("tuple"),
    EmbeddedSource ATTNSCOPE_CCCL("array"),
    EmbeddedSource ATTNSCOPE_CCCL("functional")};
#undef ATTNSCOPE_CCCL

}  // namespace

std::span<const EmbeddedSource> host_headers() {
  return stand_ins;
}

}  // namespace attnscope::gpu

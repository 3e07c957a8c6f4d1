// SPDX-License-Identifier: Apache-2.0
// Steps of the schema as they shipped: text that is never edited (a test holds its digests).
#pragma once

namespace attnscope::schema {

extern const char* const step_1;  ///< an empty file to schema 1
extern const char* const step_2;
extern const char* const step_3;  ///< leaves the views to views.h, as do those after it
extern const char* const step_4;
extern const char* const step_5;
extern const char* const step_6;

}  // namespace attnscope::schema

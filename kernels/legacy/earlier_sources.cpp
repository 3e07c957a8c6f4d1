// SPDX-License-Identifier: Apache-2.0
#include "kernels/legacy/earlier_sources.h"

#include <array>

namespace attnscope::legacy {
namespace {

constexpr auto sources_of_0_1 = std::to_array<EarlierSource>({
    {"9094e69f-c893-5ce7-aad2-fed103256eef", "ceilings/arithmetic.cuh", "fefb1f82-584d-5e26-a1f8-4866cc0e44dc"},
    {"030c98c9-7d74-536f-97d1-c589eceffe1f", "ceilings/latency.cuh", "da8493b6-65d3-5e4e-8b5b-e1d03ba4c60b"},
    {"532d47a8-4e99-5796-b35c-fd58fb7feaa5", "ceilings/memory.cuh", "b577593b-486b-5065-a707-82b6fa96e3f4"},
    {"c39f09e7-9b03-536e-8783-58d39c78d9d1", "ceilings/mma.cuh", "980ef77b-f7ab-551c-978b-f26844cf9511"},
    {"d05b8cdd-44cb-5cfc-ac58-1bbfedcbba4d", "ceilings/shared_memory.cuh", "93e54ee7-1e57-5441-a965-4e0fb10e9005"},
    {"b42fcb4e-84b6-5093-8b70-3caf8b15abf2", "ceilings/wgmma.cuh", "ca7c1063-2d89-5939-824d-72f15420f64a"},
    {"ec888814-9691-552f-9b8a-a0fe3ad43e2e", "device/row_statistics.cuh", "42ad853c-0e5d-5923-80a1-903c40e5797c"},
    {"0f2cd19b-2d81-5e18-8002-d10ed736943b", "device/trace.cuh", "44f1aa74-fe72-5f61-8317-e4050399090b"},
    {"08d87a46-e47c-51f9-8a66-ea6be6f6b3e9", "fa1/fa1_forward.cuh", "cb92a81b-9412-5971-b595-4b522f4705fd"},
    {"1e485745-b49e-5b35-9fc3-40f620a8be16", "fa2/fa2_backward_rows.cuh", "f5dacebc-eab0-5b1f-ae3d-9242a1f91e04"},
    {"80dbc0cd-fc49-5ee3-8071-6d2dba9073b8", "fa3/fa3_backward_rows.cuh", "de4ad17c-b0ef-5a1f-a3c1-c5fa1b1638c3"},
    {"9bcc89dd-1d98-5159-b539-7858d2a2581c", "naive/naive_ds.cuh", "51ba3b50-28a4-5c9c-b93a-13fab3ed7818"},
    {"9423abe3-08c7-5c40-87bf-d318dfedcc19", "naive/naive_ds_long.cuh", "af9c5287-42ee-534e-99df-c6902c7e670c"},
    {"90181f55-81b4-509e-b4ba-d3ad0e7c8cf3", "naive/naive_pv.cuh", "0ca9c7d9-4ec6-5074-b3b6-c38f1dbece5c"},
    {"681ebfb2-b297-57a2-95d7-0708ec5cd95c", "naive/naive_qk.cuh", "c15e2428-c44f-5fe7-acaf-29230f7c7944"},
    {"20382ab1-b3ff-50ea-b1d9-8f5510ea877c", "naive/naive_softmax.cuh", "0a928bdd-315d-5951-a612-351ef2895bee"},
    {"3c7ac571-b78b-584e-99b0-a18a4628030e", "naive/naive_softmax_long.cuh", "0beefd38-cdeb-52cc-a915-704237753d27"},
    {"4445746f-7009-5433-95b9-759d364e14fe", "naive/naive_tn.cuh", "dc333300-e86b-5b7f-ae1e-d40fb4e0c19e"},
    {"cb975b13-6536-5561-84b4-a8a66ce44697", "splitkv/splitkv_combine.cuh", "d5c4d720-79d0-5d71-b62a-c52314c973b1"},
    {"89461432-556d-55ab-9c55-42d6b9f0bfc5", "splitkv/splitkv_partial.cuh", "63585c38-9f22-54d0-a74c-8202109125c0"},
});

}  // namespace

std::span<const EarlierSource> earlier_sources() {
  return sources_of_0_1;
}

}  // namespace attnscope::legacy

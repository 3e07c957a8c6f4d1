// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/process/own_gpu_list.h"

#include <algorithm>
#include <utility>

#include "kernels/model/gpu_values.h"
#include "messages/gpu_value.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

OwnGpuList& OwnGpuList::instance() {
  static OwnGpuList list;
  return list;
}

OwnGpuList::OwnGpuList() {
  reload();
}

QString OwnGpuList::file() const {
  return QString::fromStdString(own_gpus_file().string());
}

void OwnGpuList::reload() {
  auto read = read_own_gpus(own_gpus_file());
  gpus_.clear();
  error_.clear();
  if (read) {
    gpus_ = std::move(*read);
  } else {
    error_ = qtext(read.error());
  }
  emit changed();
}

QString OwnGpuList::write(std::vector<OwnGpu> gpus) {
  // A file that is not understood may hold what somebody wrote by hand.
  if (!error_.isEmpty()) return error_;
  if (own_gpus_file().empty()) return qtext(say::gpu_value::no_home{});
  if (const Message wrong = write_own_gpus(own_gpus_file(), gpus); !wrong.empty()) return qtext(wrong);
  gpus_ = std::move(gpus);
  emit changed();
  return {};
}

QString OwnGpuList::save(const OwnGpu& gpu, const QString& before) {
  if (const Message wrong = wrong_gpu(gpu.limits); !wrong.empty()) return qtext(wrong);
  std::vector<OwnGpu> gpus = gpus_;
  const OwnGpu* replaced = find_own_gpu(gpus, before.toStdString());
  const OwnGpu* named = find_own_gpu(gpus, gpu.limits.name);
  if (named != nullptr && named != replaced) return qtext(say::gpu_value::taken{.gpu = named->limits.name});
  if (replaced != nullptr) {
    gpus[static_cast<std::size_t>(replaced - gpus.data())] = gpu;
  } else {
    if (gpus.size() == most_own_gpus) return qtext(say::gpu_value::full{.most = most_own_gpus});
    gpus.push_back(gpu);
  }
  return write(std::move(gpus));
}

QString OwnGpuList::remove(const QString& name) {
  std::vector<OwnGpu> gpus = gpus_;
  const OwnGpu* found = find_own_gpu(gpus, name.toStdString());
  if (found == nullptr) return {};
  gpus.erase(gpus.begin() + (found - gpus.data()));
  return write(std::move(gpus));
}

const DeviceLimits* limits_of_gpu(std::string_view name) {
  const auto gpus = known_gpus();
  const auto known = std::ranges::find(gpus, name, &DeviceLimits::name);
  if (known != gpus.end()) return &*known;
  const OwnGpu* own = OwnGpuList::instance().find(name);
  return own == nullptr ? nullptr : &own->limits;
}

}  // namespace attnscope::ui

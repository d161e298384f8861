#include "takt/domains/inbox.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "takt/base/try.hpp"

namespace takt::domains {

Result<Source> Inbox::open(const memory::Message& message) {
  if (device_ == host) {
    const auto bytes = receiver_->bytes(message);
    if (!bytes) return error("a message that is not in its publisher's memory");
    return Source{.bytes = *bytes};
  }
  const Descriptor* const memory = receiver_->handed(message);
  if (memory == nullptr) return error("a message that is not in its publisher's memory");
  if (attached_.size() <= message.block) attached_.resize(message.block + 1);
  auto& attached = attached_[message.block];
  if (attached == nullptr) {
    Descriptor copy(fcntl(memory->get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return error("{}: {}", to_string(device_), std::strerror(errno));
    attached = TAKT_TRY(drivers_->attach(device_, std::move(copy)));
  }
  return Source{.device = attached.get(), .offset = message.offset};
}

}  // namespace takt::domains

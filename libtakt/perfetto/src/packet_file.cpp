#include "packet_file.hpp"

#include <cerrno>
#include <cstring>

#include "fields.hpp"

namespace takt::perfetto {
namespace {

constexpr std::size_t write_size = 1 << 20;

}  // namespace

void PacketFile::add(const Message& packet) {
  waiting_.message(trace::packet, packet);
  if (waiting_.bytes().size() >= write_size) {
    file_ << waiting_.bytes();
    waiting_ = {};
  }
}

Result<void> PacketFile::close() {
  errno = 0;
  file_ << waiting_.bytes();
  file_.close();
  if (!file_) {
    return error("{}: cannot be written: {}", path_.string(),
                 errno != 0 ? std::strerror(errno) : "disk full?");
  }
  return {};
}

}  // namespace takt::perfetto

#include "read_ahead.hpp"

#include <algorithm>
#include <utility>

namespace takt::events {
namespace {

/// Memory of a file that was read is given back in pieces of at least this size.
constexpr std::uint64_t forget_distance = 4 << 20;

}  // namespace

void DecodedFile::hash_up_to(std::uint64_t end) {
  while (hashed_ < end) {
    const auto size = std::min(forget_distance, end - hashed_);
    content_.add(file_.bytes().subspan(hashed_, size));
    hashed_ += size;
    if (hashed_ < end) {  // far beyond what was decoded
      file_.forget(forgotten_, hashed_);
      forgotten_ = hashed_;
    }
  }
}

void DecodedFile::decode() {
  stream_.read(ahead_);
  hash_up_to(ahead_.is_last ? file_.bytes().size() : ahead_.decoded);
  if (ahead_.position >= forgotten_ + forget_distance || ahead_.is_last) {
    file_.forget(forgotten_, ahead_.position);
    forgotten_ = ahead_.position;
  }
  ready_.store(true, std::memory_order_release);
  ready_.notify_one();
}

void DecodedFile::take(ctf::Chunk& chunk) {
  ready_.wait(false, std::memory_order_acquire);
  std::swap(chunk, ahead_);
  ready_.store(false, std::memory_order_relaxed);
}

ReadAhead::ReadAhead(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

ReadAhead::~ReadAhead() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  threads_.clear();
}

void ReadAhead::request(DecodedFile& file) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(&file);
  }
  requested_.notify_one();
}

void ReadAhead::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (requested_.wait(lock, stop, [this] { return !queue_.empty(); }) &&
         !stop.stop_requested()) {
    DecodedFile* const file = queue_.front();
    queue_.pop_front();
    lock.unlock();
    file->decode();
    lock.lock();
  }
}

}  // namespace takt::events

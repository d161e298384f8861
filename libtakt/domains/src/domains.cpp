#include "takt/domains/domains.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "takt/base/try.hpp"

namespace takt::domains {

Result<Domain> Domains::add(const Device& device) {
  const auto found = std::ranges::find(devices_, device);
  const auto domain = static_cast<Domain>(found - devices_.begin());
  if (found != devices_.end()) return domain;
  if (devices_.size() == most_domains) {
    return error("{}: there are {} memory domains already, and no more are possible",
                 to_string(device), most_domains);
  }
  devices_.push_back(device);
  return domain;
}

Result<PoolId> Domains::add_pool(std::unique_ptr<DeviceMemory> memory,
                                 const Pool::Settings& settings) {
  TAKT_TRY(add(memory->device()));
  auto slot = std::ranges::find_if(slots_, [](const Slot& each) { return each.pool == nullptr; });
  if (slot == slots_.end()) slot = slots_.emplace(slots_.end());
  slot->pool = std::make_unique<Pool>(std::move(memory), settings);
  ++slot->generation;
  return PoolId{.index = static_cast<std::uint32_t>(slot - slots_.begin()),
                .generation = slot->generation};
}

Result<Pool*> Domains::pool(PoolId id) {
  if (id.index >= slots_.size() || slots_[id.index].pool == nullptr ||
      slots_[id.index].generation != id.generation) {
    return error("pool {}.{}: it is not there, or not any more", id.index, id.generation);
  }
  return slots_[id.index].pool.get();
}

Result<void> Domains::remove_pool(PoolId id) {
  const auto found = TAKT_TRY(pool(id));
  if (const std::size_t blocks = found->in_use(); blocks > 0) {
    return error("pool {}.{}: {} of its blocks are in use; release them first", id.index,
                 id.generation, blocks);
  }
  slots_[id.index].pool.reset();
  return {};
}

void Domains::add_direct_copy(const Device& from, const Device& to, DirectCopy copy) {
  direct_.push_back({.from = from, .to = to, .copy = std::move(copy)});
}

Result<Way> Domains::connect(PoolId from, PoolId to, Bytes most) {
  const auto source = TAKT_TRY(pool(from));
  const auto target = TAKT_TRY(pool(to));
  const Device one = source->device();
  const Device other = target->device();
  Way way{.kind = Way::Kind::same_domain, .from = from, .to = to};
  if (one == other) return way;
  const auto reach = [](const Pool& each) {
    return Reach{.device = each.device(), .reaches_host = each.memory().reaches_host()};
  };
  TAKT_TRY(check_way(reach(*source), reach(*target), direct_));
  if (const DirectCopy* const direct = find_direct(direct_, one, other)) {
    way.kind = Way::Kind::direct;
    way.direct = *direct;
    return way;
  }
  if (one == host || other == host) {
    way.kind = one == host ? Way::Kind::from_host : Way::Kind::to_host;
    return way;
  }
  way.kind = Way::Kind::over_host;
  way.buffer.resize(most);
  return way;
}

Result<BlockId> Domains::allocate(PoolId id, Bytes bytes) {
  const auto found = TAKT_TRY(pool(id));
  return found->allocate(bytes).map(
      [id](Offset offset) { return BlockId{.pool = id, .offset = offset}; });
}

Result<void> Domains::share(const BlockId& block) {
  return pool(block.pool).and_then([&](Pool* found) { return found->share(block.offset); });
}

Result<void> Domains::release(const BlockId& block) {
  return pool(block.pool).and_then([&](Pool* found) { return found->release(block.offset); });
}

Result<BlockId> Domains::bring(Way& way, const BlockId& block) {
  if (block.pool != way.from) {
    return error("a block of pool {}.{}: the way begins at pool {}.{}", block.pool.index,
                 block.pool.generation, way.from.index, way.from.generation);
  }
  const auto bytes = pool(way.from).and_then([&](Pool* from) { return from->size(block.offset); });
  if (!bytes) return tl::unexpected(bytes.error());
  if (way.kind == Way::Kind::same_domain) return share(block).map([&] { return block; });
  if (way.kind == Way::Kind::over_host && *bytes > way.buffer.size()) {
    return error("a block of {} bytes: the way over the host has room for {}", *bytes,
                 way.buffer.size());
  }
  auto target = TAKT_TRY(allocate(way.to, *bytes));
  if (auto copied = copy(way, block.offset, target.offset, *bytes); !copied) {
    static_cast<void>(release(target));
    return tl::unexpected(std::move(copied.error()));
  }
  ++way.copies;
  way.bytes += *bytes;
  return target;
}

/// The bytes are in both pools.
Result<void> Domains::copy(Way& way, Offset source, Offset target, Bytes bytes) {
  const auto first = TAKT_TRY(pool(way.from));
  const auto last = TAKT_TRY(pool(way.to));
  DeviceMemory& from = first->memory();
  DeviceMemory& to = last->memory();
  if (way.kind == Way::Kind::direct) return way.direct(from, source, to, target, bytes);
  const Source begin = from.device() == host
                           ? Source{.bytes = from.on_host().subspan(source, bytes)}
                           : Source{.device = &from, .offset = source};
  const Target end = to.device() == host ? Target{.bytes = to.on_host().subspan(target, bytes)}
                                         : Target{.device = &to, .offset = target};
  return copy_between(begin, end, bytes, nullptr, way.buffer);
}

}  // namespace takt::domains

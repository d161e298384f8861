#include "takt/allocation/rules.hpp"

#include <algorithm>
#include <array>

#include "takt/allocation/bitmap_fit.hpp"
#include "takt/allocation/buddies.hpp"
#include "takt/allocation/object_pools.hpp"
#include "takt/allocation/segregated_fit.hpp"
#include "takt/allocation/segregated_storage.hpp"
#include "takt/allocation/sequential_fit.hpp"

namespace takt::allocation {

namespace {

using Made = std::unique_ptr<Allocator>;

template <typename List, Fit fit>
Made make_sequential(Bytes range, Bytes granule) {
  return std::make_unique<SequentialFit<List>>(fit, range, granule);
}

template <unsigned bits>
Made make_segregated(Bytes range, Bytes granule) {
  return std::make_unique<SegregatedFit>(SizeClasses{bits}, range, granule);
}

template <typename Simple>
Made make(Bytes range, Bytes granule) {
  return std::make_unique<Simple>(range, granule);
}

Made make_buddies(Bytes range, Bytes granule) {
  return std::make_unique<Buddies>(BuddySizes::binary(granule), range);
}

Made make_fibonacci(Bytes range, Bytes granule) {
  return std::make_unique<Buddies>(BuddySizes::fibonacci(granule), range);
}

Made make_pools(Bytes range, Bytes granule) {
  return std::make_unique<ObjectPools>(std::make_unique<SegregatedFit>(
      powers_of_two, range, std::max(granule, ObjectPools::slab_bytes)));
}

using Chunked = HybridArrayList<>;

constexpr std::string_view blocks = "blocks";
constexpr std::string_view orders = "orders";
constexpr std::string_view constant = "constant";

constexpr std::array all{
    Rule{"best fit", make_sequential<Chunked, Fit::best>, true, blocks},
    Rule{"first fit", make_sequential<Chunked, Fit::first>, true, blocks},
    Rule{"next fit", make_sequential<Chunked, Fit::next>, true, blocks},
    Rule{"best fit, array", make_sequential<SortedArray, Fit::best>, true, blocks},
    Rule{"bitmap", make<BitmapFit>, true, "range"},
    Rule{"segregated fit", make_segregated<powers_of_two.bits>, true, constant},
    Rule{"TLSF", make_segregated<tlsf.bits>, true, constant},
    Rule{"object pools", make_pools, true, constant},
    Rule{"segregated storage", make<SegregatedStorage>, false, constant},
    Rule{"binary buddies", make_buddies, true, orders},
    Rule{"double buddies", make<DoubleBuddies>, false, orders},
    Rule{"Fibonacci buddies", make_fibonacci, true, orders},
};

}  // namespace

std::span<const Rule> rules() { return all; }

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Rule::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace takt::allocation

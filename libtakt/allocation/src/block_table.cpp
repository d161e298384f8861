#include "takt/allocation/block_table.hpp"

#include <algorithm>
#include <cassert>

namespace takt::allocation {

void BlockTable::reserve(std::size_t blocks) {
  if (blocks <= chains_.size()) return;
  entries_.reserve(std::bit_ceil(blocks));
  chains_.assign(std::bit_ceil(blocks), none);
  std::vector<bool> is_unused(entries_.size());
  for (Index at = unused_; at != none; at = entries_[at].next) is_unused[at] = true;
  for (Index at = 0; at < entries_.size(); ++at) {
    if (is_unused[at]) continue;
    Index& chain = chains_[chain_of(entries_[at].block.offset)];
    entries_[at].chain = chain;
    chain = at;
  }
}

BlockTable::Index BlockTable::find(Offset offset) const {
  Index at = chains_[chain_of(offset)];
  while (at != none && entries_[at].block.offset != offset) at = entries_[at].chain;
  return at;
}

BlockTable::Index BlockTable::insert(const Block& block, Index before) {
  Index index = unused_;
  if (index == none) {
    index = static_cast<Index>(entries_.size());
    reserve(entries_.size() + 1);
    entries_.emplace_back();
  } else {
    unused_ = entries_[index].next;
  }
  Index& chain = chains_[chain_of(block.offset)];
  Entry& entry = entries_[index];
  entry.block = block;
  entry.list = in_use;
  entry.before = before;
  entry.chain = chain;
  chain = index;
  return index;
}

void BlockTable::erase(Index index) {
  Entry& entry = entries_[index];
  assert(entry.list == in_use);
  Index* link = &chains_[chain_of(entry.block.offset)];
  while (*link != index) link = &entries_[*link].chain;
  *link = entry.chain;
  entry.next = unused_;
  unused_ = index;
}

void BlockTable::push(Index index, List list) {
  Entry& entry = entries_[index];
  assert(entry.list == in_use && list < firsts_.size());
  entry.list = list;
  entry.previous = none;
  entry.next = firsts_[list];
  if (entry.next != none) entries_[entry.next].previous = index;
  firsts_[list] = index;
  filled_.insert(list);
}

void BlockTable::unlink(Index index) {
  Entry& entry = entries_[index];
  assert(entry.list != in_use);
  if (entry.next != none) entries_[entry.next].previous = entry.previous;
  if (entry.previous != none) {
    entries_[entry.previous].next = entry.next;
  } else {
    firsts_[entry.list] = entry.next;
    if (entry.next == none) filled_.remove(entry.list);
  }
  entry.list = in_use;
}

std::vector<Block> BlockTable::free_blocks() const {
  std::vector<Block> blocks;
  for (List list = first_list(0); list != NumberSet::limit; list = first_list(list + 1)) {
    for (Index at = first(list); at != none; at = entries_[at].next) {
      blocks.push_back(entries_[at].block);
    }
  }
  std::ranges::sort(blocks, {}, &Block::offset);
  return blocks;
}

Bytes BlockTable::own_bytes() const {
  return entries_.capacity() * sizeof(Entry) + sizeof(filled_) +
         (firsts_.capacity() + chains_.capacity()) * sizeof(Index);
}

}  // namespace takt::allocation

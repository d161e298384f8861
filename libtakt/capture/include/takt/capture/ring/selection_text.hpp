#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "takt/base/selection.hpp"
#include "takt/capture/ring/layout.hpp"

/// What of a process's nodes and topics a recorder wants, as it tells the process through its ring:
/// '+' and a pattern to include, '-' and one to exclude, each with a zero byte at its end.
namespace takt::capture::ring {

[[nodiscard]] inline std::string selection_text(const Selection& selection) {
  std::string text;
  for (const auto& pattern : selection.include) text.append("+").append(pattern).push_back('\0');
  for (const auto& pattern : selection.exclude) text.append("-").append(pattern).push_back('\0');
  return text;
}

[[nodiscard]] inline Selection selection_of(std::string_view text) {
  Selection selection;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    if (item.empty()) continue;
    (item.front() == '+' ? selection.include : selection.exclude).emplace_back(item.substr(1));
  }
  return selection;
}

/// Whether the text of a ring is complete that has this number; while it is changed, or for good
/// if who changed it was killed, the number is odd.
[[nodiscard]] constexpr bool is_complete(std::uint32_t selection) { return selection % 2 == 0; }

/// The text that a ring has now; that of everything if it is not complete, or becomes another one
/// meanwhile: its number is then another, too.
[[nodiscard]] inline std::string selection_text(const Header& ring) {
  const std::uint32_t before = ring.selection.load(std::memory_order_acquire);
  std::string text(std::min<std::size_t>(ring.patterns_size, patterns_limit), '\0');
  for (std::size_t i = 0; i < text.size(); ++i) {  // each before the number is read once more
    text[i] = __atomic_load_n(&ring.patterns[i], __ATOMIC_ACQUIRE);
  }
  const bool is_whole =
      is_complete(before) && ring.selection.load(std::memory_order_relaxed) == before;
  return is_whole ? text : std::string();
}

/// Puts a text of at most patterns_limit bytes into a ring, whose lock its caller has. What the
/// process has written until then it has written by the former one, and meanwhile it writes
/// everything.
inline void put_selection(Header& ring, std::string_view text) {
  const std::uint32_t before = ring.selection;
  if (is_complete(before) && selection_text(ring) == text) return;
  const std::uint32_t meanwhile = before | 1U;
  ring.selection.store(meanwhile, std::memory_order_relaxed);
  for (std::size_t i = 0; i < text.size(); ++i) {  // each after the number
    __atomic_store_n(&ring.patterns[i], text[i], __ATOMIC_RELEASE);
  }
  ring.patterns_size = static_cast<std::uint32_t>(text.size());
  ring.selection.store(meanwhile + 1, std::memory_order_release);
}

}  // namespace takt::capture::ring

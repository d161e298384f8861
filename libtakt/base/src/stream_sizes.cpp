#include "takt/base/stream_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace takt {

namespace {

constexpr std::string_view first_line = "takt/streams 1";
constexpr std::string_view last_line = "end";
// Recordings have thousands of streams at most, and no file is larger.
constexpr std::size_t longest_text = std::size_t{16} << 20;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 50;

/// Takes the first line of a text that ends each line; none: there is no more.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto length = text.find('\n');
  if (length == std::string_view::npos) return std::nullopt;
  const auto line = text.substr(0, length);
  text.remove_prefix(length + 1);
  return line;
}

bool is_within(const std::filesystem::path& file) {
  return file.has_filename() && file.is_relative() && std::ranges::find(file, "..") == file.end();
}

}  // namespace

std::string stream_sizes_text(const StreamSizes& sizes) {
  std::string text = fmt::format("{}\n", first_line);
  for (const auto& [file, bytes] : sizes) {
    if (file.native().find('\n') == std::string::npos) {
      text += fmt::format("{} {}\n", bytes, file.native());
    }
  }
  return text + fmt::format("{}\n", last_line);
}

std::optional<StreamSizes> parse_stream_sizes(std::string_view text) {
  if (text.size() > longest_text || take_line(text) != first_line) return std::nullopt;
  StreamSizes sizes;
  for (auto line = take_line(text); line; line = take_line(text)) {
    if (*line == last_line) return text.empty() ? std::optional(std::move(sizes)) : std::nullopt;
    const auto number = line->substr(0, line->find(' '));
    const std::filesystem::path file(line->substr(std::min(number.size() + 1, line->size())));
    std::uint64_t bytes = 0;
    const auto [rest, failed] = std::from_chars(number.begin(), number.end(), bytes);
    if (failed != std::errc() || rest != number.end() || bytes > largest_file || !is_within(file)) {
      return std::nullopt;
    }
    sizes.emplace(file, bytes);
  }
  return std::nullopt;
}

}  // namespace takt

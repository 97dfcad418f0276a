// SPDX-License-Identifier: Apache-2.0
#include "http/gzip.hpp"

#include <zlib.h>

#include <limits>

namespace gpulse::http {

namespace {

// The fastest level: the others win a few percent of the bytes and take several times as long.
constexpr int kLevel = 1;
constexpr int kGzipFormat = 15 + 16;
constexpr int kMemory = 8;

}  // namespace

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (::deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipFormat, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(::deflateBound(&stream, text.size()), '\0');
  // zlib takes what it only reads as something that could be changed.
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool is_whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(is_whole ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return out;
}

std::string unpack(std::string_view packed) {
  return unpack(packed, std::numeric_limits<std::size_t>::max()).value_or("");
}

std::expected<std::string, Unpacking> unpack(std::string_view packed, std::size_t most_bytes) {
  z_stream stream{};
  if (::inflateInit2(&stream, kGzipFormat) != Z_OK) return std::unexpected(Unpacking::malformed);
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= most_bytes) {
    constexpr std::size_t kPiece = 65536;
    const auto before = out.size();
    out.resize(before + kPiece);
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + before);
    stream.avail_out = kPiece;
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(before + kPiece - stream.avail_out);
    // A file may hold several packed texts, one behind the other.
    if (state == Z_STREAM_END && stream.avail_in > 0) state = ::inflateReset(&stream);
  }
  ::inflateEnd(&stream);
  if (out.size() > most_bytes) return std::unexpected(Unpacking::too_large);
  if (state != Z_STREAM_END) return std::unexpected(Unpacking::malformed);
  return out;
}

GzipCache::TextPtr GzipCache::compress(const TextPtr &text) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto &entry : entries_) {
      if (entry.text.lock() == text) return entry.compressed;
    }
  }
  auto packed = gzip(*text);
  TextPtr result;
  if (!packed.empty() && packed.size() < text->size()) result = std::make_shared<const std::string>(std::move(packed));
  const std::lock_guard lock(mutex_);
  entries_[next_++ % entries_.size()] = {text, result};
  return result;
}

}  // namespace gpulse::http

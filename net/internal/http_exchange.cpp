// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>
#include <troupe/net/internal/http_exchange.hpp>
#include <troupe/net/internal/http_shard.hpp>
#include <troupe/net/proxy.hpp>

namespace troupe::net {

namespace {

// A space or line break in the target would end the request line.
void append_target(std::string& out, std::string_view target) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (char c : target) {
    auto x = static_cast<unsigned char>(c);
    if (x > 0x20 && x < 0x7f)
      out += c;
    else
      out.append({'%', digits[x >> 4], digits[x & 15]});
  }
}

const proxy_server* find_proxy(const http_shard& shard, const http_origin& origin) {
  const auto* rules = shard.options().proxies.get();
  return rules != nullptr ? rules->find(origin) : nullptr;
}

// What a proxy passes on has the whole URL in its first line (RFC 9112, 3.2.2); a tunnel shows it nothing.
std::string make_head(const http_request& request, const proxy_server* proxy) {
  std::size_t length = 0;
  for (const auto& piece : request.body)
    length += piece.view().size();
  const auto& authority = request.origin->authority();
  std::string head;
  head.reserve(64 + request.target.size() + authority.size() +
               (request.header_lines ? request.header_lines->size() : 0));
  const bool passed_on = proxy != nullptr && !request.origin->tls();
  head.append(request.method).append(1, ' ');
  if (passed_on)
    head.append("http://").append(authority);
  append_target(head, request.target);
  head.append(" HTTP/1.1\r\nHost: ").append(authority).append("\r\n");
  if (passed_on && !proxy->authorization.empty())
    head.append("Proxy-Authorization: ").append(proxy->authorization).append("\r\n");
  if (request.compressed)
    head.append("Accept-Encoding: gzip\r\n");
  if (request.header_lines)
    head.append(*request.header_lines);
  if (length > 0 || (request.method != "GET" && request.method != "HEAD"))
    head.append("Content-Length: ").append(std::to_string(length)).append("\r\n");
  return head.append("\r\n");
}

} // namespace

http_exchange::http_exchange(http_request r, std::shared_ptr<http_handler> h, std::shared_ptr<http_shard> s)
    : shard(std::move(s)), proxy(find_proxy(*shard, *r.origin)), request(std::move(r)), handler(std::move(h)),
      head(make_head(request, proxy)), pieces_(request.body.size() + 1) {
  if (request.timeouts.total)
    total_deadline = shard->now() + *request.timeouts.total;
}

std::shared_ptr<http_handler> http_exchange::end() {
  auto expected = phase::active;
  bool wanted = state.compare_exchange_strong(expected, phase::ended, std::memory_order_acq_rel);
  // The handle may live on for long; what it does not need goes now.
  free_memory(request.body);
  auto last = std::move(handler);
  return wanted ? last : nullptr;
}

void http_exchange::fail(http_error_kind kind, std::string message) {
  if (auto last = end())
    last->on_error({kind, std::move(message)});
}

std::size_t http_exchange::next(std::array<std::string_view, 64>& out) const noexcept {
  std::size_t count = 0;
  auto skip = offset_;
  for (auto i = next_piece_; i < pieces_ && count < out.size(); ++i) {
    auto bytes = piece(i).substr(skip);
    skip = 0;
    if (!bytes.empty())
      out[count++] = bytes;
  }
  return count;
}

void http_exchange::advance(std::size_t bytes) noexcept {
  while (next_piece_ < pieces_) {
    auto left = piece(next_piece_).size() - offset_;
    if (bytes < left) {
      offset_ += bytes;
      return;
    }
    bytes -= left;
    offset_ = 0;
    ++next_piece_;
  }
}

} // namespace troupe::net

// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/io_thread.hpp>
#include <troupe/net/server/internal/web_connection.hpp>
#include <troupe/net/server/internal/web_listener.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <utility>

namespace troupe::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// After an error that passes, such as too many open files.
constexpr std::chrono::milliseconds pause_after_error{100};

result<tcp::endpoint> resolve(asio::io_context& context, const listen_address& at) {
  error_code failed;
  const auto address = asio::ip::make_address(at.host, failed);
  if (!failed)
    return tcp::endpoint{address, at.port};
  tcp::resolver resolver{context};
  auto found = resolver.resolve(at.host, std::to_string(at.port), tcp::resolver::passive, failed);
  if (failed || found.empty())
    return error{errc::bad_config, "The name '" + at.host + "' to listen on cannot be resolved."};
  return found.begin()->endpoint();
}

} // namespace

web_listener::web_listener(io_pool& pool, std::shared_ptr<server_core> core)
    : pool_(pool), core_(std::move(core)), acceptor_(pool.thread(0).context()),
      pause_(pool.thread(0).context()) {
  for (std::size_t i = 0; i < pool.size(); ++i)
    gates_.push_back(std::make_shared<io_gate>(pool.thread(i).context()));
}

result<std::uint16_t> web_listener::open(const listen_address& at) {
  auto endpoint = resolve(pool_.thread(0).context(), at);
  if (!endpoint)
    return endpoint.failure();
  error_code failed;
  acceptor_.open(endpoint->protocol(), failed);
  if (!failed)
    acceptor_.set_option(tcp::acceptor::reuse_address{true}, failed);
  if (!failed)
    acceptor_.bind(*endpoint, failed);
  if (!failed)
    acceptor_.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    return error{errc::bad_config, "Cannot listen on " + at.host + ":" + std::to_string(at.port) + ": " +
                                       failed.message() + "."};
  const auto bound = acceptor_.local_endpoint(failed);
  if (failed)
    return error{errc::bad_config, "Cannot listen on " + at.host + ": " + failed.message() + "."};
  address_ = bound.address().to_string();
  gates_.front()->post([self = shared_from_this()] { self->accept(); });
  return bound.port();
}

void web_listener::accept() {
  if (!acceptor_.is_open())
    return;
  const auto thread = turn_++ % pool_.size();
  acceptor_.async_accept(pool_.thread(thread).context(),
                         [self = shared_from_this(),
                          thread](const error_code& failed, asio::basic_stream_socket<tcp, executor> socket) {
                           if (failed == asio::error::operation_aborted || !self->acceptor_.is_open())
                             return;
                           if (failed && failed != asio::error::connection_aborted)
                             return self->pause_.set(pause_after_error, self->weak_from_this(),
                                                     &web_listener::go_on);
                           if (!failed)
                             self->take(std::move(socket), thread);
                           self->accept();
                         });
}

void web_listener::take(asio::basic_stream_socket<tcp, executor> socket, std::size_t thread) {
  auto place = core_->enter();
  if (!place)
    return; // closed at once
  auto connection =
      std::make_shared<web_connection>(std::move(socket), core_, gates_[thread], std::move(place));
  gates_[thread]->post([connection = std::move(connection)] { connection->start(); });
}

void web_listener::close() {
  gates_.front()->post([self = shared_from_this()] {
    error_code ignored;
    self->pause_.clear();
    self->acceptor_.close(ignored);
  });
}

void web_listener::close_gates() {
  for (const auto& gate : gates_)
    gate->close();
}

} // namespace troupe::net

// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/fetch/fetch_url.hpp>
#include <troupe/net/fetch/internal/html_text.hpp>
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include <future>
#include <string>

#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

struct fixture {
  io_pool pool;
  test_server server;
  std::shared_ptr<http_client> client = std::make_shared<http_client>(pool);
  std::shared_ptr<worker_threads> workers = std::make_shared<worker_threads>(1);

  explicit fixture(test_server::script answer_with) : server(std::move(answer_with)) {}

  tool_result fetch(const std::string& url, fetch_options options = {}, std::stop_token stop = {}) {
    auto tool = make_fetch_tool(client, workers, std::move(options));
    REQUIRE(tool);
    auto answered = std::make_shared<std::promise<tool_result>>();
    auto context = std::make_shared<tool_context>();
    context->stop = std::move(stop);
    (*tool)->start(std::make_shared<const nlohmann::json>(nlohmann::json{{"url", url}}), context,
                   [answered](tool_result r) { answered->set_value(std::move(r)); });
    return answered->get_future().get();
  }

  fetch_options local() const { return {.private_hosts = {"127.0.0.1"}}; }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a page comes as text, with what it is") {
  fixture f([](const seen_request& r) {
    return answer(200,
                  "<html><head><title>Hello</title><style>x{}</style></head><body><h1>Big</h1><p>One "
                  "<a href='/two?a=1&amp;b=2'>two</a></p><script>alert(1)</script></body></html>",
                  r.head.find("/plain") == std::string::npos ? "text/html; charset=utf-8" : "text/plain");
  });
  const auto page = f.fetch(f.server.url() + "/page?x=1#part", f.local());
  CHECK_FALSE(page.failed);
  CHECK(has(page.text,
            "URL: " + f.server.url() + "/page?x=1\nStatus: 200\nContent-Type: text/html; charset=utf-8\n"));
  CHECK(has(page.text, "Hello"));
  CHECK(has(page.text, "# Big"));
  CHECK(has(page.text, "One two (/two?a=1&b=2)"));
  CHECK_FALSE(has(page.text, "alert"));
  CHECK(f.server.requests().at(0).head.starts_with("GET /page?x=1 HTTP/1.1"));
  CHECK(has(f.fetch(f.server.url() + "/plain", f.local()).text, "<h1>Big</h1>"));
}

TEST_CASE("addresses that are not public are refused: loopback, metadata, private, by name and by number") {
  fixture f([](const seen_request&) { return answer(200, "secret"); });
  const auto port = std::to_string(f.server.port());
  for (const auto& url : {f.server.url(), f.server.url("localhost"), "http://[::1]:" + port + "/",
                          std::string{"http://169.254.169.254/latest/"}, std::string{"http://10.0.0.1/"},
                          "http://[::ffff:127.0.0.1]:" + port + "/", "http://0.0.0.0:" + port + "/",
                          std::string{"https://192.168.0.1/"}}) {
    INFO(url);
    const auto refused = f.fetch(url);
    CHECK(refused.failed == errc::not_allowed);
    CHECK_FALSE(has(refused.text, "secret"));
  }
  CHECK(f.server.requests().empty());
  // A host that is allowed opens no other port of its own, and no other host.
  CHECK(f.fetch(f.server.url(), {.private_hosts = {"127.0.0.1:1"}}).failed == errc::not_allowed);
  CHECK(has(f.fetch(f.server.url(), {.private_hosts = {"127.0.0.1:" + port}}).text, "secret"));
}

TEST_CASE("redirects are followed, each is judged, and there are not too many") {
  fixture f([](const seen_request& r) {
    if (r.head.starts_with("GET /loop"))
      return answer(302, "", "text/plain", "Location: /loop\r\n");
    if (r.head.starts_with("GET /metadata"))
      return answer(302, "", "text/plain", "Location: http://169.254.169.254/latest/meta-data/\r\n");
    if (r.head.starts_with("GET /file"))
      return answer(302, "", "text/plain", "Location: file:///etc/passwd\r\n");
    if (r.head.starts_with("GET /a/b"))
      return answer(301, "", "text/plain", "Location: ../end?x#y\r\n");
    return answer(200, "the end", "text/plain");
  });
  const auto end = f.fetch(f.server.url() + "/a/b", f.local());
  CHECK(has(end.text, "the end"));
  CHECK(has(end.text, "/end?x\n"));
  CHECK(f.fetch(f.server.url() + "/metadata", f.local()).failed == errc::not_allowed);
  CHECK(f.fetch(f.server.url() + "/file", f.local()).failed == errc::bad_arguments);
  CHECK(f.fetch(f.server.url() + "/loop", f.local()).failed == errc::protocol);
}

TEST_CASE("what is no URL, no text, too large, or an error says so") {
  fixture f([](const seen_request& r) {
    if (r.head.starts_with("GET /large"))
      return answer(200, std::string(10'000, 'x'), "text/plain");
    if (r.head.starts_with("GET /binary"))
      return answer(200, std::string("\0\1\2", 3), "application/octet-stream");
    return answer(404, "not here", "text/plain");
  });
  for (const char* url : {"", "no url", "ftp://example.com/", "file:///etc/passwd", "http://",
                          "http://user:pw@example.com/", "javascript:alert(1)", "//example.com"})
    CHECK(f.fetch(url).failed == errc::bad_arguments);
  CHECK(f.fetch("http://example.com/" + std::string(10'000, 'x')).failed == errc::bad_arguments);
  auto small = f.local();
  small.max_body_bytes = 1000;
  CHECK(f.fetch(f.server.url() + "/large", small).failed == errc::too_large);
  auto cut = f.local();
  cut.max_text_bytes = 100;
  CHECK(f.fetch(f.server.url() + "/large", cut).text.size() < 500);
  CHECK(has(f.fetch(f.server.url() + "/binary", f.local()).text, "3 bytes that are no text"));
  const auto missing = f.fetch(f.server.url() + "/x", f.local());
  CHECK(missing.failed == errc::tool_failed);
  CHECK(has(missing.text, "Status: 404"));
  CHECK(has(missing.text, "not here"));
}

TEST_CASE("a page that does not come is given up, and one that nobody wants any more too") {
  fixture f([](const seen_request&) { return scripted_reply{}; });
  auto soon = f.local();
  soon.timeout = 50ms;
  CHECK(f.fetch(f.server.url(), soon).failed == errc::timeout);
  std::stop_source stop;
  stop.request_stop();
  CHECK(f.fetch(f.server.url(), f.local(), stop.get_token()).failed == errc::cancelled);
}

TEST_CASE("a tool that outlives its client says so") {
  fixture f([](const seen_request&) { return answer(200, "x"); });
  auto tool = make_fetch_tool(f.client, f.workers);
  REQUIRE(tool);
  f.client.reset();
  std::promise<tool_result> answered;
  (*tool)->start(std::make_shared<const nlohmann::json>(nlohmann::json{{"url", "http://example.com/"}}),
                 std::make_shared<tool_context>(), [&](tool_result r) { answered.set_value(std::move(r)); });
  CHECK(answered.get_future().get().failed == errc::shutting_down);
}

TEST_CASE("HTML of all kinds becomes text") {
  auto text = [](std::string_view html) { return html_to_text(html, "utf-8", 100'000); };
  CHECK(text("").empty());
  CHECK(text("just text") == "just text\n");
  CHECK(text("<ul><li>a</li><li>b</li></ul>") == "- a\n- b\n");
  CHECK(text("<pre>a\n  b</pre>") == "a\n  b\n");
  CHECK(text("<p>a<p>b") == "a\n\nb\n");
  CHECK(has(text("<table><tr><td>1</td><td>2</td></tr></table>"), "1 | 2"));
  CHECK(text("<p>&lt;b&gt; &amp; \xC3\xA4</p>") == "<b> & \xC3\xA4\n");
  CHECK(html_to_text("<p>\xE4</p>", "iso-8859-1", 1000) == "\xC3\xA4\n");
  CHECK(text("<img alt='a cat' src=x>") == "[a cat]\n");
  std::string deep;
  for (int i = 0; i < 100'000; ++i)
    deep += "<div>";
  CHECK(has(text(deep + "tail"), "tail"));
  std::string monster = "<p";
  for (int i = 0; i < 100'000; ++i)
    monster += " a" + std::to_string(i) + "=1";
  CHECK(has(text("<p>before</p>" + monster + ">inside</p>after"), "after"));
  CHECK(has(text("<img src='data:image/png;base64," + std::string(100'000, 'A') + "' alt=cat>"), "[cat]"));
  static_cast<void>(text("<<<>>><a <b </c \0"));
  CHECK(html_to_text(std::string(1'000'000, 'x'), "", 1000).size() <= 1010);
}

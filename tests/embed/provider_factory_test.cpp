// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/provider_factory.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include "support/fake_services.hpp"
#include "support/manual_timer.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

error failure_of(model_spec spec) {
  net::io_pool pool;
  auto client = std::make_shared<net::http_client>(pool);
  manual_timer clock;
  auto made = make_provider(spec, client, clock);
  return made ? error{errc::internal, "none"} : made.failure();
}

} // namespace

TEST_CASE("an agent works with every provider") {
  for (const char* provider : {"openai", "openai_responses", "gemini", "anthropic"}) {
    CAPTURE(std::string(provider));
    // Once a result has come, the model answers.
    test_server server([](const seen_request& request) {
      const bool has_result = request.body.find("found it") != std::string::npos;
      return fake_reply(request, has_result
                                     ? fake_answer{"", "done", {}}
                                     : fake_answer{"I look.", "", {{"look", nlohmann::json::object()}}});
    });
    runtime rt{
        {.models = {{.id = "m", .provider = provider, .model = "fake", .base_url = server.url() + "/v1"}}}};
    auto root = rt.create_deep_agent({.name = "root", .model = "m", .tools = {tool("look", "Looks.", [] {
                                                                      return std::string("found it");
                                                                    })}});
    auto run = root.run("go");
    CHECK(run.outcome().text() == "done");
    CHECK(server.requests().size() == 2);
  }
}

TEST_CASE("options of a declaration reach its provider") {
  test_server server([](const seen_request& request) { return fake_reply(request, {"", "done", {}}); });
  runtime rt{{.models = {{.id = "m",
                          .provider = "anthropic",
                          .base_url = server.url(),
                          .options = {{"beta", "some-beta"},
                                      {"cache", "none"},
                                      {"default_max_tokens", "77"},
                                      {"extra_body", R"({"top_k": 3})"}}}}}};
  auto root = rt.create_deep_agent({.name = "root", .model = "m"});
  CHECK(root.run("go").outcome().text() == "done");
  const auto seen = server.requests().at(0);
  CHECK(seen.head.find("\r\nanthropic-beta: some-beta\r\n") != std::string::npos);
  const auto body = nlohmann::json::parse(seen.body);
  CHECK(body["max_tokens"] == 77);
  CHECK(body["top_k"] == 3);
  CHECK_FALSE(body.contains("cache_control"));
}

TEST_CASE("options that cannot be are refused with what would be right") {
  struct row {
    const char* provider;
    const char* option;
    const char* value;
    const char* says;
  };
  for (auto [provider, option, value, says] :
       {row{"openai", "cache", "none",
            "there is no option 'cache' for provider 'openai'. Options: extra_body, "},
        row{"openai", "stream_usage", "maybe", "option 'stream_usage' is 'maybe'; expected true or false."},
        row{"anthropic", "cache", "all", "expected none or prefix or conversation."},
        row{"anthropic", "default_max_tokens", "-1", "expected a whole number."},
        row{"gemini", "extra_body", "[1]", "expected a JSON object."},
        row{"openai_responses", "encrypted", "", "expected by_model or never or always."}}) {
    CAPTURE(std::string(option));
    const auto failed = failure_of({.id = "m", .provider = provider, .options = {{option, value}}});
    CHECK(failed.code == errc::bad_config);
    CHECK(failed.message.starts_with("Model 'm': "));
    CHECK(failed.message.find(says) != std::string::npos);
  }
  CHECK(failure_of({.id = "m", .provider = "none"}).message ==
        "Model 'm': there is no provider 'none'. Providers: openai, openai_responses, gemini, anthropic, "
        "scenario.");
}

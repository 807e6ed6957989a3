// What a runtime's models share on the wire: proxies of the environment, headers and timeouts, recordings.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/model_client.hpp>
#include <troupe/embed/internal/proxy_environment.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <map>

#include "support/fake_services.hpp"
#include "support/manual_timer.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

net::proxy_settings settings_of(const std::map<std::string, std::string>& environment) {
  return read_proxy_settings([&](const char* name) {
    auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

} // namespace

TEST_CASE("proxies come from the variables that curl reads") {
  auto all =
      settings_of({{"https_proxy", "a"}, {"HTTPS_PROXY", "b"}, {"http_proxy", "c"}, {"no_proxy", "d"}});
  CHECK(all.https == "a");
  CHECK(all.http == "c");
  CHECK(all.no_proxy == "d");
  auto upper =
      settings_of({{"HTTPS_PROXY", "b"}, {"HTTP_PROXY", "evil"}, {"NO_PROXY", "d"}, {"https_proxy", ""}});
  CHECK(upper.https == "b");
  CHECK(upper.http.empty());
  CHECK(upper.no_proxy == "d");
  auto rest = settings_of({{"ALL_PROXY", "e"}, {"http_proxy", "c"}});
  CHECK(rest.https == "e");
  CHECK(rest.http == "c");
  CHECK(settings_of({}).https.empty());
}

TEST_CASE("a proxy that cannot be used stops models of services, and no others") {
  net::io_pool pool;
  manual_timer clock;
  auto client = *make_model_client(pool, {.proxy_from_environment = false});
  provider_conditions conditions;
  conditions.proxy_fault = error{errc::bad_config, "The proxy is no URL."};
  CHECK(make_provider({.id = "s", .provider = "scenario"}, client.http, clock, conditions));
  auto made = make_provider({.id = "m", .provider = "openai"}, client.http, clock, conditions);
  REQUIRE_FALSE(made);
  CHECK(made.failure().message == "Model 'm': The proxy is no URL.");
}

TEST_CASE("headers and timeouts of a declaration reach the wire") {
  test_server server([](const seen_request& request) {
    return request.body.find("be quiet") == std::string::npos ? fake_reply(request, {"", "done", {}})
                                                              : scripted_reply{};
  });
  runtime rt{
      {.models = {
           {.id = "m", .provider = "openai", .base_url = server.url(), .headers = {{"X-Team", "blue"}}},
           {.id = "hasty",
            .provider = "openai",
            .base_url = server.url(),
            .max_retries = 0,
            .timeouts = {.first_byte = 50ms}}}}};
  auto root = rt.create_deep_agent({.name = "root", .model = "m"});
  CHECK(root.run("go").outcome().text() == "done");
  CHECK(server.requests().at(0).head.find("\r\nX-Team: blue\r\n") != std::string::npos);
  auto hasty = rt.create_deep_agent({.name = "hasty", .model = "hasty"});
  CHECK(hasty.run("be quiet").outcome().code() == errc::stalled);
  const auto declare = [](model_spec spec) { runtime refused{{.models = {std::move(spec)}}}; };
  CHECK_THROWS_AS(declare({.id = "m", .provider = "openai", .ca_file = "/no/such/file"}), config_error);
  CHECK_THROWS_AS(declare({.id = "m", .provider = "openai", .headers = {{"X", "a\r\nb"}}}), config_error);
}

TEST_CASE("a runtime records, and another plays the recording without service and key") {
  temporary_folder folder;
  const auto tape = folder.path() / "tape";
  model_spec spec{.id = "m", .provider = "anthropic", .api_key_file = (folder.path() / "key").string()};
  {
    test_server server([](const seen_request& request) { return fake_reply(request, {"", "done", {}}); });
    folder.write("key", "sk-hidden-value");
    spec.base_url = server.url();
    runtime rt{{.models = {spec}, .record = tape}};
    CHECK(rt.create_deep_agent({.name = "root", .model = "m"}).run("go").outcome().text() == "done");
  }
  spec.api_key_file = (folder.path() / "gone").string();
  runtime rt{{.models = {spec}, .replay = tape}};
  auto root = rt.create_deep_agent({.name = "root", .model = "m"});
  CHECK(root.run("go").outcome().text() == "done");
  auto twice = root.run("go");
  CHECK(twice.outcome().code() == errc::not_found);
  CHECK_THROWS_AS((runtime{{.record = tape, .replay = tape}}), config_error);
  CHECK_THROWS_AS((runtime{{.replay = folder.path() / "none"}}), config_error);
}

TEST_CASE("models are checked in their order, and folders that cannot be used are told") {
  test_server server([](const seen_request& request) { return fake_reply(request, {"", "ok", {}}); });
  auto checked = check_models({{.id = "a", .provider = "nobody"},
                               {.id = "b", .provider = "openai", .model = "x", .base_url = server.url()},
                               {.id = "c", .provider = "scenario"}});
  REQUIRE(checked);
  REQUIRE(checked->size() == 3);
  CHECK((*checked)[0].failure->code == errc::bad_config);
  CHECK_FALSE((*checked)[1].failure);
  CHECK((*checked)[1].model == "x");
  CHECK_FALSE((*checked)[2].failure);
  CHECK(check_models({})->empty());
  CHECK_FALSE(check_models({}, {.replay = "/no/such/folder"}));
}

// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/browser_agent.hpp>

#include <doctest/doctest.h>

#include "support/profiles.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;

namespace {

domain_rules rules(std::vector<std::string> entries) {
  auto compiled = domain_rules::compile(entries);
  REQUIRE_MESSAGE(compiled.has_value(), (compiled ? "" : compiled.failure().message));
  return *compiled;
}

// A browser whose tools give what the test says.
struct pretended {
  std::string page = "### Page\n- Page URL: http://good.example/\n- Page Title: x\n";
  int calls = 0;
  int alive = 0;

  class source final : public tool_source {
   public:
    explicit source(pretended& p) : p_(p) { ++p_.alive; }
    ~source() override { --p_.alive; }
    [[nodiscard]] const std::string& name() const noexcept override { return name_; }
    [[nodiscard]] std::uint64_t version() const noexcept override { return 1; }
    void open(std::function<void(result<std::vector<tool_ptr>>)> done) override {
      std::vector<tool_ptr> tools;
      for (const auto* name : {"browser_navigate", "browser_click", "browser_snapshot", "browser_type",
                               "browser_evaluate", "browser_file_upload"}) {
        auto t = std::make_shared<tool_definition>(*make_tool(std::string{"mcp_browser_"} + name));
        t->run = nullptr;
        t->annotations = {};
        t->annotations.read_only = name == std::string{"browser_snapshot"};
        t->start = [this](auto, auto, auto answered) {
          ++p_.calls;
          answered(tool_result{p_.page});
        };
        tools.push_back(std::move(t));
      }
      done(std::move(tools));
    }

   private:
    pretended& p_;
    std::string name_ = "browser";
  };
};

struct instance {
  std::shared_ptr<tool_source> source;
  std::vector<tool_ptr> tools;
  std::optional<error> refused;

  explicit instance(const std::function<std::shared_ptr<tool_source>()>& make) : source(make()) {
    source->open([this](result<std::vector<tool_ptr>> given) {
      if (given)
        tools = std::move(*given);
      else
        refused = given.failure();
    });
  }

  tool_result call(const std::string& name, json arguments = json::object(),
                   std::optional<tool_answer> answer = {}) {
    tool_result out;
    for (const auto& tool : tools) {
      if (tool->name != "mcp_browser_" + name)
        continue;
      auto context = std::make_shared<tool_context>();
      context->answer = std::move(answer);
      tool->start(std::make_shared<const json>(std::move(arguments)), context,
                  [&out](tool_result r) { out = std::move(r); });
    }
    return out;
  }
};

std::function<std::shared_ptr<tool_source>()> browser(pretended& p, const browser_options& options) {
  auto made = guarded_browser(options, [&p] { return std::make_shared<pretended::source>(p); });
  REQUIRE(made);
  return *made;
}

} // namespace

TEST_CASE("domains are allowed by name, with what is below a star, and nothing else") {
  const auto r = rules({"example.com", "*.docs.test", "localhost", "127.0.0.1"});
  for (const char* url :
       {"http://example.com", "https://EXAMPLE.com/a?b=c#d", "http://example.com.:8080/", "http://docs.test/",
        "http://a.b.docs.test/x", "http://localhost:3000/", "http://127.0.0.1/", "about:blank",
        "http://example.com/?next=https%3A%2F%2Fexample.com%2Fx"}) {
    INFO(url);
    CHECK(r.allows(url));
  }
  for (const char* url : {"http://evil.com/",
                          "http://www.example.com/",
                          "http://example.com.evil.com/",
                          "http://xexample.com/",
                          "http://evil-docs.test/",
                          "http://xdocs.test/",
                          "https://example.com@evil.com/",
                          "http://user:pw@example.com/",
                          "http:\\\\example.com",
                          "http://example.com\\@evil.com",
                          "file:///etc/passwd",
                          "javascript:alert(1)",
                          "data:text/html,x",
                          "chrome://settings",
                          "ftp://example.com/",
                          "example.com",
                          "",
                          "http://",
                          "http:///x",
                          "http://ex ample.com",
                          "http://example.com/?u=http://evil.com",
                          "http://example.com/?u=https%3a%2f%2fevil.com",
                          "http://example.com/?u=https%253A%252F%252Fevil.com",
                          "http://example.com/#u=http://evil.com",
                          "http://example.com/?u=HTTP://EVIL.com",
                          "http://\xD0\xB5xample.com/",
                          "http://%65xample.com/"}) {
    INFO(url);
    CHECK_FALSE(r.allows(url));
  }
}

TEST_CASE("without rules every address on the network is allowed, and no other") {
  const auto r = rules({});
  CHECK(r.allows("https://anywhere.test/"));
  CHECK_FALSE(r.allows("file:///etc/passwd"));
  CHECK_FALSE(r.may_show("file:///etc/passwd"));
  CHECK(r.may_show("data:text/html,x"));
}

TEST_CASE("what is no domain is refused when the agent is declared") {
  for (const char* entry :
       {"", "*", "http://example.com", "example.com/path", "*.*.com", "exa mple.com", "a.com:80"}) {
    INFO(entry);
    CHECK_FALSE(domain_rules::compile({entry}));
  }
}

TEST_CASE("a navigation elsewhere is not made, and ends the agent; so does a page that has led elsewhere") {
  pretended p;
  instance b{browser(p, {.allowed_domains = {"good.example"}})};
  CHECK_FALSE(b.call("browser_navigate", {{"url", "http://good.example/"}}).failed);
  CHECK(p.calls == 1);
  for (const json& url : {json{"http://evil.example/"}, json{"nonsense"}, json{5}, json{nullptr}}) {
    const auto refused = b.call("browser_navigate", {{"url", url}});
    CHECK(refused.failed == errc::not_allowed);
    CHECK(refused.ends_agent);
  }
  CHECK(p.calls == 1);
  p.page = "### Page\n- Page URL: http://evil.example/steal\n### Snapshot\nsecret text\n";
  const auto redirected = b.call("browser_click");
  CHECK(redirected.failed == errc::not_allowed);
  CHECK(redirected.ends_agent);
  CHECK(redirected.text.find("secret text") == std::string::npos);
  p.page = "## Pages\n1: http://evil.example/ [selected]\n2: http://good.example/\n";
  CHECK(b.call("browser_click").ends_agent);
  p.page = "- Page URL: chrome-error://chromewebdata/\n";
  CHECK_FALSE(b.call("browser_click").failed);
}

TEST_CASE("actions are counted for each task, and at the limit the agent is ended") {
  pretended p;
  const auto make = browser(p, {.max_actions = 3});
  instance first{make};
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(first.call("browser_click").failed);
  const auto over = first.call("browser_click");
  CHECK(over.failed == errc::max_turns);
  CHECK(over.ends_agent);
  instance second{make};
  CHECK_FALSE(second.call("browser_click").failed);
}

TEST_CASE("what is sensitive asks, once, and does nothing without a yes") {
  pretended p;
  instance b{browser(p, {.confirm_input = true})};
  for (const auto* name : {"browser_evaluate", "browser_file_upload", "browser_type"}) {
    p.calls = 0;
    CHECK(b.call(name).question.has_value());
    CHECK(b.call(name, {}, tool_answer{false}).failed == errc::denied);
    CHECK(b.call(name, {}, tool_answer{}).failed == errc::denied);
    CHECK(b.call(name, {}, tool_answer{"true"}).failed == errc::denied);
    CHECK(p.calls == 0);
    CHECK_FALSE(b.call(name, {}, tool_answer{true}).failed);
    CHECK(p.calls == 1);
  }
  CHECK_FALSE(b.call("browser_click").question);
  instance closed{browser(p, {.block_uploads = true})};
  CHECK(closed.call("browser_file_upload").failed == errc::denied);
}

TEST_CASE("a shared browser serves one agent at a time, isolated ones as many as are allowed") {
  pretended p;
  const auto shared = browser(p, {.session = browser_session::persistent});
  {
    instance first{shared};
    CHECK_FALSE(first.refused);
    instance second{shared};
    REQUIRE(second.refused);
    CHECK(second.refused->code == errc::busy);
  }
  instance third{shared};
  CHECK_FALSE(third.refused);
  const auto isolated = browser(p, {.max_instances = 2});
  instance a{isolated};
  instance b{isolated};
  instance c{isolated};
  CHECK_FALSE(b.refused);
  CHECK(c.refused);
}

TEST_CASE("the server gets the flags of its session") {
  auto has = [](const browser_options& o, const std::string& flag) {
    const auto args = browser_server(o, true).args;
    return std::find(args.begin(), args.end(), flag) != args.end();
  };
  CHECK(has({}, "--headless"));
  CHECK(has({}, "--isolated"));
  CHECK(has({}, "--no-sandbox"));
  CHECK_FALSE(has({.headless = false}, "--headless"));
  CHECK(has({.session = browser_session::persistent, .profile = "/p"}, "/p"));
  CHECK(has({.session = browser_session::existing, .endpoint = "http://127.0.0.1:9222"}, "--cdp-endpoint"));
  CHECK_FALSE(guarded_browser({.session = browser_session::existing}, nullptr));
}

TEST_CASE("tools that change the page run alone") {
  pretended p;
  instance b{browser(p, {})};
  for (const auto& tool : b.tools)
    CHECK(tool->annotations.exclusive == (tool->name != "mcp_browser_browser_snapshot"));
}

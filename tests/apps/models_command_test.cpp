// `troupe models`, and runs that are recorded and replayed.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <memory>

#include "support/fake_services.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"

using namespace troupe::test;

namespace {

program_result troupe_in(const temporary_folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TROUPE_PROGRAM);
  return run_program(folder.path(), std::move(arguments));
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

// The line of `text` that begins with `id`.
std::string line_of(const std::string& text, const std::string& id) {
  auto begin = text.starts_with(id + " ") ? 0 : text.find("\n" + id + " ");
  if (begin == std::string::npos)
    return {};
  begin += begin > 0 ? 1 : 0;
  return text.substr(begin, text.find('\n', begin) - begin);
}

} // namespace

TEST_CASE("models check asks each model once and says what came of it") {
  test_server good{[](const seen_request& request) { return fake_reply(request, {"", "ok", {}}); }};
  test_server refusing{
      [](const seen_request&) { return answer(401, R"({"error":{"message":"No such key."}})"); }};
  test_server silent{[](const seen_request&) { return scripted_reply{}; }};
  std::string gone;
  {
    test_server server{[](const seen_request&) { return scripted_reply{}; }};
    gone = server.url();
  }
  temporary_folder f;
  f.write("troupe.yaml", "name: a\nmodels:\n"
                         "  fine: {provider: openai, model: gpt-x, description: quick, base_url: \"" +
                             good.url() +
                             "/v1\"}\n"
                             "  kept: {provider: gemini, model: gem-x, base_url: \"" +
                             good.url() +
                             "\"}\n"
                             "  barred: {provider: anthropic, base_url: \"" +
                             refusing.url() +
                             "\"}\n"
                             "  gone: {provider: openai, base_url: \"" +
                             gone +
                             "\"}\n"
                             "  quiet: {provider: openai, base_url: \"" +
                             silent.url() +
                             "\"}\n"
                             "  keyless: {provider: openai, api_key_env: TROUPE_NO_SUCH_KEY}\n");
  auto list = troupe_in(f, {"models", "list"});
  CHECK(list.code == 0);
  CHECK(has(line_of(list.out, "fine"), "gpt-x"));
  CHECK(has(line_of(list.out, "fine"), "quick"));
  CHECK(has(line_of(list.out, "keyless"), "openai"));
  CHECK(has(line_of(list.out, "scenario"), "embedded"));

  auto quiet = troupe_in(f, {"models", "check", "quiet", "--timeout", "100ms"});
  CHECK(quiet.code == 1);
  CHECK(has(line_of(quiet.out, "quiet"), "timeout: "));
  auto all = troupe_in(
      f, {"models", "check", "fine", "kept", "barred", "gone", "keyless", "scenario", "--parallel", "2"});
  CHECK(all.code == 1);
  CHECK(has(line_of(all.out, "fine"), "openai"));
  CHECK(has(line_of(all.out, "fine"), "ok, "));
  CHECK(has(line_of(all.out, "kept"), "ok, "));
  CHECK(has(line_of(all.out, "barred"), "model_auth: "));
  CHECK(has(line_of(all.out, "barred"), "No such key."));
  CHECK(has(line_of(all.out, "gone"), "connection_failed: "));
  CHECK(has(line_of(all.out, "keyless"), "TROUPE_NO_SUCH_KEY"));
  CHECK(has(line_of(all.out, "scenario"), "ok"));
  CHECK(refusing.requests().size() == 1);

  auto some = troupe_in(f, {"models", "check", "kept", "fine"});
  CHECK(some.code == 0);
  CHECK(some.out.starts_with("kept "));
  CHECK(line_of(some.out, "barred").empty());
  auto unknown = troupe_in(f, {"models", "check", "fien"});
  CHECK(unknown.code == 2);
  CHECK(has(unknown.err, "fine"));
  CHECK(troupe_in(f, {"models", "check", "--timeout", "soon"}).code == 2);
}

TEST_CASE("a run that was recorded is replayed without its service and without its key") {
  temporary_folder f;
  const std::string said = "an answer for that key.";
  {
    test_server server{[&](const seen_request& request) {
      return request.body.find("\"role\":\"tool\"") == std::string::npos
                 ? fake_reply(request, {"", "", {{"todo", {{"action", "list"}}}}})
                 : fake_reply(request, {"", said, {}});
    }};
    f.write("troupe.yaml",
            "name: a\nmodels: {m: {provider: openai, model: gpt-x, api_key_file: key, base_url: \"" +
                server.url() + "/v1\"}}\ntools: [todo]\n");
    f.write("key", "sk-hidden-value\n");
    auto recorded = troupe_in(f, {"run", "--record", "tape", "tell me about sk-hidden-value"});
    CHECK(recorded.code == 0);
    CHECK(recorded.out == said + "\n");
    CHECK(server.requests().size() == 2);
  }
  std::filesystem::remove(f.path() / "key");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(f.path() / "tape")) {
    ++files;
    CHECK_FALSE(has(f.read("tape/" + entry.path().filename().string()), "sk-hidden-value"));
  }
  CHECK(files == 2);
  CHECK(troupe_in(f, {"run", "hi"}).code == 2);
  auto again = troupe_in(f, {"run", "--replay", "tape", "tell me about [key]"});
  CHECK(again.code == 0);
  CHECK(again.out == said + "\n");
  auto other = troupe_in(f, {"run", "--replay", "tape", "tell me more"});
  CHECK(other.code == 1);
  CHECK(has(other.err, "000001.json"));
  CHECK(troupe_in(f, {"run", "--replay", "none", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--replay", "tape", "--record", "tape", "x"}).code == 2);
  f.write("empty/file", "");
  CHECK(troupe_in(f, {"run", "--replay", "empty", "x"}).code == 2);
}

// Recording what goes over the wire, and answering from a recording.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/http_tape.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/providers/anthropic.hpp>
#include <troupe/net/providers/gemini.hpp>
#include <troupe/net/providers/openai.hpp>
#include <troupe/net/providers/openai_responses.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>

#include "net/conversation.hpp"
#include "net/recorded.hpp"
#include "support/fake_services.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

http_client_options with_tape(result<std::shared_ptr<http_tape>> tape) {
  REQUIRE(tape);
  http_client_options options;
  options.tape = *tape;
  return options;
}

http_record ask(http_client& client, const std::string& url, std::string body,
                std::shared_ptr<const std::string> headers = nullptr, std::string target = "/v1/x") {
  http_request request;
  request.origin = *http_origin::parse(url);
  request.target = std::move(target);
  request.header_lines = std::move(headers);
  request.body = {body_piece(std::make_shared<const std::string>(std::move(body)))};
  auto handler = std::make_shared<recording_handler>();
  auto call = client.start(std::move(request), handler);
  return handler->wait();
}

model_record ask_model(model_provider& provider, std::string text, bool stream) {
  auto request = request_with(look_head(), {make_text(role::user, std::move(text))});
  request.stream = stream;
  auto sink = std::make_shared<recording_sink>();
  auto call = provider.start(std::make_shared<const model_request>(request), sink);
  return sink->wait();
}

using maker = std::function<std::shared_ptr<model_provider>(const std::string& url, const std::string& key,
                                                            std::shared_ptr<http_client>)>;

template <class Options, class Make>
maker maker_of(Make make) {
  return [make](const std::string& url, const std::string& key, std::shared_ptr<http_client> client) {
    Options options;
    options.base_url = url;
    options.api_key = key;
    return *make(std::move(options), std::move(client));
  };
}

const std::vector<maker>& makers() {
  static const std::vector<maker> all{maker_of<openai_options>(make_openai_provider),
                                      maker_of<openai_responses_options>(make_openai_responses_provider),
                                      maker_of<gemini_options>(make_gemini_provider),
                                      maker_of<anthropic_options>(make_anthropic_provider)};
  return all;
}

} // namespace

TEST_CASE("what every provider was told is told again without its service and without a key") {
  temporary_folder folder;
  const fake_answer said{"I think.", "sk-very-secret, they say, is your own key.", {{"look", {{"x", 1}}}}};
  std::string url;
  std::vector<model_record> first;
  {
    test_server server([&](const seen_request& request) { return fake_reply(request, said); });
    url = server.url() + "/v1";
    io_pool pool;
    auto client = std::make_shared<http_client>(pool, with_tape(make_http_recorder(folder.path() / "tape")));
    for (const auto& make : makers())
      for (bool stream : {false, true})
        first.push_back(ask_model(*make(url, "sk-very-secret", client), "I say sk-very-secret.", stream));
    // Its end brings the last file.
    client.reset();
  }
  const auto files = files_of(folder.path() / "tape");
  REQUIRE(files.size() == 2 * makers().size());
  CHECK(files[0].filename() == "000001.json");
  for (const auto& file : files) {
    CAPTURE(file.string());
    CHECK(text_of(file).find("sk-very-secret") == std::string::npos);
    CHECK(text_of(file).find("[key]") != std::string::npos);
    CHECK((fs::status(file).permissions() & fs::perms::all) ==
          (fs::perms::owner_read | fs::perms::owner_write));
  }
  io_pool pool;
  auto client = std::make_shared<http_client>(pool, with_tape(make_http_player(folder.path() / "tape")));
  std::size_t i = 0;
  for (const auto& make : makers())
    for (bool stream : {false, true}) {
      CAPTURE(i);
      const auto again = ask_model(*make(url, "", client), "I say [key].", stream);
      REQUIRE(first[i].response);
      REQUIRE(again.response);
      CHECK(again.response->finish == first[i].response->finish);
      CHECK(again.response->usage == first[i].response->usage);
      CHECK(again.response->parts.size() == first[i].response->parts.size());
      CHECK(again.text == (stream ? "[key], they say, is your own key." : ""));
      ++i;
    }
}

TEST_CASE("a file holds method, path, request, status, type and body, and no other header") {
  temporary_folder folder;
  test_server server([](const seen_request& r) {
    return r.body.size() > 20 ? answer(429, std::string("\xff\x00", 2), "a/b", "Set-Cookie: crumb\r\n")
                              : answer(200, "{\"a\": \"quoted\\\"key\"}");
  });
  io_pool pool;
  {
    http_client client(pool, with_tape(make_http_recorder(folder.path())));
    const auto headers = *make_header_lines({{"Authorization", "Bearer quoted\"key"}, {"X-Team", "blue"}});
    CHECK(ask(client, server.url(), "{\"b\":1,\"a\":2}", headers, "/v1/x?alt=sse&key=abcdef&api_key=ghijkl")
              .status == 200);
    CHECK(ask(client, server.url(), "no json, but abcdef and more").status == 429);
  }
  const auto one = nlohmann::json::parse(text_of(folder.path() / "000001.json"));
  CHECK(one == nlohmann::json{{"version", 1},
                              {"method", "POST"},
                              {"path", "/v1/x?alt=sse"},
                              {"request", {{"a", 2}, {"b", 1}}},
                              {"status", 200},
                              {"content_type", "application/json"},
                              {"body", "{\"a\": \"[key]\"}"},
                              {"complete", true}});
  const auto two = nlohmann::json::parse(text_of(folder.path() / "000002.json"));
  CHECK(two["request"] == "no json, but [key] and more");
  CHECK(two["body_base64"] == "/wA=");
  CHECK_FALSE(two.contains("body"));
  // A recorder goes on after what is there.
  {
    http_client client(pool, with_tape(make_http_recorder(folder.path())));
    CHECK(ask(client, server.url(), "{}").status == 200);
  }
  CHECK(fs::exists(folder.path() / "000003.json"));
  http_client player(pool, with_tape(make_http_player(folder.path())));
  auto played = ask(player, "http://nowhere.invalid", "no json, but [key] and more");
  CHECK(played.status == 429);
  CHECK(played.type == "a/b");
  CHECK(played.body == std::string("\xff\x00", 2));
  CHECK(
      ask(player, "http://nowhere.invalid", "{\"a\":2,\"b\":1}", nullptr, "/v1/x?alt=sse&key=other").status ==
      200);
}

TEST_CASE("equal requests get their answers in turn, and one that fits nothing is told the nearest") {
  temporary_folder folder;
  test_server server(
      [n = 0](const seen_request&) mutable { return answer(200, "answer " + std::to_string(++n)); });
  io_pool pool;
  {
    http_client client(pool, with_tape(make_http_recorder(folder.path())));
    for (auto body : {R"({"m":[{"c":"what is one"}],"n":1})", R"({"m":[{"c":"what is one"}],"n":1})",
                      R"({"m":[{"c":"another"}],"n":2,"o":3})"})
      CHECK(ask(client, server.url(), body).status == 200);
  }
  http_client client(pool, with_tape(make_http_player(folder.path())));
  const std::string nowhere = "http://nowhere.invalid";
  CHECK(ask(client, nowhere, R"({"n":1, "m":[{"c":"what is one"}]})").body == "answer 1");
  CHECK(ask(client, nowhere, R"({"m":[{"c":"what is one"}],"n":1})").body == "answer 2");
  struct row {
    const char* body;
    const char* target;
    const char* says;
  };
  for (
      auto [body, target, says] :
      {row{R"({"m":[{"c":"what is one"}],"n":1})", "/v1/x", "2 answers to this request, and all of them"},
       row{R"({"m":[{"c":"what is two"}],"n":1})", "/v1/x",
           R"(The nearest is 000001.json; the first difference: /m/0/c is "what is two" instead of "what is one".)"},
       row{R"({"m":[{"c":"another"}],"n":2})", "/v1/x",
           "The nearest is 000003.json; the first difference: /o is missing."},
       row{R"({"m":[]})", "/v1/y", "No request to this path was recorded."}}) {
    auto record = ask(client, nowhere, body, nullptr, target);
    REQUIRE(record.error);
    CHECK(record.error->kind == http_error_kind::not_recorded);
    CAPTURE(record.error->message);
    CHECK(record.error->message.find(says) != std::string::npos);
  }
}

TEST_CASE("an answer that was let go of is kept as far as it came") {
  temporary_folder folder;
  io_pool pool;
  {
    test_server server([](const seen_request&) { return scripted_reply{open_head("text/plain") + "some"}; });
    http_client client(pool, with_tape(make_http_recorder(folder.path())));
    http_request request;
    request.origin = *http_origin::parse(server.url());
    auto handler = std::make_shared<recording_handler>();
    auto call = client.start(std::move(request), handler);
    CHECK(handler->record.wait([](const auto& r) { return r.body == "some"; }).status == 200);
  }
  http_client client(pool, with_tape(make_http_player(folder.path())));
  auto record = ask(client, "http://nowhere.invalid", "", nullptr, "/");
  CHECK(record.body == "some");
  REQUIRE(record.error);
  CHECK(record.error->kind == http_error_kind::dropped);
}

TEST_CASE("a call that is cancelled before its recorded answer hears nothing") {
  temporary_folder folder;
  io_pool pool;
  {
    test_server server([](const seen_request&) { return answer(200, "x"); });
    http_client client(pool, with_tape(make_http_recorder(folder.path())));
    CHECK(ask(client, server.url(), "").status == 200);
  }
  http_client client(pool, with_tape(make_http_player(folder.path())));
  std::promise<void> go;
  std::promise<void> gone;
  auto hold = pool.after(std::chrono::milliseconds(0), [&] { go.get_future().wait(); });
  auto handler = std::make_shared<recording_handler>();
  http_request request;
  request.origin = *http_origin::parse("http://nowhere.invalid");
  request.target = "/v1/x";
  { auto call = client.start(std::move(request), handler); }
  go.set_value();
  auto after = pool.after(std::chrono::milliseconds(0), [&] { gone.set_value(); });
  gone.get_future().wait();
  CHECK(handler->record.wait([](const auto&) { return true; }).heads == 0);
}

TEST_CASE("folders that cannot be used are refused with the reason") {
  temporary_folder folder;
  auto says = [](const result<std::shared_ptr<http_tape>>& made) {
    return made ? "" : made.failure().message;
  };
  CHECK(says(make_http_player(folder.path())).find("000001.json") != std::string::npos);
  CHECK(says(make_http_player(folder.path() / "none")).find("cannot be played") != std::string::npos);
  folder.write("file", "x");
  CHECK(says(make_http_recorder(folder.path() / "file")).find("cannot be written") != std::string::npos);
  folder.write("000002.json", "{\"version\": 1, \"method\": \"POST\"}");
  CHECK(says(make_http_player(folder.path())).find("000002.json: \"path\" is missing") != std::string::npos);
  folder.write("000002.json", "{\"version\": 7}");
  CHECK(says(make_http_player(folder.path())).find("recording of version 1") != std::string::npos);
  folder.write("000002.json", "{");
  CHECK(says(make_http_player(folder.path())).find("000002.json") != std::string::npos);
  CHECK(says(make_http_player(folder.path(), {.max_bytes = 0})).find("more than 0 bytes") !=
        std::string::npos);
}

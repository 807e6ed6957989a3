// What real services have answered, read by us and by the services' own clients.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include <charconv>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "interop/node.hpp"
#include "interop/recorded_answer.hpp"
#include "interop/recording.hpp"
#include "interop/services.hpp"
#include "net/conversation.hpp"
#include "net/decoded.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

constexpr std::size_t small_body = 4096;
constexpr int cuts_of_large_bodies = 50;

// Answers what is asked under /<number>/ with that recording's body.
scripted_reply replay(const std::vector<recording>& all, const seen_request& request) {
  auto path = std::string_view(request.head).substr(request.head.find('/') + 1);
  std::size_t number = 0;
  std::from_chars(path.data(), path.data() + path.size(), number);
  if (number >= all.size())
    return answer(404, "{}");
  const auto& r = all[number];
  return answer(r.status, r.body, r.content_type);
}

std::string url_of(const test_server& server, std::size_t number) {
  return server.url() + "/" + std::to_string(number);
}

// What the services' clients make of each, by the recording's id.
std::map<std::string, nlohmann::json> ask_clients(const std::filesystem::path& folder,
                                                  const test_server& server,
                                                  const std::vector<recording>& all) {
  std::ofstream manifest(folder / "manifest");
  for (std::size_t i = 0; i < all.size(); ++i)
    manifest << nlohmann::json{{"id", all[i].id},
                               {"api", all[i].api},
                               {"url", url_of(server, i)},
                               {"stream", all[i].is_stream()}}
             << '\n';
  manifest.close();
  const auto ran = run_script(folder, "oracle.cjs", {(folder / "manifest").string()});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  std::map<std::string, nlohmann::json> out;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    auto j = nlohmann::json::parse(line);
    auto id = j.at("id").get<std::string>();
    out.emplace(std::move(id), std::move(j));
  }
  return out;
}

model_record ask_ours(const test_server& server, const std::shared_ptr<net::http_client>& client,
                      const recording& r, std::size_t number) {
  auto request = request_with({}, {make_text(role::user, "x")});
  request.stream = r.is_stream();
  auto provider = make_provider(r.api, url_of(server, number), client);
  auto sink = std::make_shared<recording_sink>();
  auto call = provider->start(std::make_shared<const model_request>(std::move(request)), sink);
  return sink->wait();
}

model_record decode_pieces(const recording& r, const std::vector<std::string_view>& pieces) {
  return decode(make_decoder(r.api, r.is_stream()), pieces, r.content_type, r.is_stream(), r.status);
}

std::vector<std::size_t> cuts_of(const recording& r) {
  std::vector<std::size_t> out;
  if (r.body.size() < small_body) {
    for (std::size_t at = 0; at <= r.body.size(); ++at)
      out.push_back(at);
    return out;
  }
  std::mt19937_64 random(r.body.size());
  for (int i = 0; i < cuts_of_large_bodies; ++i)
    out.push_back(random() % r.body.size());
  return out;
}

bool same(const model_record& a, const model_record& b) {
  if (a.text != b.text || a.thought != b.thought || a.response.has_value() != b.response.has_value())
    return false;
  if (a.error)
    return b.error && a.error->code == b.error->code && a.error->message == b.error->message;
  return a.response->parts == b.response->parts && a.response->usage == b.response->usage &&
         a.response->finish == b.response->finish;
}

// The first place where cutting changes what is read.
std::optional<std::size_t> bad_cut(const recording& r) {
  const auto whole = decode_pieces(r, {r.body});
  const std::string_view body = r.body;
  for (auto at : cuts_of(r))
    if (!same(decode_pieces(r, {body.substr(0, at), body.substr(at)}), whole))
      return at;
  return std::nullopt;
}

} // namespace

TEST_CASE("recorded answers mean to us what they mean to the services' own clients") {
  temporary_folder folder;
  const auto all = load_recordings();
  if (!all || !has_node(folder.path()))
    return;
  test_server server([&](const seen_request& request) { return replay(*all, request); });
  const auto theirs = ask_clients(folder.path(), server, *all);
  net::io_pool pool;
  auto client = std::make_shared<net::http_client>(pool);
  comparison compared(known_differences().at("answers"));
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& r = (*all)[i];
    REQUIRE(theirs.contains(r.id));
    compared.add(r, difference(ask_ours(server, client, r, i), theirs.at(r.id), r.status));
  }
  MESSAGE("recorded answers: " << compared.summary());
  CHECK(compared.good());
}

TEST_CASE("recorded answers are read the same wherever they are cut") {
  const auto all = load_recordings();
  if (!all)
    return;
  std::vector<std::string> bad(all->size());
  auto check_every = [&](std::size_t first, std::size_t step) {
    for (auto i = first; i < all->size(); i += step)
      if (auto at = bad_cut((*all)[i]))
        bad[i] = (*all)[i].id + " cut at " + std::to_string(*at);
  };
  const std::size_t workers = 2;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < workers; ++i)
    threads.emplace_back(check_every, i, workers);
  threads.clear();
  for (const auto& message : bad)
    CHECK_MESSAGE(message.empty(), message);
}

// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/tools/file_tools.hpp>
#include <troupe/runtime/tools/todo.hpp>

#include <doctest/doctest.h>

#include <thread>

#include <support/temporary_folder.hpp>

using namespace troupe;
using json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct bench {
  explicit bench(const file_limits& limits = {}) : tools(*tools::file_tools(folder.path(), limits)) {
    context.notes = std::make_shared<agent_notes>();
  }
  tool_result call(const std::string& name, const json& arguments) {
    for (const auto& tool : tools)
      if (tool->name == name)
        return tool->run(arguments, context);
    FAIL("no tool ", name);
    return {};
  }
  json data(const std::string& name, const json& arguments) {
    auto result = call(name, arguments);
    if (result.failed)
      FAIL(result.text);
    return json::parse(result.text);
  }

  test::temporary_folder folder;
  std::vector<tool_ptr> tools;
  tool_context context;
};

} // namespace

TEST_CASE("a file is read whole or by lines") {
  bench b;
  b.folder.write("a.txt", "one\ntwo\nthree\n");
  CHECK(b.call("read_file", {{"path", "a.txt"}}).text == "one\ntwo\nthree\n");
  CHECK(b.call("read_file", {{"path", "./x/../a.txt"}, {"offset", 2}, {"limit", 1}}).text == "two\n");
  CHECK(b.call("read_file", {{"path", "a.txt"}, {"offset", 9}}).text == "");
  CHECK(b.call("read_file", {{"path", "none"}}).failed == errc::not_found);
  CHECK(b.call("read_file", {{"path", "."}}).failed == errc::bad_arguments);
  b.folder.write("bin", std::string_view{"a\0b", 3});
  CHECK(b.call("read_file", {{"path", "bin"}}).text == "bin is a binary file of 3 bytes.");
}

TEST_CASE("long files are cut and say so") {
  bench b{{.max_read_bytes = 4, .max_file_bytes = 20}};
  b.folder.write("a", "123456");
  b.folder.write("large", std::string(30, 'x'));
  CHECK(b.call("read_file", {{"path", "a"}}).text == "1234… [cut: 6 bytes, first 4 shown]");
  CHECK(b.call("read_file", {{"path", "large"}}).failed == errc::too_large);
}

TEST_CASE("no path leads out of the workspace") {
  bench b;
  test::temporary_folder other;
  other.write("secret", "s");
  b.folder.write("in/a", "x");
  fs::create_symlink(other.path(), b.folder.path() / "out");
  fs::create_symlink(other.path() / "secret", b.folder.path() / "file_out");
  fs::create_symlink(other.path() / "not_there", b.folder.path() / "dangling");
  fs::create_symlink("loop", b.folder.path() / "loop");
  fs::create_symlink("in", b.folder.path() / "inner");
  auto elsewhere = other.path().string();
  for (std::string path : {"..", "../x", "in/../../x", "/etc/passwd", "out/secret", "out", "file_out",
                           "dangling", "out/new/file", "none/../../x", elsewhere.c_str()}) {
    CAPTURE(path);
    CHECK(b.call("read_file", {{"path", path}}).failed == errc::outside_workspace);
    CHECK(b.call("write_file", {{"path", path}, {"content", "x"}}).failed == errc::outside_workspace);
    CHECK(b.call("edit_file", {{"path", path}, {"old_text", "s"}, {"new_text", "t"}}).failed ==
          errc::outside_workspace);
    CHECK(b.call("list_directory", {{"path", path}}).failed == errc::outside_workspace);
    CHECK(b.call("glob", {{"pattern", "**"}, {"path", path}}).failed == errc::outside_workspace);
    CHECK(b.call("grep_search", {{"pattern", "s"}, {"path", path}}).failed == errc::outside_workspace);
  }
  CHECK(b.call("read_file", {{"path", "loop"}}).failed);
  CHECK(b.call("read_file", {{"path", ""}}).failed == errc::bad_arguments);
  CHECK(b.call("read_file", {{"path", std::string("a\0b", 3)}}).failed == errc::bad_arguments);
  CHECK(b.call("read_file", {{"path", "inner/a"}}).text == "x");
  CHECK(b.call("read_file", {{"path", (b.folder.path() / "in/a").string()}}).text == "x");
  CHECK(other.read("secret") == "s");
  CHECK_FALSE(fs::exists(other.path() / "not_there"));
}

TEST_CASE("writing makes folders, keeps the mode and leaves nothing behind") {
  bench b;
  CHECK(b.call("write_file", {{"path", "x/y/a.sh"}, {"content", "one"}}).text ==
        "Created x/y/a.sh (3 bytes).");
  fs::permissions(b.folder.path() / "x/y/a.sh", fs::perms::owner_all);
  CHECK_FALSE(b.call("write_file", {{"path", "x/y/a.sh"}, {"content", "two"}}).failed);
  CHECK(b.folder.read("x/y/a.sh") == "two");
  CHECK(fs::status(b.folder.path() / "x/y/a.sh").permissions() == fs::perms::owner_all);
  CHECK(std::distance(fs::directory_iterator{b.folder.path() / "x/y"}, fs::directory_iterator{}) == 1);
  CHECK(b.call("write_file", {{"path", "x"}, {"content", "two"}}).failed == errc::bad_arguments);
  CHECK(b.call("write_file", {{"path", "x/y/a.sh/b"}, {"content", "two"}}).failed);
  bench small{{.max_write_bytes = 2}};
  CHECK(small.call("write_file", {{"path", "a"}, {"content", "abc"}}).failed == errc::too_large);
}

TEST_CASE("an edit needs a file that was read and has not changed since") {
  bench b;
  b.folder.write("a", "one two one");
  json edit{{"path", "a"}, {"old_text", "two"}, {"new_text", "2"}};
  auto unread = b.call("edit_file", edit);
  CHECK(unread.failed == errc::file_changed);
  CHECK(unread.text.find("Read a first") != std::string::npos);
  b.call("read_file", {{"path", "a"}});
  CHECK(b.call("edit_file", edit).text == "Edited a (1 place).");
  CHECK(b.folder.read("a") == "one 2 one");
  json ones{{"path", "a"}, {"old_text", "one"}, {"new_text", "1"}};
  CHECK(b.call("edit_file", ones).text.find("occurs 2 times") != std::string::npos);
  ones["replace_all"] = true;
  CHECK(b.call("edit_file", ones).text == "Edited a (2 places).");
  CHECK(b.call("edit_file", edit).failed == errc::not_found);
  b.folder.write("a", "changed two");
  CHECK(b.call("edit_file", edit).failed == errc::file_changed);
  CHECK(b.call("write_file", {{"path", "a"}, {"content", "x"}}).text.find("changed since read") !=
        std::string::npos);
  b.call("read_file", {{"path", "a"}});
  CHECK_FALSE(b.call("write_file", {{"path", "a"}, {"content", "x"}}).failed);
  CHECK(b.call("edit_file", {{"path", "a"}, {"old_text", ""}, {"new_text", "x"}}).failed ==
        errc::bad_arguments);
}

TEST_CASE("of two agents that edit one file, the second is told that it has changed") {
  bench b;
  b.folder.write("a", "text");
  tool_context other = b.context;
  other.notes = std::make_shared<agent_notes>();
  b.call("read_file", {{"path", "a"}});
  std::swap(b.context, other);
  b.call("read_file", {{"path", "a"}});
  CHECK_FALSE(b.call("edit_file", {{"path", "a"}, {"old_text", "text"}, {"new_text", "mine"}}).failed);
  std::swap(b.context, other);
  CHECK(b.call("edit_file", {{"path", "a"}, {"old_text", "text"}, {"new_text", "his"}}).failed ==
        errc::file_changed);
}

TEST_CASE("writers of one file take turns") {
  bench b;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      tool_context context;
      context.notes = std::make_shared<agent_notes>();
      for (int k = 0; k < 25; ++k)
        (void)b.tools[1]->run({{"path", "a"}, {"content", std::string(1000, static_cast<char>('a' + i))}},
                              context);
    });
  for (auto& thread : threads)
    thread.join();
  auto text = b.folder.read("a");
  CHECK(text == std::string(1000, text[0]));
  CHECK(std::distance(fs::directory_iterator{b.folder.path()}, fs::directory_iterator{}) == 1);
}

TEST_CASE("a folder is listed in order, with hidden files and without .git and links") {
  bench b;
  b.folder.write("b.txt", "1\n2\n");
  b.folder.write(".hidden", "x");
  b.folder.write("a/deep", "x");
  b.folder.write(".git/config", "x");
  fs::create_symlink("b.txt", b.folder.path() / "link");
  CHECK(b.data("list_directory", {{"path", "."}})["entries"] == json::parse(R"([
    {"name":".hidden","path":".hidden","type":"file","bytes":1,"lines":0},
    {"name":"a","path":"a","type":"folder"},
    {"name":"b.txt","path":"b.txt","type":"file","bytes":4,"lines":2}])"));
  CHECK(b.data("list_directory", {{"path", "a/"}})["entries"][0]["name"] == "deep");
  CHECK(b.call("list_directory", {{"path", "b.txt"}}).failed == errc::not_found);
}

TEST_CASE("globs find files over folders, with their bytes and lines") {
  bench b;
  b.folder.write("src/a.cpp", "x\n");
  b.folder.write("src/in/b.cpp", "x\ny\n");
  b.folder.write("src/in/c.hpp", "");
  b.folder.write("a.cpp", "");
  auto paths = [&](const char* pattern, const char* path) {
    std::string out;
    auto found = b.data("glob", {{"pattern", pattern}, {"path", path}});
    for (const auto& entry : found["entries"])
      out += entry["path"].get<std::string>() + " ";
    return out;
  };
  CHECK(paths("**", ".") == "a.cpp src/a.cpp src/in/b.cpp src/in/c.hpp ");
  CHECK(paths("**", "src/in") == "src/in/b.cpp src/in/c.hpp ");
  CHECK(paths("*.cpp", ".") == "a.cpp ");
  CHECK(paths("**/*.cpp", ".") == "a.cpp src/a.cpp src/in/b.cpp ");
  CHECK(paths("**/in/?.hpp", ".") == "src/in/c.hpp ");
  CHECK(paths("*.py", ".") == "");
  CHECK(b.data("glob", {{"pattern", "**/b.cpp"}})["entries"][0] ==
        json{{"path", "src/in/b.cpp"}, {"bytes", 4}, {"lines", 2}});
  CHECK(b.call("glob", {{"pattern", ""}}).failed == errc::bad_arguments);
  b.folder.write("long", "");
  CHECK(paths("**a**a**a**a**a**a**a**a**a**b", ".") == "");
}

TEST_CASE("a search counts all matches, shows some and skips binary files") {
  bench b{{.max_matches = 2}};
  b.folder.write("a", "TODO one\nnothing\r\nFIXME two\r\n");
  b.folder.write("in/b.cpp", "todo three TODO\n");
  b.folder.write("bin", std::string_view{"TODO\0", 5});
  auto found = b.data("grep_search", {{"pattern", "TODO|FIXME"}});
  CHECK(found["total"] == 3);
  CHECK(found["files"] == json::parse(R"([{"path":"a","count":2},{"path":"in/b.cpp","count":1}])"));
  CHECK(found["matches"] == json::parse(R"([{"path":"a","line":1,"text":"TODO one"},
                                            {"path":"a","line":3,"text":"FIXME two"}])"));
  CHECK(found["skipped"] == 1);
  CHECK(found["cut"] == true);
  CHECK(b.data("grep_search",
               {{"pattern", "^todo"}, {"case_insensitive", true}, {"include", "*.cpp"}})["total"] == 1);
  CHECK(b.data("grep_search", {{"pattern", "two$"}, {"path", "a"}})["total"] == 1);
  CHECK(b.call("grep_search", {{"pattern", "(?=x)"}}).failed == errc::bad_arguments);
  CHECK(b.call("grep_search", {{"pattern", "x"}, {"path", "none"}}).failed == errc::not_found);
}

TEST_CASE("walks are bounded and can be stopped") {
  bench b{{.max_entries = 3, .max_walked = 5}};
  for (int i = 0; i < 9; ++i)
    b.folder.write("f" + std::to_string(i), "");
  auto listed = b.data("list_directory", {{"path", "."}});
  CHECK(listed["entries"].size() == 3);
  CHECK(listed["cut"] == true);
  std::stop_source stop;
  b.context.stop = stop.get_token();
  stop.request_stop();
  CHECK(b.call("glob", {{"pattern", "**"}}).failed == errc::cancelled);
  CHECK(b.call("grep_search", {{"pattern", "x"}}).failed);
}

TEST_CASE("the tools say what they are") {
  bench b;
  for (const auto& tool : b.tools) {
    bool changes = tool->name == "write_file" || tool->name == "edit_file";
    CHECK(tool->annotations.read_only == !changes);
    CHECK(tool->annotations.destructive == changes);
    CHECK(tool->parameters["type"] == "object");
  }
  CHECK(tools::file_tools("/no/such/folder").failure().code == errc::not_found);
}

TEST_CASE("the todo list is state and a text") {
  auto todo = tools::todo();
  tool_context context;
  auto items = json::parse(R"([{"text":"a","status":"completed"},{"text":"b\nc","status":"in_progress"},
                               {"text":"d","status":"pending"},{"text":"e","status":"cancelled"}])");
  auto result = todo->run({{"items", items}}, context);
  CHECK(result.text == "[x] a\n[>] b c\n[ ] d\n[-] e");
  REQUIRE(result.state.size() == 1);
  CHECK(result.state[0].first == "todo");
  CHECK(result.state[0].second == items);
  items[2]["status"] = "in_progress";
  CHECK(todo->run({{"items", items}}, context).failed == errc::bad_arguments);
  CHECK(tools::render_todo(nullptr).empty());
  CHECK(tools::render_todo(json::parse(R"([1,{"text":"x"}])")) == "[ ] x");
}

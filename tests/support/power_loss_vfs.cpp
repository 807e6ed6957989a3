// SPDX-License-Identifier: Apache-2.0
#include "support/power_loss_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::test {
namespace {

// A file as a program sees it, and which parts of it the disk does not have.
struct image {
  std::string content;
  std::vector<std::pair<std::size_t, std::size_t>> dirty; // offset, size
  bool cut = false;                                       // the file has to be truncated
  bool lost = false;
  int handles = 0;
};

} // namespace

struct power_loss_vfs::state {
  power_loss_options options{};
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<image>> images;
  std::vector<disk_event> events;
  std::mt19937_64 random;
  std::uint64_t operations_left = 0;
  bool power_lost = false;
  int record = -1;

  void add(disk_event e) {
    if (record >= 0) {
      const auto line = (e.what == disk_event::kind::sync ? "sync " : "mark ") + e.name + "\n";
      if (::write(record, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::runtime_error("the record of the disk cannot be written");
    }
    events.push_back(std::move(e));
  }

  void lose() {
    for (auto& [name, file] : images)
      file->lost = true;
    images.clear();
    power_lost = true;
    operations_left = 0;
  }

  // False when this operation, or an earlier one, met the loss of power.
  bool powered(const image& file) {
    if (operations_left > 0 && --operations_left == 0)
      lose();
    return !file.lost;
  }

  bool early() { return options.early_per_mille > 0 && random() % 1000 < options.early_per_mille; }
};

namespace {

using disk = power_loss_vfs::state;

// What SQLite allocates for a file; that of the real file system follows it.
struct shim_file {
  sqlite3_file base;
  disk* owner;
  std::shared_ptr<image>* held; // null for temporary files
  char name[512];

  [[nodiscard]] sqlite3_file* real() noexcept { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

shim_file& shim(sqlite3_file* file) noexcept {
  return *reinterpret_cast<shim_file*>(file);
}

int write_real(sqlite3_file* real, const image& file, std::size_t offset, std::size_t size) {
  if (offset >= file.content.size())
    return SQLITE_OK;
  const auto length = std::min(size, file.content.size() - offset);
  return real->pMethods->xWrite(real, file.content.data() + offset, static_cast<int>(length),
                                static_cast<sqlite3_int64>(offset));
}

// Brings the file up to the image.
int flush(sqlite3_file* real, image& file, std::string* bytes) {
  int code = SQLITE_OK;
  if (file.cut)
    code = real->pMethods->xTruncate(real, static_cast<sqlite3_int64>(file.content.size()));
  for (const auto& [offset, size] : file.dirty) {
    if (code != SQLITE_OK)
      break;
    code = write_real(real, file, offset, size);
    if (bytes != nullptr && offset < file.content.size())
      bytes->append(file.content, offset, size).push_back('\0');
  }
  file.cut = false;
  file.dirty.clear();
  return code;
}

int load(sqlite3_file* real, image& file) {
  sqlite3_int64 size = 0;
  if (int code = real->pMethods->xFileSize(real, &size); code != SQLITE_OK)
    return code;
  file.content.resize(static_cast<std::size_t>(size));
  return size == 0 ? SQLITE_OK : real->pMethods->xRead(real, file.content.data(), static_cast<int>(size), 0);
}

int file_close(sqlite3_file* f) {
  auto& file = shim(f);
  if (file.held != nullptr) {
    std::lock_guard lock{file.owner->mutex};
    --(*file.held)->handles;
    delete file.held;
  }
  return file.real()->pMethods->xClose(file.real());
}

int file_read(sqlite3_file* f, void* data, int amount, sqlite3_int64 offset) {
  auto& file = shim(f);
  if (file.held == nullptr)
    return file.real()->pMethods->xRead(file.real(), data, amount, offset);
  std::lock_guard lock{file.owner->mutex};
  const auto& image = **file.held;
  if (image.lost)
    return SQLITE_IOERR_READ;
  const auto wanted = static_cast<std::size_t>(amount);
  const auto from = std::min(static_cast<std::size_t>(offset), image.content.size());
  const auto length = std::min(wanted, image.content.size() - from);
  std::memcpy(data, image.content.data() + from, length);
  std::memset(static_cast<char*>(data) + length, 0, wanted - length);
  return length == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int file_write(sqlite3_file* f, const void* data, int amount, sqlite3_int64 offset) {
  auto& file = shim(f);
  if (file.held == nullptr)
    return file.real()->pMethods->xWrite(file.real(), data, amount, offset);
  std::lock_guard lock{file.owner->mutex};
  auto& image = **file.held;
  if (!file.owner->powered(image))
    return SQLITE_IOERR_WRITE;
  const auto from = static_cast<std::size_t>(offset);
  const auto length = static_cast<std::size_t>(amount);
  if (image.content.size() < from + length)
    image.content.resize(from + length);
  std::memcpy(image.content.data() + from, data, length);
  image.dirty.emplace_back(from, length);
  return file.owner->early() ? write_real(file.real(), image, from, length) : SQLITE_OK;
}

int file_truncate(sqlite3_file* f, sqlite3_int64 size) {
  auto& file = shim(f);
  if (file.held == nullptr)
    return file.real()->pMethods->xTruncate(file.real(), size);
  std::lock_guard lock{file.owner->mutex};
  auto& image = **file.held;
  if (!file.owner->powered(image))
    return SQLITE_IOERR_TRUNCATE;
  image.content.resize(static_cast<std::size_t>(size));
  image.cut = true;
  return SQLITE_OK;
}

int file_sync(sqlite3_file* f, int flags) {
  auto& file = shim(f);
  if (file.held == nullptr)
    return file.real()->pMethods->xSync(file.real(), flags);
  std::lock_guard lock{file.owner->mutex};
  auto& image = **file.held;
  if (!file.owner->powered(image))
    return SQLITE_IOERR_FSYNC;
  disk_event event{disk_event::kind::sync, file.name, {}};
  // The bytes are in the page cache then, which outlives the process: no need to wait for the disk.
  const int code = flush(file.real(), image, file.owner->options.keep_bytes ? &event.bytes : nullptr);
  if (code == SQLITE_OK)
    file.owner->add(std::move(event));
  return code;
}

int file_size(sqlite3_file* f, sqlite3_int64* size) {
  auto& file = shim(f);
  if (file.held == nullptr)
    return file.real()->pMethods->xFileSize(file.real(), size);
  std::lock_guard lock{file.owner->mutex};
  *size = static_cast<sqlite3_int64>((*file.held)->content.size());
  return (*file.held)->lost ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

int file_lock(sqlite3_file* f, int level) {
  return shim(f).real()->pMethods->xLock(shim(f).real(), level);
}
int file_unlock(sqlite3_file* f, int level) {
  return shim(f).real()->pMethods->xUnlock(shim(f).real(), level);
}
int file_check_lock(sqlite3_file* f, int* held) {
  return shim(f).real()->pMethods->xCheckReservedLock(shim(f).real(), held);
}
int file_control(sqlite3_file* f, int operation, void* argument) {
  // These would make the real file grow.
  if (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE)
    return SQLITE_OK;
  return shim(f).real()->pMethods->xFileControl(shim(f).real(), operation, argument);
}
int file_sector(sqlite3_file* f) {
  return shim(f).real()->pMethods->xSectorSize(shim(f).real());
}
int file_device(sqlite3_file* f) {
  return shim(f).real()->pMethods->xDeviceCharacteristics(shim(f).real());
}
int file_shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** at) {
  return shim(f).real()->pMethods->xShmMap(shim(f).real(), page, size, extend, at);
}
int file_shm_lock(sqlite3_file* f, int offset, int count, int flags) {
  return shim(f).real()->pMethods->xShmLock(shim(f).real(), offset, count, flags);
}
void file_shm_barrier(sqlite3_file* f) {
  shim(f).real()->pMethods->xShmBarrier(shim(f).real());
}
int file_shm_unmap(sqlite3_file* f, int erase) {
  return shim(f).real()->pMethods->xShmUnmap(shim(f).real(), erase);
}

constexpr sqlite3_io_methods methods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_check_lock,  file_control,   file_sector,
    file_device, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, nullptr,
    nullptr};

disk& owner_of(sqlite3_vfs* vfs) noexcept {
  return *static_cast<disk*>(vfs->pAppData);
}

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* f, int flags, int* out_flags) {
  auto& owner = owner_of(vfs);
  auto& file = *::new (static_cast<void*>(f)) shim_file{};
  const int code = owner.real->xOpen(owner.real, name, file.real(), flags, out_flags);
  if (code != SQLITE_OK)
    return code;
  file.base.pMethods = &methods;
  file.owner = &owner;
  constexpr int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
  if (name == nullptr || (flags & kept) == 0)
    return SQLITE_OK;
  const auto short_name = std::filesystem::path{name}.filename().string();
  std::strncpy(file.name, short_name.c_str(), sizeof file.name - 1);
  std::lock_guard lock{owner.mutex};
  auto& slot = owner.images[name];
  if (slot == nullptr)
    slot = std::make_shared<image>();
  // Nobody has it open and nothing is missing on the disk: another program may have changed the file.
  if (slot->handles == 0 && slot->dirty.empty() && !slot->cut)
    if (int loaded = load(file.real(), *slot); loaded != SQLITE_OK)
      return loaded;
  ++slot->handles;
  file.held = new std::shared_ptr<image>{slot};
  return SQLITE_OK;
}

int vfs_delete(sqlite3_vfs* vfs, const char* name, int sync) {
  auto& owner = owner_of(vfs);
  std::lock_guard lock{owner.mutex};
  owner.images.erase(name);
  return owner.real->xDelete(owner.real, name, sync);
}

int vfs_access(sqlite3_vfs* vfs, const char* name, int flags, int* found) {
  auto& owner = owner_of(vfs);
  if (flags == SQLITE_ACCESS_EXISTS) {
    std::lock_guard lock{owner.mutex};
    if (auto at = owner.images.find(name); at != owner.images.end()) {
      *found = at->second->content.empty() ? 0 : 1;
      return SQLITE_OK;
    }
  }
  return owner.real->xAccess(owner.real, name, flags, found);
}

int vfs_full_path(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  return owner_of(vfs).real->xFullPathname(owner_of(vfs).real, name, size, out);
}
int vfs_random(sqlite3_vfs* vfs, int size, char* out) {
  return owner_of(vfs).real->xRandomness(owner_of(vfs).real, size, out);
}
int vfs_sleep(sqlite3_vfs* vfs, int microseconds) {
  return owner_of(vfs).real->xSleep(owner_of(vfs).real, microseconds);
}
int vfs_time(sqlite3_vfs* vfs, double* now) {
  return owner_of(vfs).real->xCurrentTime(owner_of(vfs).real, now);
}
int vfs_error(sqlite3_vfs* vfs, int size, char* out) {
  return owner_of(vfs).real->xGetLastError(owner_of(vfs).real, size, out);
}

// The name without its folder, as events have it, is not enough here: the whole path is the key.
void flush_left_over(disk& owner) {
  for (auto& [name, file] : owner.images) {
    if (file->dirty.empty() && !file->cut)
      continue;
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
      continue;
    bool good = !file->cut || ::ftruncate(descriptor, static_cast<off_t>(file->content.size())) == 0;
    for (const auto& [offset, size] : file->dirty) {
      if (offset >= file->content.size())
        continue;
      const auto length = std::min(size, file->content.size() - offset);
      good = good && ::pwrite(descriptor, file->content.data() + offset, length,
                              static_cast<off_t>(offset)) == static_cast<ssize_t>(length);
    }
    static_cast<void>(good);
    ::close(descriptor);
  }
}

} // namespace

power_loss_vfs::power_loss_vfs(power_loss_options options) : state_(std::make_unique<state>()) {
  auto& s = *state_;
  s.options = std::move(options);
  s.random.seed(s.options.seed);
  s.real = sqlite3_vfs_find("unix");
  if (s.real == nullptr)
    throw std::runtime_error("SQLite has no file system named unix");
  if (!s.options.record.empty())
    s.record = ::open(s.options.record.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  s.vfs = *s.real;
  s.vfs.iVersion = 1;
  s.vfs.szOsFile = static_cast<int>(sizeof(shim_file)) + s.real->szOsFile;
  s.vfs.pNext = nullptr;
  s.vfs.zName = s.options.name.c_str();
  s.vfs.pAppData = &s;
  s.vfs.xOpen = vfs_open;
  s.vfs.xDelete = vfs_delete;
  s.vfs.xAccess = vfs_access;
  s.vfs.xFullPathname = vfs_full_path;
  s.vfs.xRandomness = vfs_random;
  s.vfs.xSleep = vfs_sleep;
  s.vfs.xCurrentTime = vfs_time;
  s.vfs.xGetLastError = vfs_error;
  if (sqlite3_vfs_register(&s.vfs, 0) != SQLITE_OK)
    throw std::runtime_error("the file system cannot be registered");
}

power_loss_vfs::~power_loss_vfs() {
  sqlite3_vfs_unregister(&state_->vfs);
  flush_left_over(*state_);
  if (state_->record >= 0)
    ::close(state_->record);
}

void power_loss_vfs::lose_power() {
  std::lock_guard lock{state_->mutex};
  state_->lose();
}

void power_loss_vfs::lose_power_after(std::uint64_t operations) {
  std::lock_guard lock{state_->mutex};
  state_->operations_left = operations;
}

bool power_loss_vfs::lost() const {
  std::lock_guard lock{state_->mutex};
  return state_->power_lost;
}

void power_loss_vfs::mark(std::string name) {
  std::lock_guard lock{state_->mutex};
  state_->add({disk_event::kind::mark, std::move(name), {}});
}

std::vector<disk_event> power_loss_vfs::events() const {
  std::lock_guard lock{state_->mutex};
  return state_->events;
}

bool power_loss_vfs::synced_before(std::string_view text, std::string_view mark) const {
  std::lock_guard lock{state_->mutex};
  for (const auto& e : state_->events) {
    if (e.what == disk_event::kind::mark && e.name == mark)
      return false;
    if (e.bytes.find(text) != std::string::npos)
      return true;
  }
  return false;
}

} // namespace troupe::test

// Terrace: the arena as a std::pmr::memory_resource of C++17. Containers of std::pmr live in it, whichever threads use them.
//
//     terrace::arena_resource arena;                      // an arena of its own
//     std::pmr::vector<int> list(&arena);
#ifndef TERRACE_ARENA_HPP
#define TERRACE_ARENA_HPP

#include "terrace_arena.h"

#include <cstddef>
#include <memory_resource>
#include <new>
#include <stdexcept>

namespace terrace {

class arena_resource final : public std::pmr::memory_resource {
  public:
    // Throws std::runtime_error with the reason and its remedy.
    explicit arena_resource(const terrace_arena_options &options = {}) {
        char reason[512];
        arena_ = terrace_arena_create(&options, reason, sizeof reason);
        if (arena_ == nullptr) {
            throw std::runtime_error(reason);
        }
    }

    arena_resource(const arena_resource &) = delete;
    arena_resource &operator=(const arena_resource &) = delete;

    ~arena_resource() override { terrace_arena_destroy(arena_); }

    // Takes everything back. No container may be alive that uses it.
    void reset() noexcept { terrace_arena_reset(arena_); }

    terrace_arena *get() const noexcept { return arena_; }

  private:
    void *do_allocate(std::size_t bytes, std::size_t align) override {
        void *place = terrace_arena_alloc_aligned(arena_, bytes, align);
        if (place == nullptr) {
            throw std::bad_alloc();
        }
        return place;
    }

    // Given back if it is the last block of its buffer; otherwise at the reset.
    void do_deallocate(void *place, std::size_t bytes, std::size_t) override {
        terrace_arena_free_last(arena_, place, bytes);
    }

    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override { return this == &other; }

    terrace_arena *arena_;
};

} // namespace terrace

#endif // TERRACE_ARENA_HPP

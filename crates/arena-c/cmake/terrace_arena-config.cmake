# find_package(terrace_arena): terrace::arena is the shared library, terrace::arena_static the static one. Found from where this file is.
get_filename_component(terrace_arena_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET terrace::arena)
  add_library(terrace::arena SHARED IMPORTED)
  set_target_properties(terrace::arena PROPERTIES
    IMPORTED_LOCATION "${terrace_arena_prefix}/lib/libterrace_arena.so.0"
    IMPORTED_SONAME "libterrace_arena.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${terrace_arena_prefix}/include")
  add_library(terrace::arena_static STATIC IMPORTED)
  set_target_properties(terrace::arena_static PROPERTIES
    IMPORTED_LOCATION "${terrace_arena_prefix}/lib/libterrace_arena.a"
    INTERFACE_INCLUDE_DIRECTORIES "${terrace_arena_prefix}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s")
endif()

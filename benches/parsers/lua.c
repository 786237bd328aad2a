// Compiles the Lua chunk on standard input, without running it: persistent and from shared memory under AFL++.
#include <stdio.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"

__AFL_FUZZ_INIT();

int main(void) {
    __AFL_INIT();
    unsigned char *text = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(10000)) {
        int length = __AFL_FUZZ_TESTCASE_LEN;
        lua_State *state = luaL_newstate();
        if (!state) return 1;
        luaL_loadbufferx(state, (const char *)text, (size_t)length, "input", "t");
        lua_close(state);
    }
    return 0;
}

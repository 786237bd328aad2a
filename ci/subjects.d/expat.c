// expat: parses, with handlers for elements, attributes and text.
#include <stdint.h>
#include <stddef.h>

#include "expat.h"

static void start(void *context, const XML_Char *name, const XML_Char **attributes) {
    (void)context, (void)name, (void)attributes;
}

static void end(void *context, const XML_Char *name) { (void)context, (void)name; }

static void text(void *context, const XML_Char *part, int len) { (void)context, (void)part, (void)len; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser) return 0;
    // The same input has the same cost each time.
    XML_SetHashSalt(parser, 1);
    XML_SetElementHandler(parser, start, end);
    XML_SetCharacterDataHandler(parser, text);
    XML_Parse(parser, (const char *)data, (int)size, 1);
    XML_ParserFree(parser);
    return 0;
}

// libyaml: reads all documents.
#include <stdint.h>

#include "yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return 0;
    yaml_parser_set_input_string(&parser, data, size);
    for (int is_last = 0; !is_last;) {
        yaml_document_t document;
        if (!yaml_parser_load(&parser, &document)) break;
        is_last = !yaml_document_get_root_node(&document);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return 0;
}

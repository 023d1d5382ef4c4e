/* grpc.reflection.v1 and v1alpha, which are the same but for their names: answers questions about
   the services from the serialised FileDescriptorSet that the server was given. The set is part of
   the program, so it is walked anew for each question instead of being indexed.
   Sources: descriptor.proto of Protocol Buffers, reflection.proto of gRPC. */
#include "rpc/reflection.h"

#include "base/mem.h"
#include "rpc/session.h"
#include "rpc/stream.h"
#include "rpc/wire.h"

#include <string.h>

/* Field numbers of FileDescriptorSet, FileDescriptorProto and the descriptors inside. */
enum {
    SET_FILE = 1,
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_DEPENDENCY = 3,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    ANY_NAME = 1, /* of messages, fields, enums, values, services and methods */
    MESSAGE_FIELD = 2,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    ENUM_VALUE = 2,
    SERVICE_METHOD = 2,
};

/* Field numbers of ServerReflectionRequest and …Response. */
enum {
    ASK_FILE = 3,
    ASK_SYMBOL = 4,
    ASK_EXTENSION = 5,
    ASK_EXTENSION_NUMBERS = 6,
    ASK_SERVICES = 7,
    ANSWER_HOST = 1,
    ANSWER_REQUEST = 2,
    ANSWER_FILES = 4,
    ANSWER_SERVICES = 6,
    ANSWER_ERROR = 7,
    FILES_FILE = 1,
    SERVICES_SERVICE = 1,
    SERVICE_NAME = 1,
    ERROR_CODE = 1,
    ERROR_MESSAGE = 2,
};

struct slice {
    const char *data;
    size_t len;
};

static struct slice name_of(struct wire_field descriptor)
{
    struct wire_reader name = wire_find(descriptor.data, descriptor.len, ANY_NAME);
    return (struct slice){(const char *)name.at, (size_t)(name.end - name.at)};
}

static bool same(struct slice a, struct slice b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* If symbol is `name` or begins with `name.`, takes that off and returns true. */
static bool take_name(struct slice *symbol, struct slice name)
{
    if (symbol->len < name.len || memcmp(symbol->data, name.data, name.len) != 0)
        return false;
    if (symbol->len > name.len && symbol->data[name.len] != '.')
        return false;
    size_t used = name.len < symbol->len ? name.len + 1 : name.len;
    symbol->data += used;
    symbol->len -= used;
    return true;
}

/* Is the symbol something inside this descriptor? `parts` are the fields that hold named things
   without parts of their own (fields, values, methods). */
static bool has_part(struct wire_field descriptor, struct slice symbol, uint32_t parts)
{
    struct wire_reader reader = wire_reader_of(descriptor.data, descriptor.len);
    struct wire_field field;
    while (wire_next(&reader, &field)) {
        if (field.number == parts && same(name_of(field), symbol))
            return true;
    }
    return false;
}

static bool defines(struct wire_field descriptor, struct slice symbol, uint32_t parts)
{
    return take_name(&symbol, name_of(descriptor)) &&
           (symbol.len == 0 || has_part(descriptor, symbol, parts));
}

static bool message_defines(struct wire_field descriptor, struct slice symbol, unsigned depth)
{
    if (!take_name(&symbol, name_of(descriptor)))
        return false;
    if (symbol.len == 0 || has_part(descriptor, symbol, MESSAGE_FIELD))
        return true;
    struct wire_reader reader = wire_reader_of(descriptor.data, descriptor.len);
    struct wire_field field;
    while (depth > 0 && wire_next(&reader, &field)) {
        if ((field.number == MESSAGE_NESTED && message_defines(field, symbol, depth - 1)) ||
            (field.number == MESSAGE_ENUM && defines(field, symbol, ENUM_VALUE)))
            return true;
    }
    return false;
}

static bool file_defines(struct wire_field file, struct slice symbol)
{
    struct wire_reader package = wire_find(file.data, file.len, FILE_PACKAGE);
    struct slice name = {(const char *)package.at, (size_t)(package.end - package.at)};
    if (name.len > 0 && !take_name(&symbol, name))
        return false;
    struct wire_reader reader = wire_reader_of(file.data, file.len);
    struct wire_field field;
    while (symbol.len > 0 && wire_next(&reader, &field)) {
        if ((field.number == FILE_SERVICE && defines(field, symbol, SERVICE_METHOD)) ||
            (field.number == FILE_MESSAGE && message_defines(field, symbol, 8)) ||
            (field.number == FILE_ENUM && defines(field, symbol, ENUM_VALUE)))
            return true;
    }
    return false;
}

static bool find_file(const struct rpc_hub *hub, struct slice wanted, bool by_symbol,
                      struct wire_field *file)
{
    struct wire_reader reader = wire_reader_of(hub->descriptors, hub->descriptors_len);
    while (wire_next(&reader, file)) {
        if (file->number == SET_FILE &&
            (by_symbol ? file_defines(*file, wanted) : same(name_of(*file), wanted)))
            return true;
    }
    return false;
}

/* The file and, for clients that ask only once, the files that it imports. */
static void add_files(const struct rpc_hub *hub, struct text *files, struct wire_field file,
                      unsigned depth)
{
    wire_add_bytes(files, FILES_FILE, file.data, file.len);
    struct wire_reader reader = wire_reader_of(file.data, file.len);
    struct wire_field field;
    struct wire_field imported;
    while (depth > 0 && wire_next(&reader, &field)) {
        struct slice name = {(const char *)field.data, field.len};
        if (field.number == FILE_DEPENDENCY && find_file(hub, name, false, &imported))
            add_files(hub, files, imported, depth - 1);
    }
}

static void add_error(struct text *answer, enum rpc_code code, const char *message)
{
    struct text error = {0};
    wire_add_varint(&error, ERROR_CODE, (uint64_t)code);
    wire_add_bytes(&error, ERROR_MESSAGE, message, strlen(message));
    wire_add_bytes(answer, ANSWER_ERROR, error.data, error.len);
    answer->failed |= error.failed;
    text_free(&error);
}

static void answer_file(const struct rpc_hub *hub, struct text *answer, struct wire_field question)
{
    struct slice wanted = {(const char *)question.data, question.len};
    struct wire_field file;
    struct text files = {0};
    if (find_file(hub, wanted, question.number == ASK_SYMBOL, &file)) {
        add_files(hub, &files, file, 8);
        wire_add_bytes(answer, ANSWER_FILES, files.data, files.len);
    } else {
        add_error(answer, RPC_NOT_FOUND,
                  question.number == ASK_SYMBOL ? "no such symbol" : "no such file");
    }
    answer->failed |= files.failed;
    text_free(&files);
}

static void add_service(struct text *services, struct slice package, struct slice name)
{
    struct text full = {0};
    struct text service = {0};
    text_add_bytes(&full, package.data, package.len);
    if (package.len > 0)
        text_add_bytes(&full, ".", 1);
    text_add_bytes(&full, name.data, name.len);
    wire_add_bytes(&service, SERVICE_NAME, full.data, full.len);
    wire_add_bytes(services, SERVICES_SERVICE, service.data, service.len);
    services->failed |= full.failed || service.failed;
    text_free(&full);
    text_free(&service);
}

static void answer_services(const struct rpc_hub *hub, struct text *answer)
{
    struct text services = {0};
    struct wire_reader files = wire_reader_of(hub->descriptors, hub->descriptors_len);
    struct wire_field file;
    while (wire_next(&files, &file)) {
        if (file.number != SET_FILE)
            continue;
        struct wire_reader package = wire_find(file.data, file.len, FILE_PACKAGE);
        struct slice package_name = {(const char *)package.at, (size_t)(package.end - package.at)};
        struct wire_reader reader = wire_reader_of(file.data, file.len);
        struct wire_field field;
        while (wire_next(&reader, &field)) {
            if (field.number == FILE_SERVICE)
                add_service(&services, package_name, name_of(field));
        }
    }
    wire_add_bytes(answer, ANSWER_SERVICES, services.data, services.len);
    answer->failed |= services.failed;
    text_free(&services);
}

static void answer_question(const struct rpc_hub *hub, struct text *answer,
                            struct wire_field question)
{
    switch (question.number) {
    case ASK_FILE:
    case ASK_SYMBOL:
        answer_file(hub, answer, question);
        break;
    case ASK_SERVICES:
        answer_services(hub, answer);
        break;
    case ASK_EXTENSION:
    case ASK_EXTENSION_NUMBERS:
        add_error(answer, RPC_NOT_FOUND, "there are no extensions");
        break;
    default:
        add_error(answer, RPC_INVALID_ARGUMENT, "expected a message_request");
    }
}

void reflection_info(struct stream *stream, const uint8_t *message, size_t len)
{
    struct wire_reader reader = wire_reader_of(message, len);
    struct wire_field field;
    struct wire_field question = {0};
    struct wire_field host = {0};
    while (wire_next(&reader, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == ANSWER_HOST)
            host = field;
        else if (field.number >= ASK_FILE && field.number <= ASK_SERVICES)
            question = field; /* of a oneof the last one counts */
    }
    if (reader.malformed) {
        stream_finish(stream, RPC_INVALID_ARGUMENT, "not a ServerReflectionRequest");
        return;
    }
    struct text answer = {0};
    wire_add_bytes(&answer, ANSWER_HOST, host.data, host.len);
    wire_add_bytes(&answer, ANSWER_REQUEST, message, len);
    answer_question(stream->session->hub, &answer, question);
    if (answer.failed) {
        text_free(&answer);
        stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "no memory");
        return;
    }
    stream_send(stream, (uint8_t *)answer.data, answer.len);
}

#include "config.h"

#include "base/check.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "toml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct key_info {
    const char *name;
    enum config_type type;
    const char *fallback;
    uint64_t least, most;
    bool reloads;
    const char *help;
};

static const struct key_info keys[CONFIG_KEY_COUNT] = {
#define X(name, key, type, fallback, least, most, reloads, help)                                   \
    {key, type, fallback, least, most, reloads, help},
    CONFIG_KEY_MAP(X)
#undef X
};

static const char *const source_names[] = {"default", "file", "environment", "flag"};

/* A number followed by one of the units; the product must fit. */
struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"B", 1},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
};
static const struct unit duration_units[] = {
    {"ms", 1},
    {"s", 1000},
    {"m", 60000},
    {"h", 3600000},
};

static bool parse_with_unit(const char *text, const struct unit *units, size_t n, uint64_t *out)
{
    uint64_t value;
    const char *end = number_read(text, &value);
    if (!end)
        return false;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(end, units[i].name) == 0)
            return !__builtin_mul_overflow(value, units[i].factor, out);
    }
    return value == 0 && *end == '\0' && (*out = 0, true);
}

static bool parse_value(const struct key_info *key, const char *text, uint64_t *number,
                        const char **expected)
{
    switch (key->type) {
    case CONFIG_SIZE:
        *expected = key->least == 0 ? "a size with a unit like 64GiB, or auto"
                                    : "a size with a unit like 64GiB";
        if (key->least == 0 && strcmp(text, "auto") == 0)
            return *number = 0, true;
        return parse_with_unit(text, size_units, ARRAY_LEN(size_units), number);
    case CONFIG_DURATION:
        *expected = "a duration with a unit like 500ms, 30s, 5m or 1h";
        return parse_with_unit(text, duration_units, ARRAY_LEN(duration_units), number);
    case CONFIG_COUNT:
        *expected = "a whole number";
        return number_parse(text, 0, UINT64_MAX, number);
    case CONFIG_SWITCH:
        *expected = "true or false";
        *number = strcmp(text, "true") == 0;
        return *number || strcmp(text, "false") == 0;
    default:
        *number = 0;
        return true;
    }
}

bool config_find(const char *name, enum config_key *out)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        *out = (enum config_key)i;
        if (strcmp(keys[i].name, name) == 0)
            return keys[i].type != CONFIG_RETIRED;
    }
    return false;
}

enum cuzk_status config_set(struct config *config, enum config_key key, const char *text,
                            enum config_source source, struct cuzk_error *err)
{
    const struct key_info *info = &keys[key];
    uint64_t number;
    const char *expected = "";
    if (!parse_value(info, text, &number, &expected))
        return error_set(err, CUZK_INVALID_ARGUMENT, "%s = '%s': expected %s", info->name, text,
                         expected);
    bool bounded = info->type == CONFIG_COUNT || info->type == CONFIG_DURATION;
    if (bounded && (number < info->least || number > info->most))
        return error_set(err, CUZK_INVALID_ARGUMENT, "%s = '%s': expected %llu to %llu%s",
                         info->name, text, (unsigned long long)info->least,
                         (unsigned long long)info->most,
                         info->type == CONFIG_DURATION ? " ms" : "");
    char *copy = mem_strdup(text);
    if (!copy)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the configuration");
    mem_free(config->values[key].text);
    config->values[key] = (struct config_value){copy, number, source};
    return CUZK_OK;
}

/* Edit distance of two short names, for suggestions. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1];
    size_t b_len = strlen(b);
    if (b_len > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_len];
}

static const char *closest_key(const char *name)
{
    const char *best = NULL;
    size_t best_distance = 4; /* farther ones are no help */
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        size_t d = distance(name, keys[i].name);
        if (keys[i].type != CONFIG_RETIRED && d < best_distance) {
            best = keys[i].name;
            best_distance = d;
        }
    }
    return best;
}

struct file_context {
    struct config *config;
    const char *path;
    struct cuzk_error *err;
};

static bool take_leaf(void *context, const char *name, const char *value, bool is_text, int line)
{
    struct file_context *file = context;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        if (keys[i].type == CONFIG_RETIRED)
            log_warn("config", "%s:%d: %s has no effect: %s", file->path, line, name, keys[i].help);
        bool text_wanted = keys[i].type == CONFIG_TEXT;
        if (text_wanted && !is_text) {
            error_set(file->err, CUZK_INVALID_ARGUMENT, "%s:%d: %s: expected a text in quotes",
                      file->path, line, name);
            return false;
        }
        if (config_set(file->config, (enum config_key)i, value, CONFIG_FROM_FILE, file->err) ==
            CUZK_OK)
            return true;
        error_prefix(file->err, "%s:%d", file->path, line);
        return false;
    }
    const char *suggestion = closest_key(name);
    if (suggestion)
        error_set(file->err, CUZK_INVALID_ARGUMENT, "%s:%d: unknown key %s; did you mean %s?",
                  file->path, line, name, suggestion);
    else
        error_set(file->err, CUZK_INVALID_ARGUMENT,
                  "%s:%d: unknown key %s ('cuzk config reference' lists all)", file->path, line,
                  name);
    return false;
}

static enum cuzk_status take_environment(struct config *config, struct cuzk_error *err)
{
    const char *cache = getenv("FIL_PROOFS_PARAMETER_CACHE");
    if (cache && *cache)
        TRY(config_set(config, CONFIG_PARAM_CACHE, cache, CONFIG_FROM_ENVIRONMENT, err));
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        char name[96] = "CUZK_";
        size_t len = strlen(name);
        for (const char *c = keys[i].name; *c && len + 1 < sizeof name; c++)
            name[len++] = *c == '.' ? '_' : (char)toupper((unsigned char)*c);
        name[len] = '\0';
        const char *value = getenv(name);
        if (!value || keys[i].type == CONFIG_RETIRED)
            continue;
        if (config_set(config, (enum config_key)i, value, CONFIG_FROM_ENVIRONMENT, err) != CUZK_OK)
            return error_prefix(err, "environment variable %s", name);
    }
    return CUZK_OK;
}

enum cuzk_status config_load(const char *path, struct config *out, struct cuzk_error *err)
{
    *out = (struct config){0};
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < CONFIG_KEY_COUNT && status == CUZK_OK; i++)
        status = config_set(out, (enum config_key)i, keys[i].fallback, CONFIG_FROM_DEFAULT, err);
    struct file_context file = {out, path, err};
    if (status == CUZK_OK && path)
        status = toml_read(path, take_leaf, &file, err);
    if (status == CUZK_OK)
        status = take_environment(out, err);
    if (status != CUZK_OK)
        config_free(out);
    return status;
}

void config_free(struct config *config)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        mem_free(config->values[i].text);
    *config = (struct config){0};
}

static void print_toml_value(FILE *out, enum config_type type, const char *text)
{
    if (type == CONFIG_COUNT || type == CONFIG_SWITCH) {
        fputs(text, out);
        return;
    }
    if (type == CONFIG_LIST)
        fputc('[', out);
    for (const char *start = text; type != CONFIG_LIST || *text;) {
        const char *comma = type == CONFIG_LIST ? strchr(start, ',') : NULL;
        int len = comma ? (int)(comma - start) : (int)strlen(start);
        fprintf(out, "\"%.*s\"", len, start);
        if (!comma)
            break;
        fputs(", ", out);
        start = comma + 1;
    }
    if (type == CONFIG_LIST)
        fputc(']', out);
}

void config_print(const struct config *config, FILE *out)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (keys[i].type == CONFIG_RETIRED)
            continue;
        fprintf(out, "%s = ", keys[i].name);
        print_toml_value(out, keys[i].type, config->values[i].text);
        fprintf(out, "  # %s\n", source_names[config->values[i].source]);
    }
}

void config_print_reference(FILE *out)
{
    static const char *const type_names[] = {"text",          "size", "duration", "whole number",
                                             "true or false", "list", ""};
    fputs("# Configuration of cuzk: every key with its default.\n"
          "# Sizes carry a unit (64GiB, 500MB), durations too (500ms, 30s, 5m, 1h).\n"
          "# Order of precedence: command-line flag, environment variable, this file.\n"
          "# The environment variable of a key like daemon.listen is CUZK_DAEMON_LISTEN.\n",
          out);
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        if (keys[i].type == CONFIG_RETIRED)
            continue;
        fprintf(out, "\n# %s (%s%s", keys[i].help, type_names[keys[i].type],
                keys[i].reloads ? ", reloads on SIGHUP" : "");
        if (keys[i].type == CONFIG_COUNT)
            fprintf(out, ", %llu to %llu", (unsigned long long)keys[i].least,
                    (unsigned long long)keys[i].most);
        fprintf(out, ")\n%s = ", keys[i].name);
        print_toml_value(out, keys[i].type, keys[i].fallback);
        fputc('\n', out);
    }
}

#include "toml.h"

#include <cstdio>
#include <fstream>
#include <string>

#include <toml++/toml.h>

namespace
{

cuzk_status fail(cuzk_error *err, cuzk_status status, const std::string &text)
{
    if (err) {
        err->status = status;
        std::snprintf(err->text, sizeof err->text, "%s", text.c_str());
    }
    return status;
}

bool scalar_text(const toml::node &node, std::string &out)
{
    if (const auto *text = node.as_string())
        out += text->get();
    else if (const auto *number = node.as_integer())
        out += std::to_string(number->get());
    else if (const auto *boolean = node.as_boolean())
        out += boolean->get() ? "true" : "false";
    else
        return false;
    return true;
}

struct reader {
    const char *path;
    toml_leaf_fn *fn;
    void *context;
    cuzk_error *err;

    cuzk_status table(const toml::table &from, const std::string &prefix)
    {
        for (const auto &entry : from) {
            std::string key = prefix + std::string(entry.first.str());
            cuzk_status status = entry.second.is_table()
                                     ? table(*entry.second.as_table(), key + ".")
                                     : leaf(entry.second, key);
            if (status != CUZK_OK)
                return status;
        }
        return CUZK_OK;
    }

    cuzk_status leaf(const toml::node &node, const std::string &key)
    {
        int line = static_cast<int>(node.source().begin.line);
        std::string value;
        bool readable = true;
        if (const auto *array = node.as_array()) {
            for (const auto &element : *array) {
                if (!value.empty())
                    value += ',';
                readable = readable && scalar_text(element, value);
            }
        } else {
            readable = scalar_text(node, value);
        }
        if (!readable)
            return fail(err, CUZK_INVALID_ARGUMENT,
                        std::string(path) + ":" + std::to_string(line) + ": " + key +
                            ": expected a text, a whole number, true or false, or a list of these");
        bool is_text = node.is_string() || node.is_array();
        return fn(context, key.c_str(), value.c_str(), is_text, line) ? CUZK_OK
                                                                      : CUZK_INVALID_ARGUMENT;
    }
};

} // namespace

extern "C" cuzk_status toml_read(const char *path, toml_leaf_fn *fn, void *context, cuzk_error *err)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return fail(err, CUZK_IO, std::string("cannot open the configuration file ") + path);
    toml::table parsed;
    try {
        parsed = toml::parse(file, std::string_view(path));
    } catch (const toml::parse_error &error) {
        return fail(err, CUZK_INVALID_ARGUMENT,
                    std::string(path) + ":" + std::to_string(error.source().begin.line) + ":" +
                        std::to_string(error.source().begin.column) + ": " +
                        std::string(error.description()));
    }
    reader walk{path, fn, context, err};
    return walk.table(parsed, "");
}

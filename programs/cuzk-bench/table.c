#include "bench.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void table_row(struct table *table)
{
    void *cells = table->cells;
    table->column = 0;
    if (!mem_reserve(&cells, &table->capacity, table->rows + 1, sizeof *table->cells)) {
        table->failed = true;
        return;
    }
    table->cells = cells;
    memset(table->cells[table->rows++], 0, sizeof *table->cells);
}

void table_cell(struct table *table, const char *format, ...)
{
    if (table->failed || table->column == TABLE_COLUMNS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(table->cells[table->rows - 1][table->column++], TABLE_CELL_BYTES, format, arguments);
    va_end(arguments);
    if (table->column > table->columns)
        table->columns = table->column;
}

static void add_rule(const struct table *table, struct text *out)
{
    text_add(out, "|");
    for (unsigned c = 0; c < table->columns; c++)
        text_add(out, " ---: |");
    text_add(out, "\n");
}

void table_render(const struct table *table, bool markdown, struct text *out)
{
    int width[TABLE_COLUMNS_MAX] = {0};
    for (size_t r = 0; r < table->rows; r++)
        for (unsigned c = 0; c < table->columns; c++) {
            int len = (int)strlen(table->cells[r][c]);
            width[c] = len > width[c] ? len : width[c];
        }
    for (size_t r = 0; r < table->rows; r++) {
        if (markdown)
            text_add(out, "|");
        for (unsigned c = 0; c < table->columns; c++)
            text_add(out, markdown ? " %*s |" : "  %*s", width[c], table->cells[r][c]);
        text_add(out, "\n");
        if (markdown && r == 0)
            add_rule(table, out);
    }
    out->failed |= table->failed;
}

void table_free(struct table *table)
{
    mem_free(table->cells);
    *table = (struct table){0};
}

/* Style and script of the HTML picture, as lines. Private to lib/waterfall. */
#ifndef WATERFALL_HTML_ASSETS_H
#define WATERFALL_HTML_ASSETS_H

/* Each is terminated by NULL. */
extern const char *const html_style[];
extern const char *const html_script[];

#endif

/* Style and script of the HTML picture, as lines. Internal to lib/timeline. */
#ifndef TIMELINE_HTML_ASSETS_H
#define TIMELINE_HTML_ASSETS_H

/* Each is terminated by NULL. */
extern const char *const html_style[];
extern const char *const html_script[];

#endif

/* Texts of the page of a report: the files of tuner/report/page, as scripts/embed_page.sh puts them into the
 * program. */
#ifndef REPORT_PAGE_TEXT_H
#define REPORT_PAGE_TEXT_H

extern const char page_html[]; /* with @STYLE@, @SCRIPT@, @DATA@ and the hashes of the first two */
extern const char page_css[], page_js[];

#endif

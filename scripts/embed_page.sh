#!/bin/sh
# embed_page.sh FOLDER: C strings of the page of a report (report/page.c): its HTML, its style, and its scripts joined in the
# order of use, as one function, so that their names are no globals of the page.
echo '/* Made by scripts/embed_page.sh. */'
echo '#include "report/page_text.h"'
put() { # NAME: a constant of standard input
  printf 'const char %s[] =\n' "$1"
  sed 's/\\/\\\\/g; s/"/\\"/g; s/?/\\?/g; s/^/"/; s/$/\\n"/' # '??=' would be a trigraph
  echo ';'
}
put page_html <"$1/page.html"
put page_css <"$1/page.css"
{ echo "(() => {"; echo "'use strict';"
  cat "$1/data.js" "$1/table.js" "$1/charts.js" "$1/sections.js" "$1/main.js"
  echo "})();"; } | put page_js

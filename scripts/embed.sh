#!/bin/sh
# embed.sh FILE...: a C table of the files' texts, as kernel/text.c reads it. Names are FOLDER/FILE of
# tuner/kernel/FOLDER/text/FILE. g_ at the beginning of a name becomes '@', as printed texts have it. Comments are for
# readers of those files and are left out, headings (---- between them) are not: kernels are compiled and hashed by the
# thousand.
echo '/* Made by scripts/embed.sh. */'
echo '#include "kernel/text.h"'
echo 'const KernelText kernel_texts[] = {'
for f in "$@"; do
  folder=${f%/text/*}
  printf '{"%s/%s",\n' "${folder##*/}" "${f##*/}"
  awk '{
    line = $0
    if (inside) {
      if (!(at = index(line, "*/"))) next
      line = substr(line, at + 2); inside = 0
      if (line ~ /^ *$/) next
    }
    while ((at = index(line, "/*")) && substr(line, at) !~ /^\/\* ----/) {
      rest = substr(line, at); end = index(rest, "*/")
      line = substr(line, 1, at - 1) (end ? substr(rest, end + 2) : "")
      sub(/ +$/, "", line)
      if (!end) inside = 1
      if (line ~ /^ *$/) next
      if (!end) break
    }
    print line
  }' "$f" | sed 's/\<g_/@/g; s/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/\\n"/'
  echo '},'
done
echo '{0, 0}};'

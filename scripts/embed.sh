#!/bin/sh
# embed.sh FILE...: a C table of the files' texts, as kernel/text.c reads it. Names are FOLDER/FILE of
# tuner/kernel/FOLDER/text/FILE. g_ at the beginning of a name becomes '@', as printed texts have it.
echo '/* Made by scripts/embed.sh. */'
echo '#include "kernel/text.h"'
echo 'const KernelText kernel_texts[] = {'
for f in "$@"; do
  folder=${f%/text/*}
  printf '{"%s/%s",\n' "${folder##*/}" "${f##*/}"
  sed 's/\<g_/@/g; s/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/\\n"/' "$f"
  echo '},'
done
echo '{0, 0}};'

# The page of tuner report in a headless browser: what it shows, sorting, filtering, keyboard, narrow and dark, names from outside,
# no console errors, no requests; a page that reloads itself while a run is at work.
command -v python3 >/dev/null || { echo 'skipped: no python3 here'; exit 0; }
python3 -c "import sys; sys.path.insert(0, '$ROOT/test/browser'); import cdp; sys.exit(cdp.find_browser() is None)" ||
  { echo 'skipped: the page of a report in a browser: no chromium here (apt-get install chromium, or CHROMIUM=path)'; exit 0; }
tune() {
  TUNER_SIM="arch=x86-64-v3;noise=0.01;$2" "$BIN/tuner" "$DATA/run/sim.yaml" "$1" --global-parameters SyncsPerBenchmark=12 >/dev/null 2>&1
}
tune a "gflops=100"; tune b "gflops=80;seed=3"; tune bad "wrong=MT32x32x16"
cat >hostile.csv <<'END'
# device: "><img src=x onerror="window.hacked=1">
group,sizes,gflops,time_us,solution
"</script><script>window.hacked=2</script>","64,64,1,128",50,20,"<b onclick=alert(1)>K</b>_MT1x1x1"
"Cijk_Ailk_Bljk_SB_07","2048,2048,1,2048",90,190000,"${7*7}{{7*7}}_MT2x2x2"
END
"$BIN/tuner" report a hostile.csv bad --before b --html page.html 2>/dev/null
python3 "$ROOT/test/browser/report.py" page.html
cp -r a live; python3 -c "
import sqlite3; d = sqlite3.connect('live/tuning.db'); d.execute(\"update session set state='running', ended=null\"); d.commit()"
python3 "$ROOT/test/browser/live.py" "$BIN/tuner" live
